package critical

import (
	"strconv"

	"assay/analyze/critical/change"
)

// A Pinning is what is known of copies from or to pageable memory: how long they would take with pinned memory.
// The zero value is that of a program without such copies.
type Pinning struct {
	Factor  float64 // of their time, or 0 without such copies
	Rests   string  // what the factor rests on
	Unknown string  // why it is not known, or ""
}

// pinned returns the change to pinned memory, at the speed that copies then have.
func (p *Pinning) pinned() change.Change {
	if p.Factor == 0 || p.Factor == 1 || p.Unknown != "" {
		return ask("pinned", "")
	}
	return ask("pinned", strconv.FormatFloat(p.Factor, 'g', 3, 64))
}

// doubt adds what the speed of pinned copies rests on to the verdict of a forecast that assay proposes, and
// withholds it if that is not known.
func (p *Pinning) doubt(v *Verdict, c change.Change) {
	switch {
	case c.Kind != "pinned":
	case p.Unknown != "":
		v.Add(Abstain, "%s", p.Unknown)
	case p.Rests != "":
		v.Add(Warn, "%s", p.Rests)
	}
}
