package perfetto

import (
	"cmp"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/lazyregexp"
	"assay/trace"
)

// categories are the kinds of slices by their category, as rocprofv3 names them. Those of PyTorch's profiler are known to
// package trace.
var categories = map[string]trace.Kind{
	"kernel_dispatch": trace.Kernel, "memory_copy": trace.Memcpy, "hip_api": trace.Runtime, "marker_api": trace.Annotation,
	"hsa_api": trace.OtherKind, "rccl_api": trace.OtherKind,
}

// leftOut are categories that repeat other slices or are no time of the program.
var leftOut = map[string]bool{"memory_allocation": true, "scratch_memory": true}

var (
	gpuLane    = lazyregexp.New(`^GPU (\d{1,4})\b`)
	streamLane = lazyregexp.New(`(?i)^stream (\d{1,9})\b|^STREAM \[" ?(\d{1,9}) ?"\]|QUEUE \[(\d{1,9})\]|^COPY to .*THREAD \[(\d{1,9})\]`)
)

// kindOf returns what the slice of a begin is, and false if it is left out.
func (r *reader) kindOf(m *mark, f *kept) (kind trace.Kind, ok bool) {
	category, name := r.texts.all[m.category], r.texts.all[m.name]
	if leftOut[category] {
		return 0, false
	}
	if kind, ok := categories[category]; ok {
		return kind, true
	}
	if kind := trace.KindOf([]byte(category)); kind != trace.OtherKind {
		return kind, true
	}
	t := r.order[m.track]
	if _, process := r.processOf(t); process != "" && gpuLane().MatchString(process) && streamLane().MatchString(t.name) {
		return workKind(name), true
	}
	switch {
	case f.flags&2 != 0, f.flags&1 != 0 && label.IsCall(name):
		return trace.Runtime, true
	case strings.HasPrefix(name, "ProfilerStep"):
		return trace.Annotation, true
	case f.external >= 0 || f.sequence >= 0:
		return trace.CPUOp, true
	}
	return trace.OtherKind, true
}

// workKind returns the kind of work by its name, as PyTorch's profiler writes it.
func workKind(name string) trace.Kind {
	switch {
	case strings.HasPrefix(name, "Memcpy"):
		return trace.Memcpy
	case strings.HasPrefix(name, "Memset"):
		return trace.Memset
	}
	return trace.Kernel
}

// copyQueues is what is added to the numbers of queues of copies, which rocprofv3 numbers by the threads that asked for
// them, so that they are no queues of kernels.
const copyQueues = 1000

// placeOf returns the GPU and the stream of work: its annotations, or the names of its track.
func (r *reader) placeOf(t *track, f *kept, kind trace.Kind, name string) (device, stream int64) {
	device, stream = int64(f.device), int64(f.stream)
	if kind == trace.Memcpy && f.source >= 0 {
		device = int64(f.source)
		if strings.HasSuffix(name, "HtoD") {
			device = int64(f.target)
		}
	}
	if device < 0 {
		device = max(0, cmp.Or(t.device, r.device)-1)
		_, process := r.processOf(t)
		if m := gpuLane().FindStringSubmatch(process); m != nil {
			device, _ = strconv.ParseInt(m[1], 10, 64)
		}
	}
	if stream < 0 {
		stream = int64(t.number)
		if m := streamLane().FindStringSubmatch(t.name); m != nil {
			stream, _ = strconv.ParseInt(m[1]+m[2]+m[3]+m[4], 10, 64)
			if m[4] != "" {
				stream += copyQueues
			}
		}
	}
	return device, stream
}

// tools are the programs that may have written the trace.
type tools struct{ rocm, kineto bool }

func (t *tools) see(category string, f *facts) {
	switch _, known := categories[category]; {
	case known:
		t.rocm = true
	case f.cbid, category == "cpu_op", category == "kernel", category == "cuda_runtime":
		t.kineto = true
	}
}

func (t tools) format() string {
	switch {
	case t.rocm:
		return FormatROCm
	case t.kineto:
		return FormatKineto
	}
	return Format
}
