package gate

import (
	"assay/summary"
	"assay/summary/view"
)

// A Run is one run of a program, with the captures of its ranks.
type Run struct {
	Summary *summary.Summary

	cut error // the summary is rolled up, and the sums of its rows are missing
}

// Runs sorts summaries into runs, as [view.Runs] defines them. It leaves out inputs that have only
// totals (counters, profiles, tables) if there are others, because gates have no metrics for them.
// It moves the rows out of the summaries, so that memory has only one copy of them. A summary that
// is rolled up has sums over its ranks instead of rows.
func Runs(list []*summary.Summary) []Run { return Grouped(list).Runs }

// A Group is the result of sorting summaries into runs.
type Group struct {
	Runs   []Run
	By     view.Evidence   // what distinguished the runs
	Copies []summary.Input // left out, because an earlier input has the same content
}

// Grouped returns [Runs], with what distinguished them and which inputs were left out.
func Grouped(list []*summary.Summary) (out Group) {
	var inputs, totals []input
	var captures, ofTotals []view.Capture
	for _, s := range list {
		for i, c := range view.Captures(s) {
			if c.Kind == view.OfTotals {
				totals, ofTotals = append(totals, input{s, i}), append(ofTotals, c)
			} else {
				inputs, captures = append(inputs, input{s, i}), append(captures, c)
			}
		}
	}
	if len(inputs) == 0 {
		inputs, captures = totals, ofTotals
	}
	g := view.Runs(captures)
	for _, i := range g.Copies {
		out.Copies = append(out.Copies, inputs[i].of.Inputs[inputs[i].number])
	}
	for _, r := range g.Runs {
		var of []input
		for _, i := range r.Inputs {
			of = append(of, inputs[i])
		}
		whole := joined(of)
		s, err := whole.Unrolled()
		if err != nil {
			s = whole
		}
		out.Runs = append(out.Runs, Run{Summary: s, cut: err})
	}
	out.By = g.From
	return out
}

// An input is one input of a summary.
type input struct {
	of     *summary.Summary
	number int
}

// joined returns a summary of some inputs. Inputs of one summary are picked together, because rows
// may belong to several of them.
func joined(inputs []input) *summary.Summary {
	var parts []*summary.Summary
	for len(inputs) > 0 {
		of := inputs[0].of
		var numbers []int
		for len(inputs) > 0 && inputs[0].of == of {
			numbers = append(numbers, inputs[0].number)
			inputs = inputs[1:]
		}
		if isWhole(of, numbers) {
			parts = append(parts, of)
		} else {
			parts = append(parts, of.Pick(numbers))
		}
	}
	return summary.Join(parts...)
}

// isWhole reports whether numbers are all inputs of a summary, in order.
func isWhole(s *summary.Summary, numbers []int) bool {
	for i, n := range numbers {
		if i != n {
			return false
		}
	}
	return len(numbers) == len(s.Inputs)
}
