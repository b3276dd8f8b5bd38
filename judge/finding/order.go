package finding

import (
	"cmp"
	"slices"
)

// SortFindings sorts by level and then by estimated savings, the largest first. Within a level,
// findings without savings come last, by the precedence of their rules.
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

// DecidedFirst moves the finding that decides the verdict before all others if its level is above
// Info, otherwise before the others of level Info.
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
