package pictures

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/row"
	"assay/summary/view"
)

// mostReasons is the maximum number of causes with a bar.
const mostReasons = 10

// idle shows the idle time of each GPU by cause.
func idle(s *summary.Summary, r judge.Result) (plot.Chart, bool) {
	part, of := r.Judged(s), *s
	of.Idle = part.Idle
	devices, all := view.IdleOfDevices(&of)
	all = slices.DeleteFunc(all, func(r summary.Idle) bool { return r.NS <= 0 })
	if len(all) == 0 {
		return plot.Chart{}, false
	}
	owners, causes := view.Owners(all), summary.Idles().By(all, "owner", "state", "in")
	total := causes.Whole
	c := plot.Chart{Title: "Idle time by cause", Subtitle: "% of each GPU's idle time"}
	n := view.IdleGPUs(s, devices)
	if n > 1 {
		c.Subtitle += fmt.Sprintf("; legend: mean of %s GPUs", unit.Count(int64(n)))
	}
	for _, o := range owners {
		text := fmt.Sprintf("%s %s (%s)", view.Owner(o.ID), unit.Duration(perGPU(o.NS, n)), unit.Share(o.NS, total))
		c.Legend = append(c.Legend, plot.Swatch{Color: ownerColor(o.ID), Text: text})
	}
	var at []int
	for _, d := range devices {
		at = append(at, d.At)
	}
	choice := choose(s, r, at, barsOf(len(devices)))
	if len(devices) > allBars { // otherwise they are sorted by descending share of idle time
		devices = slices.DeleteFunc(devices, func(d view.DeviceIdle) bool { return !slices.Contains(choice.Devices, d.At) })
		slices.SortFunc(devices, func(a, b view.DeviceIdle) int { return cmp.Compare(a.At, b.At) })
	}
	c.Caption = joinSentences(words.Choice(choice, s.Devices), inputCaption(s, choice.Devices))
	titled := plot.Titled{{Title: "By GPU", Body: idleBars(s, part.IdleGPUs, devices, choice)}}
	bars, rest := ranked(causes, mostReasons, n, total, "the idle time", func(i *row.Row) plot.RankRow {
		label := causeWords(causes, i)
		if name := causes.Text(i, "in"); name != "" {
			label += ": " + name
		}
		return plot.RankRow{Label: label, Color: ownerColor(causes.Text(i, "owner"))}
	})
	ranking := plot.Ranking{Total: perGPU(total, n), Form: label.Plain, Rows: bars}
	if rest != "" {
		c.Caption = joinSentences(c.Caption, rest)
	}
	c.Body = append(titled, plot.TitledBody{Title: "Largest causes, in % of " + unit.Duration(perGPU(total, n)) + " idle time" + ofGPUs(n), Body: ranking})
	c.Alt = fmt.Sprintf("Idle time by cause; the largest, %s, takes %s of it", causeWords(causes, &causes.Rows[0]), unit.Share(causes.Main(&causes.Rows[0]), total))
	return c, true
}

// idleBars returns a bar for each GPU with idle time.
func idleBars(s *summary.Summary, recorded []summary.Activity, devices []view.DeviceIdle, choice view.Choice) plot.Bars {
	names := view.DeviceLabels(s)
	var bars plot.Bars
	for _, d := range devices {
		a := recorded[d.At]
		row := plot.BarRow{Label: roleLabel(names[d.At], choice.Roles[d.At]), Note: ", " + unit.Share(a.Idle(), a.Window()) + " of the window"}
		for _, o := range view.Owners(d.Rows) {
			row.Parts = append(row.Parts, plot.Part{Color: ownerColor(o.ID), NS: max(0, o.NS)})
		}
		if plot.SumParts(row.Parts) > 0 {
			bars.Rows = append(bars.Rows, row)
		}
	}
	return bars
}

func causeWords(causes *row.Table, r *row.Row) string {
	return words.Cause(causes.Text(r, "owner"), causes.Text(r, "state"), "")
}
