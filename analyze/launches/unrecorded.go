package launches

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/analyze/classify"
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// A Losses has the launches of a trace whose device work was not recorded.
type Losses struct {
	rows  []summary.LaunchLoss
	calls []*trace.Call // without those at the end, by start
	ends  []int64       // when those at the end that launch kernels or graphs began, sorted
	// starts has when all launches of kernels or graphs began, sorted. It is nil if none
	// is at the end.
	starts []int64
	host   hostCalls
}

// hostCalls is what is known of all calls of a trace.
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

// mostlyCaptured is how many launches are captured for each one that ran in a capture that
// only records graphs.
const mostlyCaptured = 10

// OnlyCaptured returns the number of launches that made nodes of graphs, if they are nearly
// all launches: the capture shows how graphs are recorded, and no program that runs.
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

// lossKinds maps the kinds of calls that launch device work to the kinds of
// [summary.LaunchLoss], in the order of its rows.
var lossKinds = []struct{ call, kind string }{
	{"launch", summary.LossKernel}, {"graph-launch", summary.LossGraph}, {"copy", summary.LossCopy}, {"memset", summary.LossMemset},
}

// emptyCall is how long, in ns, a copy or memset takes at least to be enqueued. The
// size of a copy is recorded with its device work, not with its call, and one of 0
// bytes has no device work: libraries make such calls (cuBLAS for an empty
// workspace), and they return in 0.1 to 0.4 µs where real ones take 2 µs and more.
const emptyCall = 500

// lossesOf finds the launches whose device work was not recorded: calls with a
// correlation that no activity has. It needs the calls by correlation, so it runs
// before they are forgotten.
//
// These calls are not counted, because nothing runs on a device for them: calls
// within another call that launches or copies, calls of a process that captures a
// stream into a graph, calls that run a function of the host, and copies and memsets
// that return within emptyCall. Launches of graphs are not counted if no graph of
// the trace has recorded work. A trace in which no call is linked to any work has no
// usable correlations, and no rows.
//
// Calls after the last one whose work was recorded are at the end: a capture may stop
// while work is queued. A call at the end is overdue if the calls go on for longer
// than any work of the capture took from its launch to its end. Then its work ran
// before the capture stopped, and its record was lost.
func lossesOf(t *trace.Trace, l *Links) Losses {
	kinds := newLossKinds(t)
	var linked, missing [4]int64
	var lost []*trace.Call
	last := int64(math.MinInt64) // when the last call began whose work was recorded
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
		} else if t.Window.Starts(c.Start) && !l.calls.within(c) && (c.Dur >= emptyCall || ofKernels(k)) {
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
			out.rows = append(out.rows, summary.LaunchLoss{Kind: lossKinds[k].kind, Calls: linked[k] + missing[k], Missing: missing[k], AtEnd: atEnd[k], Overdue: overdue[k]})
		}
	}
	return out
}

// lossNames has the kind of call of each name that was asked for.
type lossNames struct {
	t    *trace.Trace
	kind []int8 // index in lossKinds plus 1, 0 if not known yet, or one of the next
}

// The kinds of names that launch nothing.
const (
	launchesNothing = -1
	waitsForDevice  = -2
)

func newLossKinds(t *trace.Trace) lossNames { return lossNames{t, make([]int8, t.Names())} }

// of returns the index in lossKinds, -1 of names that launch nothing.
func (n lossNames) of(name trace.Sym) int8 {
	if n.kind[name] == 0 {
		n.kind[name] = lossKind(n.t.Name(name))
	}
	if k := n.kind[name]; k > 0 {
		return k - 1
	}
	return -1
}

// waits reports whether calls of a name return when a device has done all its work.
func (n lossNames) waits(name trace.Sym) bool {
	n.of(name)
	return n.kind[name] == waitsForDevice
}

// lossKind returns the index in lossKinds plus 1, or the kind of a name that launches
// nothing. The nodes of a graph are made by calls that have the names of what they will
// run (cudaGraphAddMemcpyNode).
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

// within reports whether a call shares its correlation with a call around it: the
// driver's call in the runtime's.
func (x *callIndex) within(c *trace.Call) bool {
	r := x.rivals[c.Correlation]
	return r != nil && !slices.ContainsFunc(r.all, func(have rival) bool { return have.Call == c })
}

