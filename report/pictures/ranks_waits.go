package pictures

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// ranksWaits shows the time of each rank in matched collectives, and how long the other
// ranks waited for it.
func ranksWaits(s *summary.Summary) (plot.Chart, bool) {
	devices, places := rankPlaces(s)
	if devices == nil {
		return plot.Chart{}, false
	}
	rows := view.RankWaits(s, devices)
	if rows == nil {
		return plot.Chart{}, false
	}
	var transfer, wait, n int64
	own, caused := make([][]plot.Part, len(rows)), make([][]plot.Part, len(rows))
	for i, r := range rows {
		if r == nil {
			continue
		}
		n++
		transfer, wait = summary.Plus(transfer, r.TransferNS), summary.Plus(wait, r.WaitNS)
		own[i] = []plot.Part{{Color: plot.ColorComm, NS: r.TransferNS}, {Color: plot.ColorWait, NS: r.WaitNS}}
		caused[i] = []plot.Part{{Color: plot.ColorCaused, NS: r.CausedNS}}
	}
	places.Flags = causeFlags(rows, places, wait)
	all := summary.Plus(transfer, wait)
	each := func(ns int64) string { return fmt.Sprintf("%s (%s)", unit.Duration(ns/n), unit.Share(ns, all)) }
	c := plot.Chart{
		Title:    "Waiting in collectives by rank",
		Subtitle: fmt.Sprintf("%% of the time in matched collectives: %s per GPU, mean of %s", unit.Duration(all/n), unit.Count(n)),
		Legend: []plot.Swatch{{Color: plot.ColorComm, Text: "transfer " + each(transfer)}, {Color: plot.ColorWait, Text: "own wait " + each(wait)},
			{Color: plot.ColorCaused, Text: "wait caused"}},
		Body: plot.Panels{Places: places, Panels: []plot.Panel{
			{Title: "Time of the rank in matched collectives", Columns: own},
			{Title: "Wait caused: waiting of all other ranks in the collectives to which the rank came last (sum " + unit.Duration(wait) + ")", Columns: caused},
		}},
		Alt: fmt.Sprintf("Columns of %s: transfer and own wait in collectives, and the wait that the rank caused", label.Plural(int64(len(rows)), "GPU")),
	}
	if rest := int64(len(rows)) - n; rest > 0 {
		c.Caption = label.Plural(rest, "GPU") + " without matched collectives."
	}
	if slices.ContainsFunc(s.Collectives, func(c summary.Collective) bool { return c.Partial && c.TransferNS != nil }) {
		c.Caption = joinSentences(c.Caption, "Not all ranks of every group were given: a rank that is missing may have come last.")
	}
	return c, true
}

// causeFlags points at the ranks that caused at least a tenth of the waiting.
func causeFlags(rows []*summary.RankWait, places plot.Places, wait int64) (flags []plot.Flag) {
	order := make([]int, 0, len(rows))
	for i, r := range rows {
		if r != nil && r.CausedNS > 0 && r.CausedNS >= wait/10 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rows[j].CausedNS, rows[i].CausedNS) })
	for _, i := range order[:min(mostFlags, len(order))] {
		flags = append(flags, plot.Flag{At: i, Text: fmt.Sprintf("%s caused %s of the waiting (%s)", rankAt(places, i), unit.Share(rows[i].CausedNS, wait), unit.Duration(rows[i].CausedNS))})
	}
	return flags
}
