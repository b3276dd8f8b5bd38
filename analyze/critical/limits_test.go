package critical

import (
	"strings"
	"testing"

	"assay/analyze/critical/graph"
	"assay/internal/interval"
)

// TestLimits: each limit has a case on each side, by the table in docs/forecasts.md. Parts are of 10 million.
func TestLimits(t *testing.T) {
	const all = 10_000_000
	sound := func() (*Program, *Path) {
		g := &Program{Graph: &graph.Graph{Ranks: make([]*graph.Source, 1), Counts: graph.Counts{GPU: 9, GapSamples: 9, GPUTime: all, DeviceWaits: all, Edges: all, Launches: all}}}
		return g, &Path{Window: interval.Span{End: all}, Exact: all, Explained: all}
	}
	if v := func() Verdict { g, p := sound(); return g.verdict(p) }(); v.Level != OK || len(v.Reasons) > 0 {
		t.Fatalf("%+v", v)
	}
	for _, c := range []struct {
		reason        string
		warn, abstain float64 // percent
		set           func(g *Program, p *Path, part int64)
	}{
		{"an unchanged replay", .01, 1, func(_ *Program, p *Path, part int64) { p.Exact += part }},
		{"an unchanged replay", .01, 1, func(_ *Program, p *Path, part int64) { p.Exact -= part }},
		{"a replay with typical delays", 2, 5, func(_ *Program, p *Path, part int64) { p.Explained -= part }},
		{"nothing in the trace explains", 3, 10, func(_ *Program, p *Path, part int64) { p.Classes[graph.Unexplained] = part }},
		{"of the path is GPU work whose launch", 3, 50, func(_ *Program, p *Path, part int64) { p.Unlaunched = part }},
		{"of the GPU time is not in the trace", 10, 50, func(g *Program, _ *Path, part int64) { g.Counts.Unlaunched = part }},
		{"of the waits for the GPU returned", 1, 10, func(g *Program, _ *Path, part int64) { g.Counts.Outrun = int(part) }},
		{"of the dependencies contradict", .1, 2, func(g *Program, _ *Path, part int64) { g.Counts.LateSources = int(part) }},
		{"follows dependencies that are inferred", 5, 30, func(_ *Program, p *Path, part int64) { p.Inferred = part }},
		{"does not record these waits", 3, 10, func(_ *Program, p *Path, part int64) { p.Unrecorded = part }},
		{"of the launches have no GPU work", 1, 10, func(g *Program, _ *Path, part int64) {
			g.Counts.Launches, g.Counts.LaunchesWithoutWork = int(all-part), int(part)
		}},
		{"communication on the path", 3, 101, func(_ *Program, p *Path, part int64) { p.Classes[graph.Comm] = part }},
		{"the time of the data loader is held constant", 5, 101, func(_ *Program, p *Path, part int64) { p.Classes[graph.DataLoader] = part }},
		{"batches are assumed", 5, 101, func(g *Program, p *Path, part int64) { p.Classes[graph.DataLoader], g.Counts.Arrivals = part, 1 }},
	} {
		level := func(percent float64, more int64) (Level, string) {
			g, p := sound()
			c.set(g, p, int64(percent*all/100+.5)+more)
			v := g.verdict(p)
			return v.Level, strings.Join(v.Reasons, "; ")
		}
		for _, x := range []struct {
			percent float64
			more    int64
			want    Level
		}{{c.warn, 0, OK}, {c.warn, 1, Warn}, {c.abstain, 0, Warn}, {c.abstain, 1, Abstain}} {
			if x.percent > 100 {
				continue
			}
			got, why := level(x.percent, x.more)
			if got != x.want || strings.Contains(why, c.reason) != (got != OK) {
				t.Errorf("%s: %g%% and %d more: %v (%s), want %v", c.reason, x.percent, x.more, got, why, x.want)
			}
		}
	}
	for name, c := range map[string]struct {
		set  func(g *Program, p *Path)
		want Level
	}{
		"no GPU work":                  {func(g *Program, _ *Path) { g.Counts.GPU = 0 }, Abstain},
		"one piece of it":              {func(g *Program, _ *Path) { g.Counts.GPU = 1 }, OK},
		"two kernels were queued":      {func(g *Program, _ *Path) { g.Counts.GapSamples = 2 }, Warn},
		"three were":                   {func(g *Program, _ *Path) { g.Counts.GapSamples = 3 }, OK},
		"an event that cannot be true": {func(g *Program, _ *Path) { g.Counts.Impossible = 1 }, Abstain},
		"streams without events":       {func(g *Program, _ *Path) { g.Counts.UnorderedStreams = true }, Warn},
		"over 100 hours": {func(_ *Program, p *Path) {
			p.Window.End, p.Exact, p.Explained = graph.Real+1, graph.Real+1, graph.Real+1
		}, Abstain},
		"100 hours":    {func(_ *Program, p *Path) { p.Window.End, p.Exact, p.Explained = graph.Real, graph.Real, graph.Real }, OK},
		"a doubt":      {func(g *Program, _ *Path) { g.Doubt("it rained") }, Abstain},
		"of all ranks": {func(g *Program, p *Path) { g.Ranks, p.Classes[graph.Comm] = make([]*graph.Source, 2), all }, OK},
	} {
		g, p := sound()
		c.set(g, p)
		if v := g.verdict(p); v.Level != c.want {
			t.Errorf("%s: %v %q, want %v", name, v.Level, v.Reasons, c.want)
		}
	}
}
