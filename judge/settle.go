package judge

import (
	"cmp"
	"slices"

	"assay/summary"
)

// sortFindings sorts by level and then by estimated savings, the largest first. Findings
// without savings come last in their level, by the precedence of the rules.
func sortFindings(list []Finding, order map[string]int) {
	gain := func(f Finding) int64 {
		if f.GainNS == nil || f.Level == Info {
			return 0
		}
		return *f.GainNS
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(gain(b), gain(a)), cmp.Compare(order[a.Rule], order[b.Rule]))
	})
}

// decidedFirst puts the finding that decides the verdict before all others if it exceeds
// a limit. If the verdict asks for no action, it is the first one of its level.
func decidedFirst(list []Finding, v Verdict) {
	i := slices.IndexFunc(list, func(f Finding) bool { return f.Rule == v.Rule })
	if i < 0 {
		return
	}
	first := slices.IndexFunc(list, func(f Finding) bool { return f.Level == list[i].Level || list[i].Level > Info })
	f := list[i]
	copy(list[first+1:i+1], list[first:i])
	list[first] = f
}

// finalize sets the fields common to all rules: confidence, how to confirm, and fixes
// for the frameworks that were found.
func finalize(s *summary.Summary, found []Finding, stacks []Stack) {
	doubtful := slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Severity == "suspect" })
	on := settingOf(s, stacks)
	for i := range found {
		f := &found[i]
		page := builtIn().rule(f.Rule)
		if f.Confidence = page.Confidence; f.ToBeSure == nil {
			f.ToBeSure = slices.Clone(page.Sure)
		}
		if f.GainNS == nil && page.GainIsPart && f.DenominatorNS > 0 {
			f.gain(f.NumeratorNS, f.DenominatorNS, page.Whole)
		}
		if doubtful && f.Confidence == Certain && f.Rule != RuleCaptureQuality {
			f.Confidence = Likely
			f.ToBeSure = append(f.ToBeSure, "record again without the issues of severity suspect")
		}
		f.Next = on.stepsFor(f.Rule, f.Next)
	}
}