// withoutNested removes the calls nested in another call that launches or
// copies, and those that contain a call whose work was recorded.
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
		i, _ := slices.BinarySearchFunc(list, c.Start, func(have *trace.Call, start int64) int { return cmp.Compare(have.Start, start) })
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

// WithoutCaptured removes the calls that were made while their process captured a
// stream into a graph: they make nodes and run nothing. Which stream a call is of
// is not recorded, so all calls of the process count as captured. A capture whose
// begin or end was not recorded reaches to the end of the trace on that side.
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

// Uncertain returns how much of a device's window has no compute, though work that
// was launched for that time was not recorded: stretches without compute, if a call
// whose work is missing began between the calls that launched the compute before
// and after them. The device of missing work is not recorded, so it counts for
// every device of the trace.
func (o *Losses) Uncertain(tl *gpu.Timeline, d *gpu.Device, l *Links) (ns int64) {
	if len(o.calls) == 0 || limits.Implausible(d.Window) {
		return 0
	}
	launch := func(w gpu.Work) int64 {
		if i := l.Of[w.Number]; i >= 0 {
			return l.Start(i)
		}
		return w.Start
	}
	see := func(stretch interval.Span, from, to int64) {
		if from > to {
			from, to = to, from
		}
		i, _ := slices.BinarySearchFunc(o.calls, from, func(c *trace.Call, t int64) int { return cmp.Compare(c.Start, t) })
		if !stretch.Empty() && i < len(o.calls) && o.calls[i].Start < to {
			ns += stretch.Len()
		}
	}
	end, before := d.Window.Start, int64(math.MinInt64) // of the compute so far
	for _, w := range d.Work {
		if tl.Layer(tl.Activity(w)) != gpu.ComputeLayer {
			continue
		}
		see(interval.Span{Start: end, End: w.Start}, before, launch(w))
		if w.End() >= end {
			end, before = w.End(), launch(w)
		}
	}
	see(interval.Span{Start: end, End: d.Window.End}, before, math.MaxInt64)
	return ns
}

// sortEnds sorts the launches at the end and, if there are any, finds all launches.
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

// Cut returns how many launches of kernels or graphs at the end of the capture began
// within a stretch, or 0 if they are a small share of its launches.
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

// RowsOf returns the rows of the input.
func (o *Losses) RowsOf(rank int) []summary.LaunchLoss {
	for i := range o.rows {
		o.rows[i].Rank = rank
	}
	return o.rows
}

// lossShare is the share of the launches of one kind from which on missing device
// work is a loss of data. Below it, single records were lost.
const lossShare = 0.05

// Note counts the launches whose work is missing. An input that was not read to its
// end has an issue that says so, which explains them.
func (o *Losses) Note(t *trace.Trace, rank int, issues *diag.Ledger) {
	if len(o.rows) == 0 || !t.Complete {
		return
	}
	severity, total := diag.Info, int64(0)
	var texts []string
	for _, r := range o.rows {
		lost, _ := r.Lost()
		if few := !r.OfKernels() && r.Missing < summary.FewCopies; !few && float64(lost) > lossShare*float64(r.Calls) {
			severity = diag.DataLoss
		}
		total += r.Missing
		texts = append(texts, r.Text())
	}
	if len(o.rows) == 1 && o.rows[0].Kind == summary.LossMemset && total < summary.FewCopies {
		return
	}
	issues.AddN(diag.Issue{Code: "launches-without-kernels", Severity: severity,
		Help: fmt.Sprintf("Rank %d: the GPU work of %s is missing. Totals omit it, and its time counts as idle or other work. Record fewer activities or a shorter range, and let the profiler finish.", rank, strings.Join(texts, ", "))}, total)
}

// CallLost reports whether the call of a kernel was made during the capture and not
// recorded. The kernel has the link i, of an operator or -1; after says that it ran
// after work of the same stream whose call was recorded, and a stream runs work in the
// order of its launches. If the capture has other calls and no launch, all are lost.
func (l *Links) CallLost(i int32, after bool) bool {
	switch {
	case l.Lost().host.all == 0 || l.Called == 0 && l.Lost().host.launches > 0:
		return false // calls were not recorded, or nothing is known of them
	case l.Lost().host.launches == 0:
		return true
	}
	return after || i >= 0
}
