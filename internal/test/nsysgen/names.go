package nsysgen

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/test/tracegen"
)

// versions has the suffixes that Nsight Systems appends to the names of the
// runtime's calls: the CUDA release that introduced the call, 7000 for 7.0.
// Calls of the driver have none.
var versions = map[string]string{
	"cudaLaunchKernel":    "7000",
	"cudaLaunchKernelExC": "11060",
	"cudaGraphLaunch":     "10000",
}

// versioned returns the name of a call as written in exports.
func versioned(e tracegen.HostEvent) string {
	if e.Driver {
		return e.Name
	}
	return e.Name + "_v" + cmp.Or(versions[e.Name], "3020")
}

// The kinds of synchronization of the calls that request them.
const contextSync = 4

var syncTypes = map[string]int{
	"cudaEventSynchronize":  1,
	"cudaStreamWaitEvent":   2,
	"cudaStreamSynchronize": 3,
	"cudaDeviceSynchronize": contextSync,
}

// operatorText returns the text that emit_nvtx pushes for an operator:
// "aten::mm, seq = 5, op_id = 7, sizes = [[1, 2], []]". The parts after the
// name are present if they are known.
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

// The kinds of copies and of memory, by their numbers.
var (
	copyKinds   = []string{"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"}
	memoryKinds = []string{"Pageable", "Pinned", "Device", "Array", "Managed"}
)

// A copying has the kind of a copy and the kinds of memory that it reads and
// writes.
type copying struct{ kind, from, to int }

// copyOf parses the name that Kineto gives a copy: "Memcpy HtoD (Pageable ->
// Device)". An export cannot represent the suffix with which a story
// distinguishes copies.
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

// shortName returns the name of a kernel without its return type, its
// namespaces and all text in brackets.
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

// memoryOf returns the kind of memory that a memset fills, from its name, such
// as "Memset (Managed)".
func memoryOf(name string) (int, error) {
	of, ok := strings.CutPrefix(strings.TrimSuffix(name, ")"), "Memset (")
	i := slices.Index(memoryKinds, of)
	if !ok || i < 0 {
		return 0, fmt.Errorf("%q is not the name of a memset such as %q", name, "Memset (Device)")
	}
	return i, nil
}
