package analyze_test

import (
	"testing"

	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// An opWork is what the row of an operator must have.
type opWork struct{ runs, pieces, self, total int64 }

// linkedWork adds up the work of operators with a look at every operator of the
// thread for every call, and returns all work that is linked.
func linkedWork(tr *trace.Trace) (want map[string]*opWork, linked int64) {
	want = make(map[string]*opWork)
	byTrack := make(map[trace.TrackID][]*trace.Op)
	byExternal := make(map[trace.ID]*trace.Op)
	for o := range tr.Ops.All() {
		if want[tr.Name(o.Name)] == nil {
			want[tr.Name(o.Name)] = new(opWork)
		}
		want[tr.Name(o.Name)].runs++
		byTrack[o.Track] = append(byTrack[o.Track], o)
		if o.External != 0 {
			byExternal[o.External] = o
		}
	}
	calls := make(map[trace.ID][]*trace.Call)
	for c := range tr.Calls.All() {
		if c.Correlation != 0 {
			calls[c.Correlation] = append(calls[c.Correlation], c)
		}
	}
	for a := range tr.Activities.All() {
		at, track := int64(0), trace.TrackID(0)
		if c := launchOf(calls[a.Correlation], a); c != nil {
			at, track = c.Start, c.Track
		} else if o := byExternal[a.External]; a.External != 0 && o != nil {
			at, track = o.Start, o.Track
		} else {
			continue
		}
		linked += a.Dur
		var inner *trace.Op
		names := make(map[trace.Sym]bool)
		for _, o := range byTrack[track] {
			if o.Start > at || at >= o.Start+o.Dur {
				continue
			}
			names[o.Name] = true
			if inner == nil || o.Start > inner.Start || o.Start == inner.Start && o.Dur <= inner.Dur {
				inner = o
			}
		}
		for name := range names {
			want[tr.Name(name)].total += a.Dur
		}
		if inner != nil {
			w := want[tr.Name(inner.Name)]
			w.self, w.pieces = w.self+a.Dur, w.pieces+1
		}
	}
	return want, linked
}

// launchOf returns the one of several calls of one correlation that launched an
// activity: the last that began before it, and of a call of the runtime and that
// of the driver inside it the outer one.
func launchOf(calls []*trace.Call, a *trace.Activity) (best *trace.Call) {
	for _, c := range calls {
		if best == nil || c.Start <= a.Start && (best.Start > a.Start || c.Start > best.Start) {
			if best != nil && best.Track == c.Track && best.Kind == trace.Runtime && c.Start < best.Start+best.Dur {
				continue
			}
			best = c
		}
	}
	return best
}

// checkLinked: the tables of where work came from sum to the work that is
// linked, or to no more than that.
func checkLinked(t *testing.T, x sample) {
	t.Helper()
	want, linked := linkedWork(x.t)
	var ofOps, kernelsOfOps, self, modules, lines int64
	for _, w := range want {
		ofOps += w.self
	}
	for _, k := range x.s.Kernels {
		if k.Op != "" {
			kernelsOfOps += k.TotalNS
		}
	}
	for _, o := range x.s.Ops {
		self += o.GPUSelfNS
		w := want[o.Name]
		if w == nil || o.Count != w.runs || o.Launched != w.pieces || o.GPUSelfNS != w.self || o.GPUTotalNS != w.total {
			t.Errorf("%s: %d runs, %d pieces, self %d, total %d; want %+v", o.Name, o.Count, o.Launched, o.GPUSelfNS, o.GPUTotalNS, w)
		}
	}
	if len(x.s.Ops) != len(want) || self != ofOps || kernelsOfOps > self {
		t.Errorf("%d operators have %d ns, of which %d of kernels; want %d with %d", len(x.s.Ops), self, kernelsOfOps, len(want), ofOps)
	}
	for _, m := range x.s.Modules {
		modules += m.GPUSelfNS
	}
	for _, l := range x.s.Lines {
		lines += l.GPUSelfNS
	}
	if modules > linked || lines > linked {
		t.Errorf("modules have %d ns, lines %d, of %d linked", modules, lines, linked)
	}
}

// checkRows: the rows of kernels and copies sum to the work.
func checkRows(t *testing.T, x sample) {
	t.Helper()
	var kernels, copies, kernelRows, copyRows int64
	for a := range x.t.Activities.All() {
		if a.Kind == trace.Kernel {
			kernels += a.Dur
		} else {
			copies += a.Dur
		}
	}
	for _, k := range x.s.Kernels {
		kernelRows += k.TotalNS
	}
	for _, c := range x.s.Copies {
		copyRows += c.TotalNS
	}
	if kernelRows != kernels || copyRows != copies {
		t.Errorf("rows sum to %d ns of kernels and %d of copies, want %d and %d", kernelRows, copyRows, kernels, copies)
	}
}

// checkSteps: the cells of the steps of a device and those of the time between
// them sum to the cells of the device. Only idle time may lie outside of its
// window.
func checkSteps(t *testing.T, x sample) {
	t.Helper()
	class := make(map[string]summary.Class)
	for _, k := range x.s.Kernels {
		class[k.Name], _ = summary.ClassOf(k.Class)
	}
	for _, d := range x.s.Devices {
		var layers [4]interval.Builder
		for a := range x.t.Activities.All() {
			if x.t.Tracks[a.Track].Device == d.Device {
				i := map[summary.Class]int{summary.ClassComm: 0, summary.ClassCompute: 1}[class[x.t.Name(a.Name)]]
				if a.Kind != trace.Kernel {
					i = map[trace.Kind]int{trace.Memcpy: 2, trace.Memset: 3}[a.Kind]
				}
				layers[i].Add(interval.Span{Start: a.Start, End: a.End()})
			}
		}
		sets := []interval.Set{layers[0].Set(), layers[1].Set(), layers[2].Set(), layers[3].Set()}
		sum, inSteps := summary.Activity{}, int64(0)
		between := func(from, to int64) {
			if from < to {
				var a summary.Activity
				copy(a[:], interval.Partition(interval.Span{Start: from, End: to}, sets...))
				sum = sum.Plus(a)
			}
		}
		end := d.StartNS + d.WindowNS
		last := d.StartNS
		for _, st := range x.s.Steps {
			if st.Device != d.Device {
				continue
			}
			if st.Activity.Window() != st.WallNS || st.StartNS < last && last != d.StartNS {
				t.Errorf("device %d: %s from %d for %d has cells of %d; the one before ends at %d", d.Device, st.Name, st.StartNS, st.WallNS, st.Activity.Window(), last)
			}
			between(last, min(st.StartNS, end))
			sum = sum.Plus(st.Activity)
			inSteps += max(0, d.StartNS-st.StartNS) + max(0, st.StartNS+st.WallNS-end) // outside of the window
			last = max(last, st.StartNS+st.WallNS)
		}
		between(last, end)
		sum[0] -= inSteps
		if sum != d.Activity {
			t.Errorf("device %d: steps and the time between them sum to\n%v, the device has\n%v", d.Device, sum, d.Activity)
		}
	}
}
