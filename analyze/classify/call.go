package classify

import (
	"slices"
	"strings"
)

// callKinds are the kinds of calls of runtimes and drivers, with the words that their names contain: of CUDA, HIP, Level
// Zero and SYCL, OpenCL, and CANN. The first kind with a word of a name is that of the call. A call of the kind
// launch starts exactly one GPU operation. Those of CANN start any number of tasks, so they are of another kind.
var callKinds = []struct {
	kind  string
	words []string
}{
	{"graph-launch", []string{"GraphLaunch"}},
	{"launch", []string{"Launch", "runFunction", "NDRangeKernel"}},
	{"sync", []string{"Synchronize", "QueueFinish", "urEventWait", "clFinish", "clWaitForEvents"}},
	{"copy", []string{"Memcpy", "AppendMemoryCopy", "MemBufferRead", "MemBufferWrite", "EnqueueReadBuffer", "EnqueueWriteBuffer", "EnqueueCopyBuffer"}},
	{"memset", []string{"Memset", "AppendMemoryFill", "USMFill", "MemBufferFill", "EnqueueFillBuffer"}},
	{"alloc", []string{"Malloc", "HostAlloc", "DeviceAlloc", "SharedAlloc", "MemAlloc", "MemCreate", "MemMap", "HostRegister"}},
	{"free", []string{"Free", "MemRelease", "MemUnmap", "HostUnregister"}},
}

// CallKind returns the kind of a call of a runtime or driver by its name.
func CallKind(name string) string {
	for i := range callKinds {
		if slices.ContainsFunc(callKinds[i].words, func(w string) bool { return strings.Contains(name, w) }) {
			return callKinds[i].kind
		}
	}
	return "other"
}
