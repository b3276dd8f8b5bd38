package trace

import "assay/internal/eventscan"

// Arguments are those of an operator, as the texts that Kineto writes.
type Arguments struct{ Op, Dims, Types, Concrete string }

// Executed has the arguments of the operators of a process, by the number of their record function.
type Executed struct {
	PID      string
	ByRecord map[int64]Arguments
}

// executed returns the arguments of an operator that another file has. Before 2024 its External id was the number of its
// record function.
func (b *Builder) executed(e *Event) (a Arguments, ok bool) {
	if b.sel.Executed == nil || e.Has(eventscan.InputDims) {
		return a, false
	}
	all := b.sel.Executed()
	if all == nil || string(e.Text(eventscan.PID)) != all.PID {
		return a, false
	}
	a, ok = all.ByRecord[e.Int(eventscan.RecordFunction, e.Int(eventscan.ExternalID, 0))]
	return a, ok && a.Op == string(e.Name())
}
