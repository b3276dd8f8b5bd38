package analyze_test

import (
	"strings"
	"testing"

	"assay/ingest"
	"assay/internal/interval"
	"assay/internal/test/captures"
	"assay/trace"
)

// load reads a trace as measure does.
func load(t *testing.T, path string) *ingest.Input {
	t.Helper()
	return captures.Load(t, path)
}

// A launcher is one run of an operator that launched device work as the
// innermost one, or a call that did outside of all operators. It is found by a
// look at every operator for every piece of work.
type launcher struct {
	name   string
	op     *trace.Op   // or nil
	call   *trace.Call // if op is nil
	direct []*trace.Activity
	inside []*trace.Activity // with what was launched inside it
}

// launchers returns the launchers of the work that is wanted.
func launchers(tr *trace.Trace, wanted func(*trace.Activity) bool) (out []*launcher) {
	calls := callsOf(tr)
	index := make(map[any]*launcher)
	for a := range tr.Activities.All() {
		c := calls[a.Correlation]
		if c == nil || !wanted(a) {
			continue
		}
		l := &launcher{name: tr.Name(c.Name), call: c}
		var key any = c
		if op := innermostOp(tr, c); op != nil {
			l, key = &launcher{name: tr.Name(op.Name), op: op}, op
		}
		if index[key] == nil {
			index[key] = l
			out = append(out, l)
		}
		index[key].direct = append(index[key].direct, a)
	}
	for a := range tr.Activities.All() {
		c := calls[a.Correlation]
		if c == nil || !wanted(a) {
			continue
		}
		for _, l := range out {
			if l.op == nil && l.call == c || l.op != nil && covers(l.op, c) {
				l.inside = append(l.inside, a)
			}
		}
	}
	return out
}

// callsOf returns the call of each correlation.
func callsOf(tr *trace.Trace) map[trace.ID]*trace.Call {
	out := make(map[trace.ID]*trace.Call)
	for c := range tr.Calls.All() {
		if c.Correlation != 0 {
			out[c.Correlation] = c
		}
	}
	return out
}

// covers reports whether a call began within a run of an operator.
func covers(o *trace.Op, c *trace.Call) bool {
	return o.Track == c.Track && o.Start <= c.Start && c.Start < o.Start+o.Dur
}

// innermostOp returns the operator around a call that began last, and of
// several that did the shortest.
func innermostOp(tr *trace.Trace, c *trace.Call) (best *trace.Op) {
	for o := range tr.Ops.All() {
		if covers(o, c) && (best == nil || o.Start > best.Start || o.Start == best.Start && o.Dur <= best.Dur) {
			best = o
		}
	}
	return best
}

// wall returns how long any of the activities ran.
func wall(list []*trace.Activity) int64 {
	var b interval.Builder
	for _, a := range list {
		b.Add(interval.Span{Start: a.Start, End: a.End()})
	}
	return b.Set().Len()
}

// isROCm reports whether the calls of a trace are those of AMD's runtime.
func isROCm(tr *trace.Trace) bool {
	for c := range tr.Calls.All() {
		if strings.HasPrefix(tr.Name(c.Name), "hip") {
			return true
		}
	}
	return false
}
