package nsysgen

import (
	"fmt"
	"io"
	"slices"

	"assay/internal/test/tracegen"
)

// sessionLead is the time in ns between the start of the recording and the
// start of the run. Times of an export are relative to the start of the
// recording.
const sessionLead = 1_000_000_000

// A Recording has the results of recording a run.
type Recording struct {
	Truth tracegen.Truth // of the export, on its own clock
	JSON  tracegen.Truth // of the trace

	// ShiftNS is the difference between the export's times and those of the
	// JSON. It is the same for all events, because only the zero points of the
	// clocks differ.
	ShiftNS int64
}

// Record plays a rank of a scenario and writes it twice: as a trace to w, and
// as an export to a path that does not exist.
//
// Operators are written as the ranges that torch.autograd.profiler.emit_nvtx
// pushes for them, steps and phases as the ranges of a program that marks them.
// Names of kernels are the same as in the trace, although the exporter's own
// demangler writes foo<(int)4> for foo<4>, so that the two records of a run can
// be compared.
func Record(path string, w io.Writer, sc tracegen.Scenario, rank int) (rec Recording, err error) {
	err = write(path, func(db *database) error {
		r := &recorder{database: db}
		if rec.JSON, err = tracegen.Record(w, r, sc, rank); err != nil {
			return err
		}
		rec.ShiftNS = r.shift
		rec.Truth = r.truth(rec.JSON)
		return nil
	})
	return rec, err
}

// RecordStory writes a story as an export to a path that does not exist. It
// returns the difference between the export's times and those of the story.
//
// A graph without node events is in no table of the export, as in some versions
// of Nsight Systems; other versions write one row for it.
func RecordStory(path string, story tracegen.Story) (shiftNS int64, err error) {
	err = write(path, func(db *database) error {
		r := &recorder{database: db}
		defer func() { shiftNS = r.shift }()
		return story.Play(r)
	})
	return shiftNS, err
}

// A recorder writes the events of a run.
type recorder struct {
	*database
	shift   int64
	epoch   int64       // nanoseconds since 1970 at time 0 of the export
	visible map[gpu]int // the process's number for its device: 0 for its first
}

// A gpu is a device as used by a process.
type gpu struct {
	process int64
	ordinal int
}

// truth returns what a reader must find in the export: the same as in the trace
// with shifted times.
func (r *recorder) truth(t tracegen.Truth) tracegen.Truth {
	t.BaseNS, t.Events = r.epoch, r.rows
	t.Devices, t.Steps = slices.Clone(t.Devices), slices.Clone(t.Steps)
	for i := range t.Devices {
		t.Devices[i].StartNS += r.shift
	}
	for i := range t.Steps {
		t.Steps[i].StartNS += r.shift
	}
	return t
}

// Begin writes the small tables.
func (r *recorder) Begin(run tracegen.Run) error {
	if run.Vendor != tracegen.CUDA {
		return fmt.Errorf("scenario %q: Nsight Systems records no hardware but NVIDIA's", run.Name)
	}
	r.shift = sessionLead - run.BeginNS
	r.epoch = run.BaseNS - r.shift
	r.visible = make(map[gpu]int)
	r.row("TARGET_INFO_SESSION_START_TIME", r.epoch, nil, nil, nil)
	for _, p := range run.Processes {
		r.row("PROCESSES", global(p, 0), p, "python")
		if run.Ranks > 1 {
			r.row("MPI_RANKS", global(p, 0), run.Rank)
		}
	}
	own := make(map[int64]int) // devices of each process so far
	for _, d := range run.Devices {
		n := own[d.Process]
		own[d.Process]++
		r.visible[gpu{d.Process, d.Ordinal}] = n
		r.row("TARGET_INFO_GPU", d.Ordinal, d.Name, int64(85_017_755_648))
		r.row("TARGET_INFO_CUDA_DEVICE", d.Ordinal, n, d.Process)
	}
	return r.err
}

// Host writes an event of a thread.
func (r *recorder) Host(e tracegen.HostEvent) error {
	start, thread := e.Start+r.shift, global(e.Process, e.Thread)
	switch e.Kind {
	case tracegen.Range:
		r.pushPop(e.Name, thread, start, e.Dur)
	case tracegen.Operator:
		r.pushPop(operatorText(e), thread, start, e.Dur)
	case tracegen.Overhead:
		const bufferFlush = 3 // overheadType
		r.row("PROFILER_OVERHEAD", start, start+e.Dur, thread, r.string(e.Name), bufferFlush)
	default:
		class := 0
		if e.Driver {
			class = 1
		}
		r.call(versioned(e), class, thread, e.Correlation, start, e.Dur)
		r.sync(e, start)
	}
	return r.err
}

// sync writes the device's record of a waiting call, which is inside the call.
func (r *recorder) sync(e tracegen.HostEvent, start int64) {
	kind, ok := syncTypes[e.Name]
	if !ok {
		return
	}
	const none = int64(1<<32 - 1) // event or stream
	stream := int64(e.Stream)
	if kind == contextSync {
		stream = none
	}
	within := e.Dur / 8
	r.row("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start+within, start+e.Dur-within,
		r.visible[gpu{e.Process, e.Device}], 1, nil, stream, e.Correlation, global(e.Process, 0), nil, kind, none, none)
}

// Device writes an event of a device.
func (r *recorder) Device(e tracegen.DeviceEvent) error {
	start, process, node := e.Start+r.shift, global(e.Process, 0), any(nil)
	device := r.visible[gpu{e.Process, e.Device}]
	if e.Graph != 0 {
		node = int64(e.Graph)<<32 | int64(e.GraphNode)
	}
	switch e.Kind {
	case tracegen.Copy:
		c, err := copyOf(e.Name)
		if err != nil {
			return err
		}
		r.row("CUPTI_ACTIVITY_KIND_MEMCPY", start, start+e.Dur, device, 1, nil, e.Stream, e.Correlation, process,
			e.Bytes, c.kind, nil, c.from, c.to, nil, nil, nil, nil, nil, node, nil, 1)
	case tracegen.Memset:
		kind, err := memoryOf(e.Name)
		if err != nil {
			return err
		}
		r.row("CUPTI_ACTIVITY_KIND_MEMSET", start, start+e.Dur, device, 1, nil, e.Stream, e.Correlation, process,
			0, e.Bytes, node, kind)
	default:
		r.kernel(kernel{start: start, dur: e.Dur, device: device, stream: e.Stream, correlation: e.Correlation,
			process: process, name: e.Name, short: shortName(e.Name), grid: [3]int64{e.Grid, 1, 1}, block: [3]int64{e.Block, 1, 1}, registers: e.Registers,
			shared: e.SharedMemory, node: node})
	}
	return r.err
}
