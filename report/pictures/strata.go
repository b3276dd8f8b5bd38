package pictures

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// strataColors are the colours of sites and categories, for the largest first. All others are grey.
func strataColors() []plot.Color {
	return []plot.Color{plot.ColorCompute, plot.ColorCopy, plot.ColorHost, plot.ColorMemset, plot.ColorWork, plot.ColorComm, plot.ColorDependency, plot.ColorLaunch}
}

// mostStrips is the maximum number of GPUs with a panel.
const mostStrips = 4

// binsSpan returns the length of n bins, limited so that it does not overflow int64.
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

// stripOf is a strip with the name of the GPU or input.
type stripOf struct {
	label string
	strip *summary.OwnerStrip
	row   summary.Snapshot
}

func snapshotStrips(s *summary.Summary) (out []stripOf) {
	rows := view.Snapshots(s)
	labels := view.SnapshotLabels(s, rows)
	for i, m := range rows {
		if p := (stripOf{labels[i], m.Strip, m}); p.known() {
			out = append(out, p)
		}
	}
	return out
}

// strataChart stacks the strips of several GPUs. A site has one colour in all panels.
func strataChart(c plot.Chart, strips []stripOf, form label.Form) (plot.Chart, bool) {
	if len(strips) == 0 {
		return plot.Chart{}, false
	}
	shown := strips[:min(mostStrips, len(strips))]
	names := strataNames(shown)
	var body plot.Timeline
	for _, p := range shown {
		body.Panels = append(body.Panels, strataPanel(p, names))
	}
	labels := label.Short(form, append([]string{}, names...), 60)
	for i, label := range labels {
		if names[i] == "" {
			label = summary.KindWords(summary.KindUnknown)
		}
		c.Legend = append(c.Legend, plot.Swatch{Color: strataColors()[i], Text: label})
	}
	if slices.ContainsFunc(body.Panels, func(p plot.TimePanel) bool { return len(p.Tracks[0].Series) > len(names) }) {
		c.Legend = append(c.Legend, plot.Swatch{Color: plot.ColorNothing, Text: "other"})
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

// others reports whether a band adds up all rows without a band.
func others(o summary.Stratum) bool { return o.Name == "" && o.Kind == "" }

// strataNames returns the names that have a colour: those with the highest bands. The steadiest bands come
// first and are drawn at the bottom, so that the others do not move them.
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

// strataPanel stacks the bands. A series is the sum of its band and all bands below; the highest is drawn
// first.
func strataPanel(p stripOf, names []string) plot.TimePanel {
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
			bands[at][i] += max(0, o.Bytes[i])
		}
	}
	for i := 1; i < len(bands); i++ {
		for j := range bins {
			bands[i][j] += bands[i-1][j]
		}
	}
	track := plot.Track{Unit: plot.SizeAxis, Tall: true}
	if rest {
		track.Series = append(track.Series, plot.Series{Color: plot.ColorNothing, BinNS: p.strip.BinNS, Values: bands[len(names)]})
	}
	for i := len(names) - 1; i >= 0; i-- {
		track.Series = append(track.Series, plot.Series{Color: strataColors()[i], BinNS: p.strip.BinNS, Values: bands[i]})
	}
	return plot.TimePanel{Title: p.label, SpanNS: binsSpan(p.strip.BinNS, bins), Tracks: []plot.Track{track}}
}
