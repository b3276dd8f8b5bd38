package view

import (
	"cmp"
	"slices"
	"strings"

	"assay/summary"
)

// A Phase is one phase over all devices.
type Phase struct {
	Path     string
	Example  string
	Count    int64 // number of runs on the host of the input with the most
	Host     int64 // ns, maximum over the inputs, because ranks run the phase at the same time
	Median   int64
	Max      int64
	Own      summary.Activity
	Total    summary.Activity
	Launched int64
}

// Phases adds up phases over devices. An outer phase precedes the phases nested in it; on one level the
// phase with the most time is first; the time outside phases is last.
func Phases(s *summary.Summary) []Phase {
	out := Group(s.Phases, func(p *summary.Phase) string { return p.Path }, func(p *summary.Phase) Phase {
		return Phase{Path: p.Path, Example: p.Example}
	}, func(sum *Phase, p *summary.Phase) {
		sum.Count, sum.Host = max(sum.Count, p.Count), max(sum.Host, p.HostNS)
		sum.Median, sum.Max = max(sum.Median, p.MedianNS), max(sum.Max, p.MaxNS)
		sum.Own, sum.Total = sum.Own.Plus(p.Activity), sum.Total.Plus(p.Total)
		sum.Launched += p.Launched
	})
	totals := map[string]int64{}
	for _, p := range out {
		totals[p.Path] = p.Total.Window()
	}
	slices.SortStableFunc(out, func(a, b Phase) int { return byNesting(a.Path, b.Path, totals) })
	return out
}

// byNesting compares paths so that they are sorted as the lines of a tree.
func byNesting(a, b string, totals map[string]int64) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	partsA, partsB := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(partsA), len(partsB)) {
		if partsA[i] != partsB[i] {
			upA, upB := strings.Join(partsA[:i+1], "/"), strings.Join(partsB[:i+1], "/")
			return cmp.Or(cmp.Compare(totals[upB], totals[upA]), strings.Compare(upA, upB))
		}
	}
	return cmp.Compare(len(partsA), len(partsB))
}
