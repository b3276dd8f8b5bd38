package efficiency

import (
	"cmp"

	"assay/analyze/efficiency/operators"
	"assay/analyze/gpu"
	"assay/trace"
)

// A statedKey distinguishes works that a compiler states: by the name of the operation and the number of what is stated.
type statedKey struct {
	name trace.Sym
	at   *trace.Stated
}

// takeStated adds the works that the compiler states of the operations of a trace.
func (o *Owners) takeStated() {
	if len(o.t.Stated) == 0 {
		return
	}
	o.stated = make(map[statedKey]int32)
	for a := range o.t.Activities.All() {
		s := o.t.StatedOf(a)
		key := statedKey{a.Name, s}
		if _, ok := o.stated[key]; ok {
			continue
		}
		if s == nil {
			s = &trace.Stated{FLOPs: -1, Model: -1, Bytes: -1}
		}
		w := operators.Work{Unit: operators.Vector, Type: s.Type, FLOPs: statedCount(s.FLOPs), Model: statedCount(s.Model), Bytes: statedCount(s.Bytes)}
		if s.Matrix {
			w.Unit = operators.Matrix
		} else if s.Custom && s.FLOPs < 0 {
			w.Unit = operators.UnknownUnit
		}
		partly := w.FLOPs.Why != operators.Known || w.Bytes.Why != operators.Known
		o.stated[key] = int32(len(o.works))
		o.works = append(o.works, known{work: w, ok: !partly, row: o.row(rowID{name: a.Name, partly: partly, stated: cmp.Or(s.Type, "unknown")})})
	}
}

// statedCount returns a number that the compiler states. A device takes minutes for 2^60 FLOPs and hours for as many bytes,
// so that one operation with more is a fault of the file.
func statedCount(n int64) operators.Count {
	if n < 0 || n > 1<<60 {
		return operators.Count{Why: operators.NotStated}
	}
	return operators.Count{N: n}
}

// statedOwner returns the entry of some work in a trace with works that the compiler states, which has no launches: each
// operation is a call. Collectives move data between devices, so what is stated of them does not count.
func (m *meter) statedOwner(w gpu.Work, a *trace.Activity) *spent {
	s := spent{known: noOperator, row: noOperator}
	if m.tl.Layer(a) != 0 {
		s.known = m.Owners.stated[statedKey{a.Name, m.t.StatedOf(a)}]
		s.row = m.works[s.known].row
	}
	return &m.spent[m.add(w, s)-1]
}
