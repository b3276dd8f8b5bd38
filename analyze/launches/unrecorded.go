package launches

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/analyze/classify"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// Losses are the launches of a trace whose GPU work was not recorded. Those after the last launch
// with recorded work are called launches at the end: see lossesOf.
type Losses struct {
	rows   []summary.LaunchLoss
	calls  []*trace.Call // lost launches, without those at the end, by start
	ends   []int64       // starts of the lost launches of kernels and graphs at the end, sorted
	starts []int64       // starts of all launches of kernels and graphs, sorted; nil if ends is empty
	host   hostCalls
}

// hostCalls has sums over all calls of a trace.
type hostCalls struct {
	span     interval.Span // from the first start to the last end
	all      int64
	launches int64         // of kernels and graphs
	syncs    []*trace.Call // those that return when a device has done all its work
	captured int64         // launches of kernels while a stream was captured into a graph
	ran      int64         // launches of kernels whose work was recorded
	replays  int64         // launches of graphs
}

// kernelLaunches counts the calls that launch kernels.
func kernelLaunches(kinds lossNames, calls []*trace.Call) (n int64) {
	for _, c := range calls {
		if lossKinds[kinds.of(c.Name)].kind == summary.LossKernel {
			n++
		}
	}
	return n
}

// mostlyCaptured is the ratio of captured launches to launches that ran from which a trace shows
// only how graphs are recorded.
const mostlyCaptured = 10

// OnlyCaptured returns the number of launches that were captured into graphs if they are nearly
// all launches, and 0 otherwise. Such a trace shows how graphs are recorded, not a running program.
func (o *Losses) OnlyCaptured() int64 {
	if o.host.replays > 0 || o.host.captured < mostlyCaptured*o.host.ran || o.host.captured < mostlyCaptured {
		return 0
	}
	return o.host.captured
}

// see counts a call; k is its index in lossKinds, or -1.
func (h *hostCalls) see(c *trace.Call, k int8) {
	if h.all == 0 {
		h.span = interval.Span{Start: c.Start, End: c.Start + c.Dur}
	}
	h.all++
	h.span.Start, h.span.End = min(h.span.Start, c.Start), max(h.span.End, c.Start+c.Dur)
	if k >= 0 && ofKernels(k) {
		h.launches++
	}
	if k >= 0 && lossKinds[k].kind == summary.LossGraph {
		h.replays++
	}
}

// ofKernels reports whether calls of a kind of lossKinds launch kernels or graphs.
func ofKernels(k int8) bool {
	return lossKinds[k].kind == summary.LossKernel || lossKinds[k].kind == summary.LossGraph
}

// lossKinds maps the kinds of calls that launch GPU work to the kinds of [summary.LaunchLoss], in
// the order of the rows.
var lossKinds = []struct{ call, kind string }{
	{"launch", summary.LossKernel}, {"graph-launch", summary.LossGraph}, {"copy", summary.LossCopy},
	{"memset", summary.LossMemset},
}

// emptyCall is the shortest time, in ns, of a call that enqueues a copy or memset. Shorter calls
// are copies of 0 bytes, which have no GPU work: libraries make them, such as cuBLAS for an empty
// workspace. The size is recorded only with the GPU work, but they return in 0.1 to 0.4 µs; real
// copies take 2 µs and more.
const emptyCall = 500

// lossesOf finds the launches whose GPU work was not recorded: calls with a correlation that no
// activity has. It must run before the call index is forgotten.
//
// Calls for which nothing runs on a device do not count: calls nested in another call that
// launches or copies, calls of a process that captures a stream into a graph, calls that run a
// host function, and copies and memsets that return within emptyCall. Graph launches do not count
// if no graph of the trace has recorded work. If no call is linked to any work, correlations are
// unusable, and there are no rows.
//
// Calls after the last one with recorded work are at the end: a capture may stop while work is
// queued. A call at the end is overdue if calls go on after it for longer than any work of the
// capture took from launch to end. Then its work ran before the capture stopped, and its record
// was lost.
func lossesOf(t *trace.Trace, l *Links) Losses {
	kinds := newLossKinds(t)
	var linked, missing [4]int64
	var lost []*trace.Call
	last := int64(math.MinInt64) // start of the last call with recorded work
	var host hostCalls
	for ref, c := range t.Calls.Refs() {
		k := kinds.of(c.Name)
		host.see(c, k)
		if k < 0 && kinds.waits(c.Name) {
			host.syncs = append(host.syncs, c)
		}
		if k < 0 || c.Correlation == 0 {
			continue
		}
		if _, ok := l.OfCall(ref); ok {
			linked[k]++
			last = max(last, c.Start)
		} else if t.Window.Starts(c.Start) && !l.calls.within(c) && !l.calls.hasWork(c) && (c.Dur >= emptyCall || ofKernels(k)) {
			lost = append(lost, c)
		}
	}
	if last == math.MinInt64 || len(lost) == 0 {
		return Losses{host: host}
	}
	lost = withoutNested(t, l, kinds, lost)
	all := kernelLaunches(kinds, lost)
	lost = WithoutCaptured(t, lost)
	host.captured = all - kernelLaunches(kinds, lost)
	lost = withoutUnlinked(t, kinds, lost)
	for k := range lossKinds {
		if lossKinds[k].kind == summary.LossKernel {
			host.ran += linked[k]
		}
	}
	var atEnd, overdue [4]int64
	out := Losses{host: host}
	for _, c := range lost {
		k := kinds.of(c.Name)
		if linked[k] == 0 && lossKinds[k].kind == summary.LossGraph {
			continue // the profiler recorded no work of graphs: see summary.Graph.Opaque
		}
		missing[k]++
		if c.Start > last && linked[k] > 0 {
			atEnd[k]++
			if c.Start < host.span.End-l.longest {
				overdue[k]++
			}
			if ofKernels(k) {
				out.ends = append(out.ends, c.Start)
			}
			continue
		}
		out.calls = append(out.calls, c)
	}
	slices.SortFunc(out.calls, func(a, b *trace.Call) int { return cmp.Compare(a.Start, b.Start) })
	out.sortEnds(t, kinds)
	for k := range lossKinds {
		if missing[k] > 0 {
			out.rows = append(out.rows, summary.LaunchLoss{Kind: lossKinds[k].kind, Calls: linked[k] + missing[k],
				Missing: missing[k], AtEnd: atEnd[k], Overdue: overdue[k]})
		}
	}
	return out
}

