package forecast

import (
	"regexp"
	"strconv"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/graph"
)

// A Copying is what is known of the speed of copies. The zero value is that of a program without any.
type Copying struct {
	// AtPeak has the names of copies that run at over half of the peak of their link, and "" if all together do.
	AtPeak map[string]bool

	// Of copies from or to pageable memory: how long they would take with pinned memory.
	Factor  float64 // of their time, or 0 without such copies
	Rests   string  // what the factor rests on
	Unknown string  // why it is not known, or ""
}

// pinned returns the change to pinned memory, at the speed that copies then have.
func (p *Copying) pinned() change.Change {
	if p.Factor == 0 || p.Factor == 1 || p.Unknown != "" {
		return ask("pinned", "")
	}
	return ask("pinned", strconv.FormatFloat(p.Factor, 'g', 3, 64))
}

// doubt adds what the speed of copies rests on to the verdict of a forecast that assay proposes, and withholds it
// if that is not known, or no link is as fast.
func (p *Copying) doubt(v *critical.Verdict, c change.Change) {
	switch {
	case c.Kind == "scale" && p.atPeak(c.Value):
		v.Add(critical.Abstain, "copies run at over half of the peak of their link, so none can be twice as fast")
	case c.Kind != "pinned":
	case p.Unknown != "":
		v.Add(critical.Abstain, "%s", p.Unknown)
	case p.Rests != "":
		v.Add(critical.Warn, "%s", p.Rests)
	}
}

// atPeak reports whether the value of a change is that of copies at twice their speed which their link does not allow.
func (p *Copying) atPeak(value string) bool {
	for name := range p.AtPeak {
		if value == twiceAsFast(name) || name == "" && value == twiceAs(graph.Copy) {
			return true
		}
	}
	return false
}

// twiceAsFast returns the value of the change that makes one kernel or copy twice as fast, and twiceAs that of a class.
func twiceAsFast(name string) string { return "kernel~^" + regexp.QuoteMeta(name) + "$=0.5" }
func twiceAs(c graph.Class) string   { return "class:" + c.String() + "=0.5" }
