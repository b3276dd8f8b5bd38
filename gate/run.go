package gate

import (
	"assay/summary"
	"assay/summary/view"
)

// A Run is one run of a program: what was captured of its ranks.
type Run struct {
	Summary *summary.Summary
}

// Runs returns the runs that summaries hold, as [view.Runs] defines them. Inputs
// that hold only totals (counters, profiles, tables) are left out if there are
// others: no metric is measured on them. The runs take the rows of the summaries, which
// have none afterwards, so that many inputs are in memory once.
func Runs(list []*summary.Summary) []Run { return Grouped(list).Runs }

// A Group is how summaries were sorted into runs.
type Group struct {
	Runs   []Run
	By     view.Evidence   // what separated them
	Copies []summary.Input // left out, because an earlier input has the same content
}

// Grouped returns [Runs], with what separated them and what was left out.
func Grouped(list []*summary.Summary) (out Group) {
	var inputs, totals []*summary.Summary
	var captures, ofTotals []view.Capture
	for _, s := range oneByOne(list) {
		if c := view.Captures(s)[0]; c.Kind == view.OfTotals {
			totals, ofTotals = append(totals, s), append(ofTotals, c)
		} else {
			inputs, captures = append(inputs, s), append(captures, c)
		}
	}
	if len(inputs) == 0 {
		inputs, captures = totals, ofTotals
	}
	g := view.Runs(captures)
	for _, r := range g.Runs {
		var of []*summary.Summary
		for _, i := range r.Inputs {
			of = append(of, inputs[i])
		}
		out.Runs = append(out.Runs, Run{summary.Join(of...)})
	}
	out.By = g.From
	for _, i := range g.Copies {
		out.Copies = append(out.Copies, inputs[i].Inputs...)
	}
	return out
}

// oneByOne returns the summaries of the inputs one by one.
func oneByOne(list []*summary.Summary) []*summary.Summary {
	var out []*summary.Summary
	for _, s := range list {
		if len(s.Inputs) == 1 {
			out = append(out, s)
			continue
		}
		for i := range s.Inputs {
			out = append(out, s.Only(i))
		}
	}
	return out
}
