package pictures

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// mostReasons is how many reasons of idle time get a bar.
const mostReasons = 10

// idle shows who owned the idle time of each device, and what for.
func idle(s *summary.Summary) (plot.Chart, bool) {
	devices, all := view.IdleOfDevices(s)
	all = slices.DeleteFunc(all, func(r summary.Idle) bool { return r.NS <= 0 })
	if len(all) == 0 {
		return plot.Chart{}, false
	}
	owners, reasons := view.SumOwners(all), view.SumIdle(all)
	total := int64(0)
	c := plot.Chart{Title: "Idle time by cause", Subtitle: "% of each GPU's idle time"}
	for _, o := range owners {
		total = summary.Plus(total, o.NS)
	}
	for _, o := range owners {
		text := fmt.Sprintf("%s %s (%s)", view.OwnerText(o.Owner), unit.Duration(o.NS), unit.Share(o.NS, total))
		c.Legend = append(c.Legend, plot.Swatch{Color: ownerColor(o.Owner), Text: text})
	}
	shown := devices[:min(len(devices), allBars)]
	if len(devices) > allBars {
		shown = devices[:mostBars]
		c.Caption = fmt.Sprintf("The %d devices with the largest share of idle time; %s. The legend and the reasons sum all.",
			len(shown), label.Plural(int64(len(devices)-len(shown)), "more device"))
	}
	var at []int
	for _, d := range shown {
		at = append(at, d.At)
	}
	slices.Sort(at)
	c.Caption = joinSentences(c.Caption, inputCaption(s, at))
	titled := plot.Titled{{Title: "By device", Body: idleBars(s, shown)}}
	ranking, rest := reasonRanking(reasons, total)
	if rest != "" {
		c.Caption = joinSentences(c.Caption, rest)
	}
	c.Body = append(titled, plot.TitledBody{Title: "The reasons with the most idle time, and their share of " + unit.Duration(total), Body: ranking})
	c.Alt = fmt.Sprintf("Idle time by owner; the first reason, %s, has %s of it", reasons[0].Reason(), unit.Share(reasons[0].NS, total))
	return c, true
}

// idleBars has a bar for each device that has idle time.
func idleBars(s *summary.Summary, devices []view.DeviceIdle) plot.Bars {
	names := view.DeviceLabels(s)
	var bars plot.Bars
	for _, d := range devices {
		a := s.Devices[d.At].Activity
		row := plot.BarRow{Label: names[d.At], Note: ", " + unit.Share(a.Idle(), a.Window()) + " of the window"}
		for _, o := range view.SumOwners(d.Rows) {
			row.Parts = append(row.Parts, plot.Part{Color: ownerColor(o.Owner), NS: max(0, o.NS)})
		}
		if plot.SumParts(row.Parts) > 0 {
			bars.Rows = append(bars.Rows, row)
		}
	}
	return bars
}

// reasonRanking has the reasons with the most idle time, and says how many are
// not shown.
func reasonRanking(reasons []view.Idle, total int64) (r plot.Ranking, rest string) {
	r = plot.Ranking{Total: total, Form: label.Plain}
	rows, shown := ranked(reasons, mostReasons, func(i view.Idle) plot.RankRow {
		label := i.Reason()
		if i.Name != "" {
			label += ": " + i.Name
		}
		return plot.RankRow{Label: label, Color: ownerColor(i.Owner), NS: i.NS}
	})
	r.Rows = rows
	if n := len(reasons) - len(r.Rows); n > 0 {
		rest = fmt.Sprintf("%s (%s of the idle time).", label.Plural(int64(n), "more reason"), unit.Share(total-shown, total))
	}
	return r, rest
}
