package report

import (
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// mostReasons is how many reasons of idle time get a bar.
const mostReasons = 10

// idleChart shows who owned the idle time of each device, and what for.
func idleChart(s *summary.Summary) (Chart, bool) {
	devices, all := idleOfDevices(s)
	all = slices.DeleteFunc(all, func(r summary.Idle) bool { return r.NS <= 0 })
	if len(all) == 0 {
		return Chart{}, false
	}
	owners, reasons := sumOwners(all), sumIdle(all)
	total := int64(0)
	c := Chart{Title: "Who owned the idle time", Subtitle: "share of each device's idle time, in which nothing ran"}
	for _, o := range owners {
		total = summary.Plus(total, o.ns)
	}
	for _, o := range owners {
		text := fmt.Sprintf("%s %s (%s)", ownerText(o.owner), unit.Duration(o.ns), unit.Share(o.ns, total))
		c.Legend = append(c.Legend, Swatch{ownerColor(o.owner), text})
	}
	shown := devices[:min(len(devices), allBars)]
	if len(devices) > allBars {
		shown = devices[:mostBars]
		c.Caption = fmt.Sprintf("The %d devices with the largest share of idle time; %s. The legend and the reasons sum all.",
			len(shown), plural(int64(len(devices)-len(shown)), "more device"))
	}
	var at []int
	for _, d := range shown {
		at = append(at, d.at)
	}
	slices.Sort(at)
	c.Caption = joinSentences(c.Caption, inputCaption(s, at))
	titled := Titled{{"By device", idleBars(s, shown)}}
	ranking, rest := reasonRanking(reasons, total)
	if rest != "" {
		c.Caption = joinSentences(c.Caption, rest)
	}
	c.Body = append(titled, TitledBody{"The reasons with the most idle time, and their share of " + unit.Duration(total), ranking})
	c.Alt = fmt.Sprintf("Idle time by owner; the first reason, %s, has %s of it", reasons[0].reason(), unit.Share(reasons[0].ns, total))
	return c, true
}

// idleBars has a bar for each device that has idle time.
func idleBars(s *summary.Summary, devices []deviceIdle) Bars {
	names := deviceLabels(s)
	var bars Bars
	for _, d := range devices {
		a := s.Devices[d.at].Activity
		row := BarRow{Label: names[d.at], Note: ", " + unit.Share(a.Idle(), a.Window()) + " of the window"}
		for _, o := range sumOwners(d.rows) {
			row.Parts = append(row.Parts, Part{ownerColor(o.owner), max(0, o.ns)})
		}
		if sumParts(row.Parts) > 0 {
			bars.Rows = append(bars.Rows, row)
		}
	}
	return bars
}

// reasonRanking has the reasons with the most idle time, and says how many are
// not shown.
func reasonRanking(reasons []idleSum, total int64) (r Ranking, rest string) {
	r = Ranking{Total: total, Form: plainForm}
	shown := int64(0)
	for _, i := range reasons[:min(mostReasons, len(reasons))] {
		label := i.reason()
		if i.name != "" {
			label += ": " + i.name
		}
		r.Rows = append(r.Rows, RankRow{label, ownerColor(i.owner), i.ns})
		shown = summary.Plus(shown, i.ns)
	}
	if n := len(reasons) - len(r.Rows); n > 0 {
		rest = fmt.Sprintf("%s (%s of the idle time).", plural(int64(n), "more reason"), unit.Share(total-shown, total))
	}
	return r, rest
}

// operatorChart ranks operators by the GPU time of their own.
func operatorChart(s *summary.Summary) (Chart, bool) {
	return launcherChart(sumOps(s), gpuWork(s), "operator")
}

// moduleChart stands in for operators where none are known.
func moduleChart(s *summary.Summary) (Chart, bool) {
	if has(sumOps(s)) {
		return Chart{}, false
	}
	return launcherChart(sumModules(s), gpuWork(s), "module")
}

func launcherChart(list []launcher, work int64, noun string) (Chart, bool) {
	r := Ranking{Total: max(work, selfOf(list)), Form: plainForm}
	shown := int64(0)
	for _, l := range list[:min(mostRanks, len(list))] {
		if l.self <= 0 {
			break
		}
		r.Rows = append(r.Rows, RankRow{l.name, colorWork, l.self})
		shown = summary.Plus(shown, l.self)
	}
	if len(r.Rows) == 0 {
		return Chart{}, false
	}
	c := Chart{
		Title: fmt.Sprintf("%ss with the most GPU time", string(noun[0]-'a'+'A')+noun[1:]),
		Subtitle: fmt.Sprintf("GPU time of the work that each launched itself, and its share of %s, the sum of the durations of all kernels, copies and memsets",
			unit.Duration(r.Total)),
		Body: r,
		Alt:  fmt.Sprintf("Bars of the %d %ss with the most GPU time; the first has %s of it", len(r.Rows), noun, unit.Share(r.Rows[0].NS, r.Total)),
	}
	self := selfOf(list)
	if rest := countSelf(list) - len(r.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("%s (%s of GPU work).", plural(int64(rest), "more "+noun), unit.Share(max(0, self-shown), r.Total))
	}
	if other := r.Total - self; other > 0 {
		c.Caption = joinSentences(c.Caption, fmt.Sprintf("%s of GPU work is of no %s, or it is not known which.", unit.Share(other, r.Total), noun))
	}
	return c, true
}

// countSelf returns how many of the launchers have GPU time of their own.
func countSelf(list []launcher) (n int) {
	for _, l := range list {
		if l.self > 0 {
			n++
		}
	}
	return n
}

// queueChart shows how much work was waiting, above the steps.
func queueChart(s *summary.Summary) (Chart, bool) {
	queues := map[deviceKey]summary.Launches{}
	for _, l := range s.Launches {
		queues[deviceKey{l.Input, l.Rank, l.Device}] = l
	}
	names := deviceLabels(s)
	panels := make([]TimePanel, len(s.Devices))
	var drawable []int
	for i, d := range s.Devices {
		l := queues[deviceKey{d.Input, d.Rank, d.Device}]
		if d.Strip == nil || d.Strip.BinNS <= 0 || d.WindowNS <= 0 || !slices.ContainsFunc(l.QueueStrip, func(n int64) bool { return n > 0 }) {
			continue
		}
		panels[i] = TimePanel{Title: names[i] + ", window " + unit.Duration(d.WindowNS), SpanNS: d.WindowNS, Tracks: []Track{{
			Name: "queue depth", Unit: depthAxis, Series: []Series{{colorHost, d.Strip.BinNS, l.QueueStrip}},
		}}}
		if columns := stepColumns(s, d); len(columns) > 0 {
			panels[i].Tracks = append(panels[i].Tracks, Track{Name: "wall time of steps", Unit: timeAxis, Columns: columns})
		}
		drawable = append(drawable, i)
	}
	if len(drawable) == 0 {
		return Chart{}, false
	}
	shown := worstOf(s, drawable, mostLanes)
	c := Chart{
		Title:    "Work waiting in the queue, and steps",
		Subtitle: "mean depth of each bin: pieces of work offered and not started; time from the start of the device's window",
		Alt:      fmt.Sprintf("Queue depth and steps over time of %s", plural(int64(len(shown)), "device")),
	}
	var body Timeline
	steps := false
	for _, i := range shown {
		body.Panels = append(body.Panels, panels[i])
		steps = steps || len(panels[i].Tracks) > 1
	}
	c.Body = body
	c.Legend = []Swatch{{colorHost, "queue depth"}}
	if steps {
		c.Legend = append(c.Legend, partLegend(body)...)
	}
	c.Caption = joinSentences(restOfDevices(len(drawable), len(shown)), inputCaption(s, shown))
	return c, true
}

// partLegend names the parts that the columns of a timeline have.
func partLegend(t Timeline) (legend []Swatch) {
	for i, kind := range budgetParts(summary.Activity{}) {
		if slices.ContainsFunc(t.Panels, func(p TimePanel) bool { return hasPart(p, kind.Color) }) {
			legend = append(legend, Swatch{kind.Color, budgetNames()[i]})
		}
	}
	return legend
}

// hasPart reports whether a column of p has a part of the colour.
func hasPart(p TimePanel, color Color) bool {
	for _, t := range p.Tracks {
		for _, col := range t.Columns {
			if slices.ContainsFunc(col.Parts, func(part Part) bool { return part.Color == color && part.NS > 0 }) {
				return true
			}
		}
	}
	return false
}

// restOfDevices says that not all devices are drawn, if so.
func restOfDevices(all, shown int) string {
	if all == shown {
		return ""
	}
	return fmt.Sprintf("The %d devices with the largest share of idle time; %s.", shown, plural(int64(all-shown), "more device"))
}

// stepColumns returns the steps of a device that meet its window.
func stepColumns(s *summary.Summary, d summary.Device) (columns []TimeColumn) {
	for _, st := range s.Steps {
		if st.Input != d.Input || st.Rank != d.Rank || st.Device != d.Device || st.WallNS <= 0 || len(columns) == mostMarks {
			continue
		}
		from := summary.Plus(st.StartNS, -max(d.StartNS, -1<<62))
		if from < d.WindowNS && summary.Plus(from, st.WallNS) > 0 {
			columns = append(columns, TimeColumn{from, st.WallNS, stepLabel(st.Name, st.Kind, st.Number), budgetParts(st.Activity)})
		}
	}
	return columns
}

// memoryChart shows allocated and reserved memory over time.
func memoryChart(s *summary.Summary) (Chart, bool) {
	rows := sortMemory(s)
	labels := memoryLabels(s, rows)
	var body Timeline
	drawable, reserved := 0, false
	for i, m := range rows {
		p, ok := memoryPanel(m, labels[i])
		if !ok {
			continue
		}
		if drawable++; drawable <= mostLanes {
			body.Panels = append(body.Panels, p)
			reserved = reserved || len(p.Tracks[0].Series) > 1
		}
	}
	if drawable == 0 {
		return Chart{}, false
	}
	c := Chart{
		Title:    "Memory over time",
		Subtitle: "what PyTorch's allocator reported, the highest value of each bin; time from the first report",
		Legend:   []Swatch{{colorWork, "allocated"}},
		Alt:      fmt.Sprintf("Memory over time of %s", plural(int64(len(body.Panels)), "device")),
		Body:     body,
	}
	if reserved {
		c.Legend = append(c.Legend, Swatch{colorIdle, "reserved"})
	}
	if rest := drawable - len(body.Panels); rest > 0 {
		c.Caption = fmt.Sprintf("The %d with the highest peaks; %d more.", len(body.Panels), rest)
	}
	return c, true
}

// memoryPanel is false if nothing is known of m over time.
func memoryPanel(m summary.Memory, label string) (TimePanel, bool) {
	known := func(bins []int64) bool { return slices.ContainsFunc(bins, func(n int64) bool { return n > 0 }) }
	if m.Strip == nil || m.Strip.BinNS <= 0 || !known(m.Strip.Allocated) && !known(m.Strip.Reserved) {
		return TimePanel{}, false
	}
	bins := int64(max(len(m.Strip.Allocated), len(m.Strip.Reserved)))
	track := Track{Unit: sizeAxis}
	if known(m.Strip.Reserved) {
		track.Series = append(track.Series, Series{colorIdle, m.Strip.BinNS, m.Strip.Reserved})
	}
	track.Series = append(track.Series, Series{colorWork, m.Strip.BinNS, m.Strip.Allocated})
	p := TimePanel{Title: label, SpanNS: m.Strip.BinNS}
	if m.Strip.BinNS <= (1<<62)/bins {
		p.SpanNS = m.Strip.BinNS * bins
	}
	if m.PeakReserved != nil {
		p.Title += ", peak " + unit.Bytes(*m.PeakReserved) + " reserved"
	}
	if m.PeakAllocated != nil && *m.PeakAllocated > 0 {
		at := summary.Plus(m.PeakNS, -max(m.Strip.StartNS, -1<<62))
		track.Peak = &Peak{NS: at, Value: *m.PeakAllocated, Label: "peak " + unit.Bytes(*m.PeakAllocated) + " allocated"}
	}
	p.Tracks = []Track{track}
	return p, true
}
