package report

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// strataColors are those of owners and categories, the largest first; that of
// all others is grey.
func strataColors() []Color {
	return []Color{colorCompute, colorCopy, colorHost, colorMemset, colorWork, colorComm, colorDependency, colorLaunch}
}

// mostStrips is how many devices have a panel.
const mostStrips = 4

// binsSpan returns how long so many bins are, within int64.
func binsSpan(bin int64, n int) int64 {
	if n > 0 && bin > (1<<62)/int64(n) {
		return bin
	}
	return bin * int64(n)
}

// known reports whether a strip has anything to draw.
func (s *stripOf) known() bool {
	return s.strip != nil && s.strip.BinNS > 0 && slices.ContainsFunc(s.strip.Live, func(n int64) bool { return n > 0 })
}

// A stripOf is a strip with the name of what it is of.
type stripOf struct {
	label string
	strip *summary.OwnerStrip
	row   summary.Snapshot
}

func snapshotStrips(s *summary.Summary) (out []stripOf) {
	rows := sortSnapshots(s)
	labels := snapshotLabels(s, rows)
	for i, m := range rows {
		if p := (stripOf{labels[i], m.Strip, m}); p.known() {
			out = append(out, p)
		}
	}
	return out
}

// reservedChart shows what was reserved and live over time, and where
// allocations failed.
func reservedChart(s *summary.Summary) (Chart, bool) {
	strips := snapshotStrips(s)
	if len(strips) == 0 {
		return Chart{}, false
	}
	var body Timeline
	failed := false
	for _, p := range strips[:min(mostStrips, len(strips))] {
		body.Panels = append(body.Panels, reservedPanel(p))
		failed = failed || p.row.Failed > 0
	}
	c := Chart{
		Title:    "Device memory over time",
		Subtitle: "what the allocator had reserved, the highest of each bin, and what of it was live; time from the first entry of the history",
		Legend:   []Swatch{{colorWork, "live"}, {colorIdle, "reserved"}},
		Alt:      fmt.Sprintf("Reserved and live memory over time of %s", plural(int64(len(body.Panels)), "device")),
		Body:     body,
	}
	if failed {
		c.Legend = append(c.Legend, Swatch{colorComm, "out of memory"})
	}
	if rest := len(strips) - len(body.Panels); rest > 0 {
		c.Caption = fmt.Sprintf("The %d devices with the most memory; %s.", len(body.Panels), plural(int64(rest), "more device"))
	}
	return c, true
}

func reservedPanel(p stripOf) TimePanel {
	track := Track{Unit: sizeAxis}
	if len(p.strip.Reserved) > 0 {
		track.Series = append(track.Series, Series{colorIdle, p.strip.BinNS, p.strip.Reserved})
	}
	track.Series = append(track.Series, Series{colorWork, p.strip.BinNS, p.strip.Live})
	panel := TimePanel{Title: p.label, SpanNS: binsSpan(p.strip.BinNS, len(p.strip.Live))}
	from := func(ns int64) int64 { return summary.Plus(ns, -max(0, p.strip.StartNS)) }
	if k := p.row.Peak; k != nil {
		panel.Title += ", highest reserved " + unit.Bytes(k.HighestReserved)
		if k.NS != nil {
			track.Peak = &Peak{NS: from(*k.NS), Value: k.Live, Label: "peak " + unit.Bytes(k.Live) + " live"}
		}
	}
	for _, o := range p.row.OutOfMemory {
		if o.NS != nil {
			track.Marks = append(track.Marks, TrackMark{from(*o.NS), colorComm})
		}
	}
	panel.Tracks = []Track{track}
	return panel
}

// ownersChart stacks what was live by who had allocated it.
func ownersChart(s *summary.Summary) (Chart, bool) {
	strips := snapshotStrips(s)
	c := Chart{
		Title:    "Who had the memory, over time",
		Subtitle: "live memory by where it was allocated, of those with the most at the peak; each bin shows the moment with the most; time from the first entry",
	}
	return strataChart(c, strips, lineForm)
}

