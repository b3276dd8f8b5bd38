package capture

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// A Loss summarizes the device records that are missing from the inputs.
type Loss struct {
	Worst summary.LaunchLoss // the row with the largest share of missing work
	// Missing launches of Worst / its launches, without those at the end of the capture; 0 if only
	// a few copies are missing.
	Share     float64
	OfKernels float64 // the largest share among rows of kernels or graphs
	// The row of kernels or graphs with the largest share of launches whose work is missing at the
	// end.
	End       summary.LaunchLoss
	Uncertain int64          // ns of the windows in which missing work may have run
	Damaged   *summary.Issue // the first issue that says that an export is damaged, or nil
}

// LossOf looks at all inputs. Launches at the end of a capture do not count, because their work ran
// after the judged windows, unless it is overdue.
func LossOf(c *summary.Summary) (l Loss) {
	cut := cutInputs(c)
	for _, r := range c.LaunchLosses {
		if cut[r.Input] {
			continue
		}
		kernels := r.OfKernels()
		if kernels && float64(r.AtEnd)*float64(l.End.Calls) >= float64(l.End.AtEnd)*float64(r.Calls) {
			l.End = r
		}
		missing, calls := r.Lost()
		if calls <= 0 || missing <= 0 {
			continue
		}
		share := float64(missing) / float64(calls)
		if !kernels && missing < summary.FewCopies {
			share = 0
		}
		if share > l.Share || l.Worst.Missing == 0 {
			l.Share, l.Worst = share, r
		}
		if kernels {
			l.OfKernels = max(l.OfKernels, share)
		}
	}
	for _, d := range c.Devices {
		l.Uncertain += d.UncertainNS
	}
	if i := slices.IndexFunc(c.Issues, summary.Issue.Damages); i >= 0 {
		l.Damaged = &c.Issues[i]
	}
	return l
}

// cutInputs returns the inputs that ended early. It returns nil if they have so many of the
// launches that judging only the other inputs would be misleading.
func cutInputs(c *summary.Summary) map[int]bool {
	const few = 0.25
	out := map[int]bool{}
	var theirs, all int64
	count := func(input int, calls int64) {
		if all += calls; input < len(c.Inputs) && !c.Inputs[input].Complete {
			theirs, out[input] = theirs+calls, true
		}
	}
	for _, l := range c.Launches {
		count(l.Input, l.Calls)
	}
	for _, l := range c.LaunchLosses {
		count(l.Input, l.Missing)
	}
	if float64(theirs) >= few*float64(all) {
		return nil
	}
	return out
}

// Evidence lists the rows with the most missing work.
func Evidence(c *tree.Context, l Loss) (out []string) {
	rows := slices.Clone(c.LaunchLosses)
	slices.SortStableFunc(rows, func(a, b summary.LaunchLoss) int { return int(min(max(b.Missing-a.Missing, -1), 1)) })
	for i, r := range rows {
		if i == 4 {
			out = append(out, label.Plural(int64(len(rows)-i), "more row")+" of launches without GPU work")
			break
		}
		out = append(out, fmt.Sprintf("rank %d: %s have no GPU work", r.Rank, r.Text()))
	}
	if l.Uncertain > 0 {
		out = append(out, fmt.Sprintf("the missing work can have run during %s", c.OfWindow(l.Uncertain)))
	}
	return out
}

// WorstLoss returns the kind of launches with the largest share of missing device work, and whether
// that share reaches the built-in limit of [rule.RecordsMissing].
func WorstLoss(s *summary.Summary) (summary.LaunchLoss, bool) {
	l := LossOf(s)
	limit, _ := rule.Thresholds{}.Rule(rule.RecordsMissing)
	return l.Worst, l.Share >= limit.Warn
}
