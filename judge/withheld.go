package judge

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// An Abstention says why a verdict is withheld.
type Abstention struct {
	Code   string `json:"code"`   // the rule that withholds it, as "device-records-missing"; "no-functions" of an empty profile
	Reason string `json:"reason"` // one sentence
}

// withReason returns the result with the reason of a verdict that names no bound.
func (r Result) withReason() Result {
	v := &r.Verdict
	if v.Bound == BoundUnknown && v.Abstained == nil {
		v.Abstained = &Abstention{Code: cmp.Or(v.Rule, RuleSumsOnly), Reason: v.Sentence}
	}
	return r
}

// launchesWithoutKernels is the code of the issue that device work is missing.
const launchesWithoutKernels = summary.LaunchesWithoutKernels

// clocks judges whether the times of the GPUs are plausible.
func (c *evaluator) clocks() (Finding, bool) {
	list := view.ImplausibleTimes(c.Summary)
	if len(list) == 0 {
		return Finding{}, false
	}
	f := Finding{Rule: RuleClocks, Level: Warn}
	i := max(0, slices.IndexFunc(list, func(is summary.Issue) bool { return is.Code == summary.ClocksImplausible }))
	n := list[i].Count
	f.Title = map[string]string{
		summary.ClocksImplausible:  fmt.Sprintf("The GPU timestamps are not plausible (%s)", label.Plural(n, "GPU window")),
		"kernels-without-duration": label.Plural(n, "kernel") + " recorded with a duration of 0",
		"work-before-launch":       label.Plural(n, "GPU operation") + " recorded before the launch call",
		"work-time-implausible":    label.Plural(n, "GPU operation") + " recorded at impossible times",
	}[list[i].Code] + ", so no share of the window is known"
	for _, is := range list {
		f.Evidence = append(f.Evidence, is.Help)
	}
	f.Next = []Step{advise("record-with-warm-up"), advise("give-the-original-trace")}
	return f, true
}

// A loss is what is known of device records that are missing.
type loss struct {
	worst     summary.LaunchLoss // the row with the largest share
	share     float64            // of worst, without work that may have run later; 0 of a few copies
	ofKernels float64            // the largest share of launches of kernels or graphs
	end       summary.LaunchLoss // the row of kernels or graphs with the largest share at the end
	uncertain int64              // ns of the windows in which missing work may have run
	damaged   *summary.Issue     // of an export
}

// lossOf looks at all inputs. The part at the end of a capture does not count, because
// it ran after the windows that are judged, unless it is overdue.
func (c *evaluator) lossOf() (l loss) {
	for _, r := range c.LaunchLosses {
		kernels := r.OfKernels()
		if kernels && float64(r.AtEnd)*float64(l.end.Calls) >= float64(l.end.AtEnd)*float64(r.Calls) {
			l.end = r
		}
		missing, calls := r.Lost()
		if calls <= 0 || missing <= 0 {
			continue
		}
		share := float64(missing) / float64(calls)
		if !kernels && missing < summary.FewCopies {
			share = 0
		}
		if share > l.share || l.worst.Missing == 0 {
			l.share, l.worst = share, r
		}
		if kernels {
			l.ofKernels = max(l.ofKernels, share)
		}
	}
	for _, d := range c.Devices {
		l.uncertain = summary.Plus(l.uncertain, d.UncertainNS)
	}
	for i := range c.Issues {
		if l.damaged == nil && c.Issues[i].Damages() {
			l.damaged = &c.Issues[i]
		}
	}
	return l
}

// recordsMissing judges whether device work is missing from the capture: see
// [evaluator.missingRecords]. The verdict is withheld unless the reading is partial.
func (c *evaluator) recordsMissing(v Verdict) []reading {
	f, withheld, ok := c.missingRecords(v)
	if !ok {
		return nil
	}
	return []reading{{Finding: f, reached: true, partial: !withheld}}
}

// missingRecords asks whether device work is missing from the capture, and whether
// the verdict still holds. It does not if an export is damaged, if the share of
// launches without device work reaches the critical limit, or if the verdict would
// be another one with the work that may be missing.
func (c *evaluator) missingRecords(v Verdict) (f Finding, withheld, ok bool) {
	rule, l := c.rules[RuleRecordsMissing], c.lossOf()
	f = Finding{Rule: rule.ID, Level: Warn, Value: l.share, Warn: rule.Warn, Critical: rule.Critical}
	if l.damaged != nil {
		f.Title = "The export is damaged, and GPU records are missing from it (" + l.damaged.Code + ")"
		for _, is := range c.Issues {
			if is.Damages() {
				f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s, first at %s", is.Code, label.Plural(is.Count, "time"), is.First))
				f.Next = joinSteps(f.Next, follow(is))
			}
		}
		f.Evidence = append(f.Evidence, c.lossEvidence(l)...)
		return f, true, true
	}
	withheld = l.ofKernels >= rule.Critical || l.uncertain > 0 && !c.holds(v, l.uncertain)
	if l.share < rule.Warn && !withheld {
		return c.cutAtEnd(f, l)
	}
	if l.ofKernels >= rule.Critical {
		f.Level = Critical
	}
	f.Title = fmt.Sprintf("GPU records are missing: %s have no GPU work (%s)", l.worst.Text(), unit.Share(l.worst.Missing, l.worst.Calls))
	f.Evidence = c.lossEvidence(l)
	f.Next = []Step{advise("record-fewer-events"), advise("let-the-profiler-finish"), advise("record-whole-steps")}
	return f, withheld, true
}