// categoriesChart stacks the categories of memory timelines.
func categoriesChart(s *summary.Summary) (Chart, bool) {
	var strips []stripOf
	for _, t := range s.MemoryTimelines {
		label := fmt.Sprintf("rank %d", t.Rank)
		if numbered(s) || len(s.MemoryTimelines) > 1 {
			label = inputNumber(t.Input) + " " + label
		}
		if p := (stripOf{label: label + ", peak " + unit.Bytes(t.Peak), strip: t.Strip}); p.known() {
			strips = append(strips, p)
		}
	}
	c := Chart{
		Title:    "Memory by category, over time",
		Subtitle: "what PyTorch's profiler took memory to be for; each bin shows the moment with the most; time from the first moment",
	}
	return strataChart(c, strips, plainForm)
}

// strataChart stacks the strips of some devices. An owner has one colour in all
// panels.
func strataChart(c Chart, strips []stripOf, form nameForm) (Chart, bool) {
	if len(strips) == 0 {
		return Chart{}, false
	}
	shown := strips[:min(mostStrips, len(strips))]
	names := strataNames(shown)
	var body Timeline
	for _, p := range shown {
		body.Panels = append(body.Panels, strataPanel(p, names))
	}
	labels := shortNames(form, append([]string{}, names...), 60)
	for i, label := range labels {
		if names[i] == "" {
			label = summary.KindWords(summary.KindUnknown)
		}
		c.Legend = append(c.Legend, Swatch{strataColors()[i], label})
	}
	if slices.ContainsFunc(body.Panels, func(p TimePanel) bool { return len(p.Tracks[0].Series) > len(names) }) {
		c.Legend = append(c.Legend, Swatch{colorNothing, "all others"})
	}
	if rest := len(strips) - len(shown); rest > 0 {
		c.Caption = fmt.Sprintf("The first %d; %d more.", len(shown), rest)
	}
	c.Alt = fmt.Sprintf("Stacked areas of memory over time: %s", c.Legend[0].Text)
	if n := len(c.Legend) - 1; n > 0 {
		c.Alt += fmt.Sprintf(" and %d more", n)
	}
	c.Body = body
	return c, true
}

// others stands in a strip for all that have no band of their own.
func others(o summary.Stratum) bool { return o.Name == "" && o.Kind == "" }

// strataNames returns who has a colour: those with the highest bands. Of these
// the steadiest come first, which are drawn at the bottom: what changes then
// does not move them up and down.
func strataNames(strips []stripOf) (names []string) {
	most, least := map[string]int64{}, map[string]int64{}
	for _, p := range strips {
		for _, o := range p.strip.Owners {
			if others(o) || len(o.Bytes) == 0 {
				continue
			}
			if _, ok := most[o.Name]; !ok {
				names = append(names, o.Name)
			}
			most[o.Name] = max(most[o.Name], slices.Max(o.Bytes))
			least[o.Name] = max(least[o.Name], slices.Min(o.Bytes))
		}
	}
	by := func(first, then map[string]int64) func(a, b string) int {
		return func(a, b string) int {
			return cmp.Or(cmp.Compare(first[b], first[a]), cmp.Compare(then[b], then[a]), cmp.Compare(a, b))
		}
	}
	slices.SortFunc(names, by(most, least))
	names = names[:min(len(names), len(strataColors()))]
	slices.SortFunc(names, by(least, most))
	return names
}

// strataPanel stacks the bands: each series is the sum of its own and all below
// it, and the highest is drawn first.
func strataPanel(p stripOf, names []string) TimePanel {
	bins := len(p.strip.Live)
	bands := make([][]int64, len(names)+1)
	for i := range bands {
		bands[i] = make([]int64, bins)
	}
	rest := false
	for _, o := range p.strip.Owners {
		at := slices.Index(names, o.Name)
		if at < 0 || others(o) {
			at, rest = len(names), true
		}
		for i := range min(bins, len(o.Bytes)) {
			bands[at][i] = summary.Plus(bands[at][i], max(0, o.Bytes[i]))
		}
	}
	for i := 1; i < len(bands); i++ {
		for j := range bins {
			bands[i][j] = summary.Plus(bands[i][j], bands[i-1][j])
		}
	}
	track := Track{Unit: sizeAxis, Tall: true}
	if rest {
		track.Series = append(track.Series, Series{colorNothing, p.strip.BinNS, bands[len(names)]})
	}
	for i := len(names) - 1; i >= 0; i-- {
		track.Series = append(track.Series, Series{strataColors()[i], p.strip.BinNS, bands[i]})
	}
	return TimePanel{Title: p.label, SpanNS: binsSpan(p.strip.BinNS, bins), Tracks: []Track{track}}
}
