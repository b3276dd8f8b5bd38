package pictures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// ranksWaits shows the time of each rank in matched collectives, how long the other ranks
// waited for it, and how long it waited for other stages of its pipeline.
func ranksWaits(s *summary.Summary) (plot.Chart, bool) {
	devices, places := rankPlaces(s)
	if devices == nil {
		return plot.Chart{}, false
	}
	c := plot.Chart{Title: "Waiting by rank", Subtitle: "time of each GPU; legend: mean of the GPUs"}
	body := plot.Panels{Places: places}
	if rows := view.RankWaits(s, devices); rows != nil {
		collectiveWaits(&c, &body, rows)
	}
	stageWaits(s, &c, &body, devices)
	if len(body.Panels) == 0 {
		return plot.Chart{}, false
	}
	if slices.ContainsFunc(s.Collectives, func(c summary.Collective) bool { return c.Partial && c.TransferNS != nil }) {
		c.Caption = joinSentences(c.Caption, "Not all ranks of every group were given: a rank that is missing may have come last.")
	}
	var shown []string
	for _, sw := range c.Legend {
		shown = append(shown, sw.Text)
	}
	c.Alt = fmt.Sprintf("Columns of %s: %s", label.Plural(int64(len(devices)), "GPU"), strings.Join(shown, ", "))
	c.Body = body
	return c, true
}

// collectiveWaits adds the panels on matched collectives. Waits that a rank caused are divided by the
// number of GPUs, so that they sum to the mean own wait.
func collectiveWaits(c *plot.Chart, body *plot.Panels, rows []*summary.RankWait) {
	var transfer, wait, n int64
	for _, r := range rows {
		if r != nil {
			n++
			transfer, wait = transfer+r.TransferNS, wait+r.WaitNS
		}
	}
	own, caused := make([][]plot.Part, len(rows)), make([][]plot.Part, len(rows))
	for i, r := range rows {
		if r != nil {
			own[i] = []plot.Part{{Color: plot.ColorComm, NS: r.TransferNS}, {Color: plot.ColorWait, NS: r.WaitNS}}
			caused[i] = []plot.Part{{Color: plot.ColorCaused, NS: perGPU(r.CausedNS, int(n))}}
		}
	}
	all := transfer + wait
	each := func(ns int64) string { return fmt.Sprintf("%s (%s)", unit.Duration(ns/n), unit.Share(ns, all)) }
	c.Legend = []plot.Swatch{{Color: plot.ColorComm, Text: "transfer " + each(transfer)}, {Color: plot.ColorWait, Text: "own wait " + each(wait)}}
	body.Panels = append(body.Panels, plot.Panel{Title: "Time of the rank in matched collectives", Columns: own})
	if rest := int64(len(rows)) - n; rest > 0 {
		c.Caption = label.Plural(rest, "GPU") + " without matched collectives."
	}
	if wait == 0 {
		c.Caption = joinSentences(c.Caption, "No rank waited in a matched collective.")
		return
	}
	body.Places.Flags = causeFlags(rows, body.Places, wait, int(n))
	c.Legend = append(c.Legend, plot.Swatch{Color: plot.ColorCaused, Text: "wait caused"})
	body.Panels = append(body.Panels, plot.Panel{Columns: caused,
		Title: fmt.Sprintf("Wait caused: waiting of the other ranks in collectives to which the rank came last, per GPU (sum %s)", unit.Duration(wait/n))})
}

// stageWaits adds the panel on waiting between the stages of a pipeline.
func stageWaits(s *summary.Summary, c *plot.Chart, body *plot.Panels, devices []int) {
	waits := map[summary.GPU]int64{}
	for i := range s.Ranks {
		if r := &s.Ranks[i]; r.StageWaitNS != nil {
			waits[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}] = *r.StageWaitNS
		}
	}
	var sum, n int64
	columns := make([][]plot.Part, len(devices))
	for i, at := range devices {
		d := &s.Devices[at]
		if ns, ok := waits[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}]; ok {
			columns[i] = []plot.Part{{Color: plot.ColorDependency, NS: ns}}
			sum, n = sum+ns, n+1
		}
	}
	if sum <= 0 {
		return
	}
	c.Legend = append(c.Legend, plot.Swatch{Color: plot.ColorDependency, Text: "wait between stages " + unit.Duration(sum/n)})
	body.Panels = append(body.Panels, plot.Panel{Title: "Waiting between the stages of the pipeline", Columns: columns})
}

// manyGPUs is the number of GPUs above which 5% of the waiting is ten times a rank's even share, and
// therefore deserves a flag.
const manyGPUs = 200

// causeFlags flags the ranks that caused at least 10% of the waiting, or 5% if there are manyGPUs.
func causeFlags(rows []*summary.RankWait, places plot.Places, wait int64, gpus int) (flags []plot.Flag) {
	order := make([]int, 0, len(rows))
	least := wait / 10
	if gpus >= manyGPUs {
		least = wait / 20
	}
	for i, r := range rows {
		if r != nil && r.CausedNS > 0 && r.CausedNS >= least {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rows[j].CausedNS, rows[i].CausedNS) })
	for _, i := range order[:min(mostFlags, len(order))] {
		flags = append(flags, plot.Flag{At: i, Text: fmt.Sprintf("%s caused %s of the waiting", rankAt(places, i), unit.Share(rows[i].CausedNS, wait))})
	}
	return flags
}
