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

// copyNames are the names of copies as PyTorch's profiler writes them, by what the names of all profilers of ROCm contain.
var copyNames = []struct{ words, name string }{
	{"hosttodevice", "Memcpy HtoD"}, {"devicetohost", "Memcpy DtoH"}, {"devicetodevice", "Memcpy DtoD"}, {"hosttohost", "Memcpy HtoH"},
}

// Copy returns the name of a copy, given the name of its direction: MEMORY_COPY_HOST_TO_DEVICE,
// CopyHostToDevice, HOST_TO_DEVICE. A name in the form of PyTorch's profiler stays.
func Copy(direction string) string {
	if strings.HasPrefix(direction, "Memcpy ") {
		return direction
	}
	plain := strings.ToLower(strings.ReplaceAll(direction, "_", ""))
	for _, it := range copyNames {
		if strings.Contains(plain, it.words) {
			return it.name
		}
	}
	return "Memcpy"
}
