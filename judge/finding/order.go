package finding

import (
	"cmp"
	"slices"
)

// SortFindings sorts by level and then by estimated savings, the largest first. Findings
// without savings come last in their level, by the precedence of the rules.
func SortFindings(list []Finding, order map[string]int) {
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

// DecidedFirst puts the finding that decides the verdict before all others if it exceeds
// a limit. If the verdict asks for no action, it is the first one of its level.
func DecidedFirst(list []Finding, v Verdict) {
	i := slices.IndexFunc(list, func(f Finding) bool { return f.Rule == v.Rule })
	if i < 0 {
		return
	}
	first := slices.IndexFunc(list, func(f Finding) bool { return f.Level == list[i].Level || list[i].Level > Info })
	f := list[i]
	copy(list[first+1:i+1], list[first:i])
	list[first] = f
}
