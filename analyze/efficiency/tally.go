package efficiency

import (
	"math"

	"assay/analyze/efficiency/operators"
	"assay/analyze/gpu"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// noOperator is the row of work that no operator launched, or whose launch is unknown.
const noOperator = -1

// A spent is the GPU time of one call of an operator on one GPU. Work without an operator counts as
// one call per launch, or per correlation if the launch was not recorded.
type spent struct {
	start, end int64     // first start and last end of its work so far
	ns         int64     // time during which any of its work ran
	comm       int64     // part of ns: communication kernels
	overlap    int64     // part of ns: other work while communication ran
	grid       int64     // bytes estimated from the grids of its kernels; -1 if not all are known
	known      int32     // index into works; noOperator for none
	row        int32     // noOperator for none
	note       int32     // index of an annotation with lengths plus 1; 0 for none
	kernel     trace.Sym // first kernel with bytes estimated from its grid
	recomputed bool
	graph      bool // it launched a graph
	again      bool // the call counts on another GPU
	opaque     bool // it launched a graph with unknown kernels
	begun      bool // some of its work has been counted
}

// A meter sums the GPU time of calls on one GPU.
type meter struct {
	*Owners
	tl    *gpu.Timeline
	d     *gpu.Device
	spent []spent // by the start of the first work

	byCall  []int32 // index into spent plus 1
	byLink  []int32 // the same for links without a call
	alone   map[trace.ID]int32
	longest []longest // by row
	single  []single  // by row
	graphs  replays
	lengths *lengths
	used    []used // by the start of their calls
}

// A longest is the longest kernel or copy of a row.
type longest struct {
	ns   int64
	name trace.Sym
}

// A single reports whether all calls of a row launch exactly one kernel each, always the same.
type single struct {
	name        trace.Sym
	grid, block [3]int64
	several     bool
}

// add adds a kernel or copy of a call.
func (one *single) add(t *trace.Trace, a *trace.Activity, s *spent) {
	d := t.Detail(a.Detail)
	switch {
	case one.several:
	case s.begun || a.Kind != trace.Kernel || d.Grid[0] <= 0:
		one.several = true
	case one.name == 0:
		one.name, one.grid, one.block = a.Name, d.Grid, d.Block
	case one.name != a.Name || one.grid != d.Grid || one.block != d.Block:
		one.several = true
	}
	s.begun = true
}

// measure sums the GPU time of the calls of a trace on a GPU. seen says, by call, whether it already
// counts on another GPU. sizes are the annotations that state batch sizes, notes those that state
// lengths.
func (o *Owners) measure(tl *gpu.Timeline, d *gpu.Device, seen []bool, sizes map[trace.TrackID][]sized, notes *lengths) *meter {
	m := &meter{Owners: o, tl: tl, d: d, byCall: make([]int32, len(o.calls)), byLink: make([]int32, len(o.links.List)),
		alone: make(map[trace.ID]int32), longest: make([]longest, len(o.rows)), single: make([]single, len(o.rows)), graphs: newReplays(o.t, sizes), lengths: notes}
	comm, work := commOverlap{spans: d.Layers[0].Spans()}, tl.Whole(d)
	m.spent = make([]spent, 0, min(len(work), len(o.calls)))
	for _, w := range work {
		a := tl.Activity(w)
		s := m.owner(w, a, seen)
		from := max(s.end, w.Start)
		m.replayed(w, a, s, max(0, w.End()-from))
		m.use(w, s)
		if s.row != noOperator {
			m.single[s.row].add(o.t, a, s)
		}
		m.estimate(a, s)
		if s.row != noOperator && w.Dur >= m.longest[s.row].ns {
			if l := &m.longest[s.row]; w.Dur > l.ns || l.name == 0 {
				*l = longest{w.Dur, a.Name}
			}
		}
		if w.End() <= from {
			continue
		}
		added := interval.Span{Start: from, End: w.End()}
		s.ns, s.end = summary.Plus(s.ns, added.Len()), w.End()
		if tl.Layer(a) == 0 {
			s.comm = summary.Plus(s.comm, added.Len())
		} else {
			s.overlap = summary.Plus(s.overlap, comm.within(w.Start, added))
		}
	}
	m.finishAll()
	m.sortUses()
	m.placeEstimates()
	for at, i := range m.byCall {
		seen[at] = seen[at] || i > 0
	}
	return m
}

// owner returns the entry of the call that owns some work.
func (m *meter) owner(w gpu.Work, a *trace.Activity, seen []bool) *spent {
	link := m.links.Of[w.Number]
	if m.Owners.stated != nil && link < 0 {
		return m.statedOwner(w, a)
	}
	var at *int32
	switch {
	case link < 0:
		i, ok := m.alone[a.Correlation]
		if !ok {
			i = m.add(w, spent{known: noOperator, row: noOperator})
			m.alone[a.Correlation] = i
		}
		return &m.spent[i-1]
	case m.ofLink[link] == 0:
		if at = &m.byLink[link]; *at == 0 {
			*at = m.add(w, spent{known: noOperator, row: noOperator, graph: m.replays(link), note: m.lengths.at(m.links.Call(link))})
		}
	default:
		c := m.ofLink[link] - 1
		if at = &m.byCall[c]; *at == 0 {
			call := &m.calls[c]
			*at = m.add(w, spent{known: call.known, row: m.works[call.known].row, recomputed: call.recomputed, graph: m.replays(link), again: seen[c], note: m.lengths.at(m.links.Call(link))})
		}
	}
	return &m.spent[*at-1]
}

// add adds a call and returns its index plus 1.
func (m *meter) add(w gpu.Work, s spent) int32 {
	s.start, s.end = w.Start, w.Start
	m.spent = append(m.spent, s)
	return int32(len(m.spent))
}

// A commOverlap finds how long communication ran within spans of time.
type commOverlap struct {
	spans []interval.Span
	next  int // all spans before it have ended
}

// within returns how long communication ran within a span, in ns. No later span starts before now.
func (b *commOverlap) within(now int64, s interval.Span) (ns int64) {
	for b.next < len(b.spans) && b.spans[b.next].End <= now {
		b.next++
	}
	for i := b.next; i < len(b.spans) && b.spans[i].Start < s.End; i++ {
		ns += b.spans[i].And(s).Len()
	}
	return ns
}

// A tally sums calls of one row.
type tally struct {
	count, ns, overlap  int64
	untimed             int64 // number of calls whose work has no duration: they are in no sum
	flops, model, bytes operators.Count
	estimated, touched  bool
	unit                operators.Unit
	dtype               string
}

// add adds a call of a row.
func (t *tally) add(s *spent, w *operators.Work) {
	t.ns, t.overlap = summary.Plus(t.ns, s.ns), summary.Plus(t.overlap, s.overlap)
	if t.unit == operators.UnknownUnit {
		t.unit, t.dtype = w.Unit, w.Type
	}
	if s.again {
		return
	}
	t.count++
	if s.ns == 0 {
		t.untimed++
		return
	}
	model := w.Model
	if s.recomputed && model.Why == operators.Known {
		model.N = 0
	}
	plus(&t.flops, w.FLOPs)
	plus(&t.model, model)
	bytes := w.Bytes
	if s.estimated(w) {
		bytes = operators.Count{N: s.grid}
	}
	plus(&t.bytes, bytes)
	t.estimated = t.estimated || w.BytesEstimated || s.estimated(w)
}

// plus adds a number to a sum. The sum is unknown if a number is, or if it is too large. Its bounds
// are known if those of all numbers are.
func plus(sum *operators.Count, n operators.Count) {
	if total := summary.Plus(sum.N, n.N); sum.Why == operators.Known && n.Why == operators.Known && total < math.MaxInt64 {
		sum.N = total // the usual case
		return
	}
	least, most, limited := sum.Ends()
	least2, most2, limited2 := n.Ends()
	if sum.Why == operators.Known {
		sum.Why = n.Why
	}
	if sum.N = summary.Plus(sum.N, n.N); sum.N == math.MaxInt64 && sum.Why == operators.Known {
		sum.Why = operators.TooLarge
	}
	sum.Min, sum.Max = 0, 0
	if most = summary.Plus(most, most2); limited && limited2 && sum.Why != operators.Known && most < math.MaxInt64 {
		sum.Min, sum.Max = least+least2, most
	}
}

// tallies has the sums of some calls by row, and of work without an operator.
type tallies struct {
	byRow   []tally
	touched []int32 // rows that have calls
	sums    summary.EfficiencySums
}

func newTallies(rows int) *tallies { return &tallies{byRow: make([]tally, rows)} }

// add adds a call.
func (t *tallies) add(s *spent, works []known) {
	t.sums.GPUNS, t.sums.CommNS = summary.Plus(t.sums.GPUNS, s.ns), summary.Plus(t.sums.CommNS, s.comm)
	if s.row == noOperator {
		t.sums.NoOperatorNS = summary.Plus(t.sums.NoOperatorNS, s.ns)
		if s.graph {
			t.sums.GraphNS = summary.Plus(t.sums.GraphNS, s.ns)
		} else {
			t.sums.NoOperatorCommNS = summary.Plus(t.sums.NoOperatorCommNS, s.comm)
		}
		return
	}
	w := &works[s.known].work
	if s.graph && w.FLOPs.Why != operators.Known && w.Bytes.Why != operators.Known {
		t.sums.GraphNS = summary.Plus(t.sums.GraphNS, s.ns)
	}
	row := &t.byRow[s.row]
	if !row.touched {
		row.touched = true
		t.touched = append(t.touched, s.row)
	}
	row.add(s, w)
}

// reset forgets all calls.
func (t *tallies) reset() {
	for _, row := range t.touched {
		t.byRow[row] = tally{}
	}
	t.touched, t.sums = t.touched[:0], summary.EfficiencySums{}
}
