package classify

import "strings"

// CallKind returns the kind of a runtime or driver call, by its name. The names of CUDA, HIP and others
// contain the same words.
func CallKind(name string) string {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(name, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("GraphLaunch"):
		return "graph-launch"
	case has("Launch", "runFunction"):
		return "launch"
	case has("Synchronize", "QueueFinish"):
		return "sync"
	case has("Memcpy"):
		return "copy"
	case has("Memset"):
		return "memset"
	case has("Malloc", "HostAlloc", "MemAlloc", "MemCreate", "MemMap", "HostRegister"):
		return "alloc"
	case has("Free", "MemRelease", "MemUnmap", "HostUnregister"):
		return "free"
	}
	return "other"
}