// lossNames caches the kind of call of each name.
type lossNames struct {
	t    *trace.Trace
	kind []int8 // index in lossKinds plus 1, or 0 until computed, or one of the constants below
}

// Kinds of names that launch nothing.
const (
	launchesNothing = -1
	waitsForDevice  = -2
)

func newLossKinds(t *trace.Trace) lossNames { return lossNames{t, make([]int8, t.Names())} }

// of returns the index of a name's kind in lossKinds, or -1 if such calls launch nothing.
func (n lossNames) of(name trace.Sym) int8 {
	if n.kind[name] == 0 {
		n.kind[name] = lossKind(n.t.Name(name))
	}
	if k := n.kind[name]; k > 0 {
		return k - 1
	}
	return -1
}

// waits reports whether calls of this name wait until a device has done all its work.
func (n lossNames) waits(name trace.Sym) bool {
	n.of(name)
	return n.kind[name] == waitsForDevice
}

// lossKind returns the kind of a name, as in lossNames.kind. Calls that add nodes to a graph
// launch nothing, although their names say what the node does (cudaGraphAddMemcpyNode).
func lossKind(name string) int8 {
	graph := strings.Contains(name, "Graph") && !strings.Contains(name, "GraphLaunch")
	if graph || strings.Contains(name, "HostFunc") {
		return launchesNothing
	}
	for _, what := range []string{"DeviceSynchronize", "CtxSynchronize", "ThreadSynchronize"} {
		if strings.Contains(name, what) {
			return waitsForDevice
		}
	}
	kind := classify.CallKind(name)
	for i := range lossKinds {
		if lossKinds[i].call == kind {
			return int8(i) + 1
		}
	}
	return launchesNothing
}

// within reports whether a call is nested in a call with the same correlation, as the driver's
// call in the runtime's call.
func (x *callIndex) within(c *trace.Call) bool {
	r := x.rivals[c.Correlation]
	return r != nil && !slices.ContainsFunc(r.all, func(have rival) bool { return have.Call == c })
}

// withoutNested removes calls that are nested in another call that launches or copies, and calls
// that contain a call with recorded work.
func withoutNested(t *trace.Trace, l *Links, kinds lossNames, lost []*trace.Call) []*trace.Call {
	byTrack := make(map[trace.TrackID][]*trace.Call)
	for _, c := range lost {
		byTrack[c.Track] = append(byTrack[c.Track], c)
	}
	order := func(a, b *trace.Call) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur)) }
	for _, list := range byTrack {
		slices.SortFunc(list, order)
	}
	drop := make(map[*trace.Call]bool)
	for ref, c := range t.Calls.Refs() {
		list := byTrack[c.Track]
		if len(list) == 0 || kinds.of(c.Name) < 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(list, c.Start,
			func(have *trace.Call, start int64) int { return cmp.Compare(have.Start, start) })
		if _, ok := l.OfCall(ref); ok {
			for j := i - 1; j >= max(0, i-2); j-- {
				if list[j].Start+list[j].Dur >= c.Start+c.Dur {
					drop[list[j]] = true
				}
			}
		}
		for ; i < len(list) && list[i].Start < c.Start+c.Dur; i++ {
			if list[i] != c && list[i].Start+list[i].Dur <= c.Start+c.Dur && list[i].Dur < c.Dur {
				drop[list[i]] = true
			}
		}
	}
	return slices.DeleteFunc(lost, func(c *trace.Call) bool { return drop[c] })
}

