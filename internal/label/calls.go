package label

import "strings"

// callLibraries are the prefixes of functions of runtimes and drivers: of NVIDIA, AMD, Intel (Unified Runtime and
// Level Zero), Moore Threads and Ascend.
var callLibraries = []string{"cuda", "cu", "hip", "ur", "ze", "musa", "acl"}

// IsCall reports whether the name of a row among operators is that of a call of a GPU runtime or driver, such as
// cudaLaunchKernel, hipMemcpyAsync or zeCommandListAppendMemoryCopy.
func IsCall(name string) bool {
	for _, library := range callLibraries {
		rest, ok := strings.CutPrefix(name, library)
		if ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' && !strings.ContainsAny(rest, ":(< ") {
			return true
		}
	}
	return false
}
