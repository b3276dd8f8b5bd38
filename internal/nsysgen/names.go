package nsysgen

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/tracegen"
)

// versions are what Nsight Systems writes behind the names of the runtime's
// calls: the release of CUDA that the call is of, 7000 for 7.0. Calls of the
// driver have none.
var versions = map[string]string{
	"cudaLaunchKernel":    "7000",
	"cudaLaunchKernelExC": "11060",
	"cudaGraphLaunch":     "10000",
}

// versioned returns the name of a call as exports have it.
func versioned(e tracegen.HostEvent) string {
	if e.Driver {
		return e.Name
	}
	return e.Name + "_v" + cmp.Or(versions[e.Name], "3020")
}

// The kinds of synchronization, by the calls that ask for them.
const contextSync = 4

var syncTypes = map[string]int{
	"cudaEventSynchronize":  1,
	"cudaStreamWaitEvent":   2,
	"cudaStreamSynchronize": 3,
	"cudaDeviceSynchronize": contextSync,
}

// operatorText returns what emit_nvtx pushes for an operator:
// "aten::mm, seq = 5, op_id = 7, sizes = [[1, 2], []]". The parts behind the
// name are there as far as they are known.
func operatorText(e tracegen.HostEvent) string {
	b := []byte(e.Name)
	if e.Sequence != 0 {
		b = strconv.AppendInt(append(b, ", seq = "...), e.Sequence, 10)
	}
	b = strconv.AppendInt(append(b, ", op_id = "...), e.External, 10)
	if e.Dims == nil {
		return string(b)
	}
	b = append(b, ", sizes = ["...)
	for _, dims := range e.Dims {
		b = append(b, '[')
		for i, n := range dims {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = strconv.AppendInt(b, n, 10)
		}
		b = append(b, "], "...)
	}
	return string(append(b, "[]]"...)) // the last input is a number
}

// The kinds of copies and of memory, by the numbers that stand for them.
var (
	copyKinds   = []string{"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"}
	memoryKinds = []string{"Pageable", "Pinned", "Device", "Array", "Managed"}
)

// A copying is what kind of copy from and to what kinds of memory.
type copying struct{ kind, from, to int }

// copyOf takes the name that Kineto gives a copy apart:
// "Memcpy HtoD (Pageable -> Device)". What a story has behind it, to tell copies
// apart, no export can say.
func copyOf(name string) (c copying, err error) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(name, "Memcpy "), " (")
	rest, _, _ = strings.Cut(rest, ")")
	from, to, _ := strings.Cut(rest, " -> ")
	c = copying{slices.Index(copyKinds, kind), slices.Index(memoryKinds, from), slices.Index(memoryKinds, to)}
	if min(c.kind, c.from, c.to) < 0 {
		return c, fmt.Errorf("%q is not the name of a copy such as %q", name, "Memcpy HtoD (Pageable -> Device)")
	}
	return c, nil
}

// shortName returns the name of a kernel without what it returns, the namespaces
// that it is in, and all that is in brackets.
func shortName(name string) string {
	name = strings.ReplaceAll(name, "(anonymous namespace)::", "")
	if i := strings.IndexAny(name, "<("); i > 0 {
		name = name[:i]
	}
	if i := strings.LastIndexAny(name, ": "); i >= 0 {
		name = name[i+1:]
	}
	return name
}

// memoryOf returns the kind of memory that a memset fills, by its name, as
// "Memset (Managed)".
func memoryOf(name string) (int, error) {
	of, ok := strings.CutPrefix(strings.TrimSuffix(name, ")"), "Memset (")
	i := slices.Index(memoryKinds, of)
	if !ok || i < 0 {
		return 0, fmt.Errorf("%q is not the name of a memset such as %q", name, "Memset (Device)")
	}
	return i, nil
}
