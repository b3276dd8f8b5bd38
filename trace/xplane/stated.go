package xplane

import (
	"maps"
	"slices"

	"assay/internal/profile"
)

// otherOps is the name of the operations over the limit of rows.
const otherOps = "(other operations)"

// An opKey distinguishes operations of a TPU: by their name, the operator of the framework and the line of the program.
type opKey struct{ name, framework, source string }

// state adds an operation that covers no other one. XLA states the work of a loop as that of its body, which has
// operations of its own.
func (r *reader) state(e *event) {
	f := &e.facts
	key := opKey{opName(e.name, f.category), f.tf, f.source}
	s := r.stated[key]
	if s == nil && len(r.stated) >= r.mostStated {
		key = opKey{name: otherOps}
		s = r.stated[key]
	}
	if s == nil {
		s = &profile.Stated{Name: key.name}
		for _, l := range []profile.Label{{Key: "operator", Text: key.framework}, {Key: "source", Text: key.source}} {
			if l.Text != "" {
				s.Labels = append(s.Labels, l)
			}
		}
		r.stated[key] = s
	}
	flops := f.flops
	if flops == 0 {
		flops = f.model
	}
	s.Add(1, e.dur, [2]float64{float64(flops), float64(f.bytes)}, [2]bool{flops > 0, f.bytes > 0})
}

// tables returns the operations of TPUs with the work that XLA states of them, or nil if it states none.
func (r *reader) tables(whole bool) *profile.Tables {
	any := false
	for _, s := range r.stated {
		any = any || s.Amount != [2]float64{}
	}
	if !any {
		return nil
	}
	bandwidth := 0.0
	for _, h := range r.meta.Hardware { // the TPUs of a host are alike
		bandwidth = float64(h.Bandwidth) / 1e9
	}
	rows := slices.Collect(maps.Values(r.stated))
	return &profile.Tables{Tool: "xla", Complete: whole, Records: int64(len(rows)),
		List: []*profile.Table{profile.StatedTable("xla_ops", profile.OfOp, profile.Self, rows, bandwidth)}}
}
