package judge

import (
	"cmp"
	"slices"

	"assay/summary"
)

// sortFindings puts the worst level first, and within a level what could gain
// most; what has no gain comes last, in the precedence of the rules.
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

// decidedFirst puts the finding that decides the verdict before the others of its
// level, so that the two say the same thing first.
func decidedFirst(list []Finding, v Verdict) {
	i := slices.IndexFunc(list, func(f Finding) bool { return f.Rule == v.Rule })
	if i < 0 {
		return
	}
	first := slices.IndexFunc(list, func(f Finding) bool { return f.Level == list[i].Level })
	f := list[i]
	copy(list[first+1:i+1], list[first:i])
	list[first] = f
}

// settle fills in what findings of all rules have: how sure they are, what the
// software that was found asks for, and where each step comes from.
func settle(s *summary.Summary, found []Finding, stacks []Stack) {
	doubtful := slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Severity == "suspect" })
	plain := withoutTorch(s, stacks)
	for i := range found {
		f := &found[i]
		page := pageEntries()[f.Rule]
		if f.Confidence = page.Confidence; f.ToBeSure == nil {
			f.ToBeSure = slices.Clone(page.Sure)
		}
		if f.GainNS == nil && page.Bound == "numerator" && f.DenominatorNS > 0 {
			f.gain(f.NumeratorNS, f.DenominatorNS, page.Whole)
		}
		if doubtful && f.Confidence == Certain && f.Rule != RuleCaptureQuality {
			f.Confidence = Likely
			f.ToBeSure = append(f.ToBeSure, "a capture without the issues of severity suspect")
		}
		f.Next = stepsFor(f.Rule, f.Next, stacks)
		if plain {
			f.Next = remedies().plainly(f.Next)
		}
		for _, step := range f.Next {
			f.Sources = append(f.Sources, remedies().sourceOf(f.Rule, step))
		}
	}
}

// stepsFor drops the steps for software that is not there, where other software of
// its kind was found, and adds those for what was found: before the others where a
// framework knows best.
func stepsFor(rule string, steps []string, stacks []Stack) []string {
	b := remedies()
	out := slices.DeleteFunc(slices.Clone(steps), func(step string) bool {
		r := b.entryOf(step)
		return r != nil && r.Of != "" && other(r.Of, stacks)
	})
	var added []string
	for _, r := range b.added {
		found := slices.ContainsFunc(stacks, func(s Stack) bool { return slices.Contains(r.With, s.ID) })
		if found && slices.Contains(r.Rules, rule) && !slices.Contains(out, r.Text) {
			added = append(added, r.Text)
		}
	}
	if isOfPhases(rule) {
		return append(added, out...)
	}
	return append(out, added...)
}
