package efficiency

import (
	"cmp"
	"slices"
	"sort"

	"assay/analyze/classify"
	"assay/analyze/efficiency/operators"
	"assay/analyze/gpu"
	"assay/analyze/phase"
	"assay/summary"
	"assay/trace"
)

// lengths has the annotations that state the lengths of the requests of a step.
type lengths struct {
	list    []phase.Lengths
	byTrack map[trace.TrackID][]noted // by start
}

// A noted is an annotation with lengths.
type noted struct {
	start, end int64
	note       int32 // its index plus 1
}

// lengthsOf returns the annotations of a trace with lengths.
func lengthsOf(t *trace.Trace) *lengths {
	out := &lengths{byTrack: map[trace.TrackID][]noted{}}
	at := map[trace.Sym]int32{} // 0: it has none
	for s := range t.Spans.All() {
		note, seen := at[s.Name]
		if !seen {
			if l, ok := phase.Default().Lengths(t.Name(s.Name)); ok {
				out.list = append(out.list, l)
				note = int32(len(out.list))
			}
			at[s.Name] = note
		}
		if note > 0 {
			out.byTrack[s.Track] = append(out.byTrack[s.Track], noted{s.Start, s.Start + s.Dur, note})
		}
	}
	for _, list := range out.byTrack {
		slices.SortFunc(list, func(a, b noted) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	}
	return out
}

// at returns the innermost annotation around a call, or 0.
func (l *lengths) at(c *trace.Call) int32 {
	if c == nil {
		return 0
	}
	list := l.byTrack[c.Track]
	next, _ := slices.BinarySearchFunc(list, c.Start+1, func(n noted, ns int64) int { return cmp.Compare(n.start, ns) })
	for i := next - 1; i >= max(0, next-around); i-- {
		if list[i].end > c.Start {
			return list[i].note
		}
	}
	return 0
}

// A use is a call that reads or writes the cache of keys and values.
type use struct {
	op    *trace.Op
	cache operators.Cache
}

type cacheKey struct {
	name  trace.Sym
	shape trace.ShapeID
}

// usesOf returns, of the open operators, the outermost one that reads the cache and the outermost
// one that writes it.
func (o *Owners) usesOf(ops []*trace.Op) (out []use) {
	for _, op := range ops {
		n := o.named(op.Name)
		if n.model == nil || !n.model.UsesCache() {
			continue
		}
		key := cacheKey{op.Name, op.Shape}
		cache, ok := o.caches[key]
		if !ok {
			s := o.t.Shape(op.Shape)
			c := operators.ParseCall(o.t.Name(op.Name), o.t.Name(s.Dims), o.t.Name(s.Types), o.t.Name(s.Strides), o.t.Name(s.Concrete))
			cache = n.model.Cache(&c)
			o.caches[key] = cache
		}
		if !slices.ContainsFunc(out, func(u use) bool { return u.cache.Use == cache.Use }) {
			out = append(out, use{op, cache})
		}
	}
	return out
}

// withoutWork returns the work of an operator for which it is unknown. Attention certainly has no
// weights.
func (o *Owners) withoutWork(op *trace.Op, none operators.Count) operators.Work {
	w := operators.Work{FLOPs: none, Model: none, Bytes: none, Weights: none}
	if m := o.named(op.Name).model; m != nil && m.ReadsCache() {
		w.Weights = operators.Count{}
	}
	return w
}

// parts sums the bytes that operators of a decode step move.
type parts struct {
	summary.DecodeParts
	o    *Owners
	seen map[*trace.Op]bool
}

func newParts(o *Owners) parts { return parts{o: o, seen: map[*trace.Op]bool{}} }

// uses adds calls that use the cache, each once.
func (p *parts) uses(list []use) {
	for _, u := range list {
		if p.seen[u.op] {
			continue
		}
		p.seen[u.op] = true
		calls := &p.Reads
		if u.cache.Use == operators.WritesCache {
			calls = &p.Writes
		}
		calls.Calls++
		if u.cache.PerToken.Why != operators.Known {
			calls.Unknown++
			continue
		}
		calls.PerToken = summary.Plus(calls.PerToken, u.cache.PerToken.N)
	}
}

// add adds the weights of a call. It reports whether the call may have unknown weights although
// neither its model nor its kernel is one of matrix products.
func (p *parts) add(op *trace.Op, w *operators.Work, kernel string) (hides bool) {
	if w.Weights.Why == operators.Known {
		p.Weights = summary.Plus(p.Weights, w.Weights.N)
		return false
	}
	m := p.o.named(op.Name).model
	if m != nil && m.Unit == operators.Matrix || w.Weights.Why == operators.Routing || hasWeights(kernel) {
		p.Because(w.Weights.Why.String())
		return false
	}
	return true
}

// hasWeights reports whether a kernel is of a kind that reads weights.
func hasWeights(kernel string) bool {
	return slices.Contains([]string{"gemm", "moe", "convolution"}, classify.Default().Kernel(kernel).Category)
}

// A used is a use of the cache on a GPU.
type used struct {
	start int64 // start of the call that owns the work
	use   use
}

// use records the calls around some work that use the cache. Work of graph replays has none.
func (m *meter) use(w gpu.Work, s *spent) {
	if link := m.links.Of[w.Number]; link >= 0 && !s.again {
		for _, u := range m.uses[link] {
			m.used = append(m.used, used{s.start, u})
		}
	}
}

func (m *meter) sortUses() {
	slices.SortStableFunc(m.used, func(a, b used) int { return cmp.Compare(a.start, b.start) })
}

// decode returns the decode steps of the GPU, without the work of graphs in them, which
// graphjoin.Replays adds.
func (r rates) decode(all []summary.Step) (out []summary.EfficiencyDecode) {
	for i := range all {
		s := &all[i]
		if s.Device != r.d.Ordinal || s.Source == summary.SourceLog || s.Kind != decodePhase {
			continue
		}
		if row := r.decodeOf(s); row.GPUNS > 0 {
			out = append(out, row)
		}
	}
	return out
}

// decodePhase is the phase of steps that generate tokens without prefill.
const decodePhase = "decode"

// decodeOf returns one decode step.
func (r rates) decodeOf(s *summary.Step) summary.EfficiencyDecode {
	p, note, same := newParts(r.Owners), int32(0), true
	row := summary.EfficiencyDecode{Rank: s.Rank, Device: s.Device, Name: s.Name, Number: s.Number, StartNS: s.StartNS, WallNS: s.WallNS, Batch: s.Batch}
	end := summary.Plus(s.StartNS, s.WallNS)
	for at := sort.Search(len(r.spent), func(i int) bool { return r.spent[i].start >= s.StartNS }); at < len(r.spent) && r.spent[at].start < end; at++ {
		call := &r.spent[at]
		row.GPUNS = summary.Plus(row.GPUNS, call.ns)
		if call.note > 0 {
			same = same && (note == 0 || note == call.note)
			note = call.note
		}
		r.part(&p, call)
	}
	first := sort.Search(len(r.used), func(i int) bool { return r.used[i].start >= s.StartNS })
	for _, u := range r.used[first:] {
		if u.start >= end {
			break
		}
		p.uses([]use{u.use})
	}
	if note > 0 && same {
		l := r.lengths.list[note-1]
		row.Batch, row.Tokens, row.Keys = l.Requests, l.Tokens, l.Keys
	}
	row.Parts = &p.DecodeParts
	return row
}

// part adds the weights of a call to those of a step.
func (r rates) part(p *parts, call *spent) {
	switch {
	case call.opaque:
		p.Opaque = true
	case call.graph && (call.row == noOperator || unknownWork(&r.works[call.known])) || call.again:
	case call.row == noOperator:
		p.HiddenNS = summary.Plus(p.HiddenNS, call.ns-call.comm)
	default:
		// All calls of one row have the same operator.
		if p.add(r.opOf(call), &r.works[call.known].work, r.t.Name(r.longest[call.row].name)) {
			p.HiddenNS = summary.Plus(p.HiddenNS, call.ns-call.comm)
		}
	}
}

// opOf returns an operator with the name of the row of a call.
func (r rates) opOf(call *spent) *trace.Op {
	return &trace.Op{Name: r.Owners.rows[call.row].name}
}