// WithoutCaptured removes the calls that were made while their process captured a stream into a
// graph: they add nodes and run nothing. The stream of a call is not recorded, so all calls of the
// process count as captured. A capture without a recorded start or end extends to the start or
// end of the trace. The slice is modified in place.
func WithoutCaptured(t *trace.Trace, lost []*trace.Call) []*trace.Call {
	type edge struct {
		at   int64
		open int
	}
	edges := make(map[string][]edge) // by pid
	for c := range t.Calls.All() {
		name := t.Name(c.Name)
		if !strings.Contains(name, "StreamBeginCapture") && !strings.Contains(name, "StreamEndCapture") {
			continue
		}
		pid := t.Tracks[c.Track].PID
		if strings.Contains(name, "BeginCapture") {
			edges[pid] = append(edges[pid], edge{c.Start, 1})
		} else {
			edges[pid] = append(edges[pid], edge{c.Start + c.Dur, -1})
		}
	}
	if len(edges) == 0 {
		return lost
	}
	captures := make(map[string]interval.Set)
	for pid, list := range edges {
		slices.SortFunc(list, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.open, b.open)) })
		var b interval.Builder
		from, depth := int64(math.MinInt64), 0
		if list[0].open < 0 {
			depth = 1
		}
		for _, e := range list {
			if depth == 0 && e.open > 0 {
				from = e.at
			}
			if depth = max(0, depth+e.open); depth == 0 {
				b.Add(interval.Span{Start: max(from, math.MinInt64/4), End: e.at})
			}
		}
		if depth > 0 {
			b.Add(interval.Span{Start: max(from, math.MinInt64/4), End: math.MaxInt64 / 4})
		}
		captures[pid] = b.Set()
	}
	return slices.DeleteFunc(lost, func(c *trace.Call) bool {
		set := captures[t.Tracks[c.Track].PID]
		return set.Clip(interval.Span{Start: c.Start, End: c.Start + 1}).Len() > 0
	})
}

// sortEnds sorts ends and, if it is not empty, sets starts.
func (o *Losses) sortEnds(t *trace.Trace, kinds lossNames) {
	if len(o.ends) == 0 {
		return
	}
	slices.Sort(o.ends)
	o.starts = make([]int64, 0, o.host.launches)
	for c := range t.Calls.All() {
		if k := kinds.of(c.Name); k >= 0 && ofKernels(k) {
			o.starts = append(o.starts, c.Start)
		}
	}
	slices.Sort(o.starts)
}

// Cut returns the number of lost launches of kernels and graphs at the end of the capture that
// started in s. It is 0 if they are a small share of all launches in s.
func (o *Losses) Cut(s interval.Span) int64 {
	count := func(starts []int64) int64 {
		from, _ := slices.BinarySearch(starts, s.Start)
		to, _ := slices.BinarySearch(starts, s.End)
		return int64(max(0, to-from))
	}
	n := count(o.ends)
	if float64(n) < lossShare*float64(count(o.starts)) {
		return 0
	}
	return n
}

// RowsOf returns the rows of the table of lost launches, for an input with the given rank.
func (o *Losses) RowsOf(rank int) []summary.LaunchLoss {
	for i := range o.rows {
		o.rows[i].Rank = rank
	}
	return o.rows
}

// lossShare is the share of the launches of one kind above which missing GPU work is a loss of
// data. Profilers lose single records in any capture.
const lossShare = 0.05

// Note adds an issue for the launches whose work is missing. An input that was not read to its end
// needs none: another issue says that.
func (o *Losses) Note(t *trace.Trace, rank int, issues *diag.Ledger) {
	if len(o.rows) == 0 || !t.Complete {
		return
	}
	severity, total, some := diag.Info, int64(0), false
	var texts []string
	for _, r := range o.rows {
		lost, _ := r.Lost()
		if few := !r.OfKernels() && r.Missing < summary.FewCopies; !few && float64(lost) > lossShare*float64(r.Calls) {
			severity = diag.DataLoss
		}
		total += r.Missing
		some = some || r.Missing < r.Calls
		texts = append(texts, r.Text())
	}
	if len(o.rows) == 1 && o.rows[0].Kind == summary.LossMemset && total < summary.FewCopies {
		return
	}
	remedy := "The profiler recorded none of this work: update it and the driver."
	if some {
		remedy = "Record fewer activities or a shorter range, and let the profiler finish."
	}
	issues.AddN(diag.Issue{Code: "launches-without-kernels", Severity: severity,
		Help: fmt.Sprintf("Rank %d: the GPU work of %s is missing. Totals omit it, and its time counts as idle or other work. %s",
			rank, strings.Join(texts, ", "), remedy)}, total)
}

// CallLost reports whether the launch call of a kernel without a call was made during the capture
// and lost. i is the kernel's link to an operator, or -1. after says that the kernel ran after
// work of the same stream whose call was recorded: a stream runs work in launch order, so the
// call was made during the capture. If there are calls but no launches, all launches are lost.
func (l *Links) CallLost(i int32, after bool) bool {
	switch {
	case l.Lost().host.all == 0 || l.Called == 0 && l.Lost().host.launches > 0:
		return false // calls were not recorded, or correlations are unusable
	case l.Lost().host.launches == 0:
		return true
	}
	return after || i >= 0
}
