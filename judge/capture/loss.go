package capture

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// A Loss is what is known of device records that are missing.
type Loss struct {
	Worst     summary.LaunchLoss // the row with the largest share
	Share     float64            // of worst, without work that may have run later; 0 of a few copies
	OfKernels float64            // the largest share of launches of kernels or graphs
	End       summary.LaunchLoss // the row of kernels or graphs with the largest share at the end
	Uncertain int64              // ns of the windows in which missing work may have run
	Damaged   *summary.Issue     // of an export
}

// LossOf looks at all inputs. The part at the end of a capture does not count, because
// it ran after the windows that are judged, unless it is overdue.
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
	for i := range c.Issues {
		if l.Damaged == nil && c.Issues[i].Damages() {
			l.Damaged = &c.Issues[i]
		}
	}
	return l
}

// cutInputs returns the inputs that ended early, if they have so few of the launches that the
// others can be judged without them.
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

// WorstLoss returns the kind of launches with the largest share of missing device work,
// and whether that share reaches the built-in limit of [rule.RecordsMissing].
func WorstLoss(s *summary.Summary) (summary.LaunchLoss, bool) {
	l := LossOf(s)
	limit, _ := rule.Thresholds{}.Rule(rule.RecordsMissing)
	return l.Worst, l.Share >= limit.Warn
}