// cutAtEnd says what share of the launches the capture has no work of because it ended
// first. The windows are complete without them, but from [view.MostAtEnd] on the capture
// has too little of the program for a verdict.
func (c *evaluator) cutAtEnd(f Finding, l loss) (_ Finding, withheld, ok bool) {
	share := float64(l.end.AtEnd) / float64(max(1, l.end.Calls))
	if share < f.Warn {
		return f, false, false
	}
	withheld = share >= view.MostAtEnd
	f.Level, f.Value = Info, share
	if withheld {
		f.Level = Critical
	}
	f.Title = fmt.Sprintf("The capture ends before the GPU work of %s of its launches (%s of %s)", unit.Share(l.end.AtEnd, l.end.Calls), unit.Count(l.end.AtEnd), unit.Count(l.end.Calls))
	f.Evidence = c.lossEvidence(l)
	if steps := c.cutSteps(); steps > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s incomplete and left out of medians", label.Plural(steps, "step row")))
	}
	f.Next = []Step{advise("let-the-profiler-finish"), advise("record-whole-steps")}
	return f, withheld, true
}

// cutSteps counts the rows of steps with launches at the end of the capture.
func (c *evaluator) cutSteps() (n int64) {
	for _, st := range c.Steps {
		if st.LaunchesCut > 0 {
			n++
		}
	}
	return n
}

// lossEvidence lists the rows with the most missing work.
func (c *evaluator) lossEvidence(l loss) (out []string) {
	rows := slices.Clone(c.LaunchLosses)
	slices.SortStableFunc(rows, func(a, b summary.LaunchLoss) int { return int(min(max(b.Missing-a.Missing, -1), 1)) })
	for i, r := range rows {
		if i == 4 {
			out = append(out, label.Plural(int64(len(rows)-i), "more row")+" of launches without GPU work")
			break
		}
		out = append(out, fmt.Sprintf("rank %d: %s have no GPU work", r.Rank, r.Text()))
	}
	if l.uncertain > 0 {
		out = append(out, fmt.Sprintf("the missing work can have run during %s", c.ofWindow(l.uncertain)))
	}
	return out
}

// holds reports whether a verdict stays what it is, whatever ran in the time in which
// work may be missing. The part that decided must be over the same limit without that
// time, and no other part may decide with it: see [evaluator.verdict].
func (c *evaluator) holds(v Verdict, uncertain int64) bool {
	window := c.judged.Window()
	decided, least, limit := Rule{}, int64(0), 0.0
	for _, p := range parts() {
		if v.Bound != p.bound {
			continue
		}
		decided, least = c.rules[p.rule], p.time(c.judged)-uncertain
		_, limit, _ = decided.level(float64(p.time(c.judged)) / float64(window))
		if float64(least) < limit*float64(window) {
			return false
		}
	}
	critical := limit > 0 && limit == decided.Critical
	for _, p := range parts() {
		if v.Bound == p.bound {
			if critical {
				return true // parts that come later do not decide
			}
			continue
		}
		most := p.time(c.judged) + uncertain
		level, _, over := c.rules[p.rule].level(float64(most) / float64(window))
		switch {
		case !over || level == Info:
		case level == Critical || decided.ID == "" || most > least && !critical:
			return v.Bound == BoundUnknown
		}
	}
	return true
}

// withheld returns the result of a summary that is measured and not judged. Its
// findings stay for information.
func (c *evaluator) withheld(f Finding, found, judged []Finding, order map[string]int) Result {
	sortFindings(judged, order)
	for i := range judged {
		judged[i].Level = Info
	}
	return Result{Verdict: decidedBy(BoundUnknown, f), Findings: slices.Concat(found, []Finding{f}, c.memory(), judged)}
}

// Unusable returns why the numbers of the GPUs cannot be used, or nil: most
// device records are missing or damaged, or the clock is not plausible.
func (r Result) Unusable() *Abstention {
	if a := r.Verdict.Abstained; a != nil && (a.Code == RuleRecordsMissing || a.Code == RuleClocks) {
		return a
	}
	return nil
}

// WorstLoss returns the kind of launches with the largest share of missing device work,
// and whether that share reaches the built-in limit of [RuleRecordsMissing].
func WorstLoss(s *summary.Summary) (summary.LaunchLoss, bool) {
	c := evaluator{Summary: s}
	l := c.lossOf()
	limit, _ := Thresholds{}.Rule(RuleRecordsMissing)
	return l.worst, l.share >= limit.Warn
}
