package critical

import (
	"fmt"
	"math"
	"slices"

	"assay/analyze/critical/change"
	"assay/internal/interval"
	"assay/internal/lazyregexp"
)

// A Level says how far an answer can be trusted.
type Level uint8

// The levels.
const (
	OK      Level = iota
	Warn          // read the reasons
	Abstain       // the answer is withheld: the trace does not tell enough
)

// String returns the name of a level in JSON.
func (l Level) String() string { return [...]string{"ok", "warn", "abstain"}[l] }

// A Verdict is the level of an answer with its reasons.
type Verdict struct {
	Level   Level
	Reasons []string
}

// Add adds a reason.
func (v *Verdict) Add(l Level, format string, args ...any) {
	v.Level = max(v.Level, l)
	text := fmt.Sprintf(format, args...)
	if l == Abstain { // what withholds an answer comes before what only warns
		v.Reasons = slices.Insert(v.Reasons, 0, text)
		return
	}
	v.Reasons = append(v.Reasons, text)
}

// first adds a reason before the others: why the change may be impossible, which they are only doubts of.
func (v *Verdict) first(l Level, format string, args ...any) {
	v.Add(l, format, args...)
	if n := len(v.Reasons) - 1; l != Abstain {
		v.Reasons = slices.Insert(v.Reasons[:n:n], 0, v.Reasons[n])
	}
}

// AtBest adds that a forecast is a bound, which is never a plain answer.
func (v *Verdict) AtBest(bound bool) {
	if bound && v.Level != Abstain {
		v.Add(Warn, "at best: work that runs at the same time gets slower, and what waited needs its data, so expect less")
	}
}

// percent returns part of whole in percent.
func percent(part, whole int64) float64 { return 100 * float64(part) / float64(max(1, whole)) }

// limits are the tests of a path: a measure in percent, above which the answer carries a warning,
// and above which it is withheld.
var limits = []struct {
	warn, abstain float64
	reason        string
	measure       func(g *Graph, p *Path) float64
}{
	{.01, 1, "an unchanged replay differs from the measurement by %.1f%%",
		func(_ *Graph, p *Path) float64 { return math.Abs(percent(p.Exact-p.Window.Len(), p.Window.Len())) }},
	{2, 5, "a replay with typical delays differs from the measurement by %.1f%%",
		func(_ *Graph, p *Path) float64 { return math.Abs(percent(p.Explained-p.Window.Len(), p.Window.Len())) }},
	{3, 10, "nothing in the trace explains %.1f%% of the path",
		func(_ *Graph, p *Path) float64 { return percent(p.Classes[Unexplained], p.Window.Len()) }},
	{3, 50, "%.1f%% of the path is GPU work whose launch is not in the trace",
		func(_ *Graph, p *Path) float64 { return percent(p.Unlaunched, p.Window.Len()) }},
	{10, 50, "the launch of %.1f%% of the GPU time is not in the trace",
		func(g *Graph, _ *Path) float64 { return percent(g.Counts.Unlaunched, g.Counts.GPUTime) }},
	{1, 10, "%.1f%% of the waits for the GPU returned before its work had ended: the clocks of CPU and GPU differ",
		func(g *Graph, _ *Path) float64 { return percent(int64(g.Counts.Outrun), int64(g.Counts.DeviceWaits)) }},
	{.1, 2, "%.1f%% of the dependencies contradict the times of the trace",
		func(g *Graph, _ *Path) float64 { return percent(int64(g.Counts.LateSources), int64(g.Counts.Edges)) }},
	{5, 30, "%.1f%% of the path follows dependencies that are inferred, not recorded",
		func(_ *Graph, p *Path) float64 { return percent(p.Inferred, p.Window.Len()) }},
	{1, 10, "%.1f%% of the launches have no GPU work: records are lost, or a graph was captured",
		func(g *Graph, _ *Path) float64 {
			lost := int64(g.Counts.LaunchesWithoutWork)
			return percent(lost, int64(g.Counts.Launches)+lost)
		}},
}

// verdict says how far the path of a step can be trusted.
func (g *Graph) verdict(p *Path) (out Verdict) {
	for _, l := range limits {
		switch x := l.measure(g, p); {
		case x > l.abstain:
			out.Add(Abstain, l.reason, x)
		case x > l.warn:
			out.Add(Warn, l.reason, x)
		}
	}
	if out.Level > OK && len(g.streams) > 1 && percent(p.Classes[Unexplained], p.Window.Len()) > muchOfStep {
		if share := g.competing(p); share > mostlyCompeting {
			out.Add(out.Level, "kernels of another stream ran in %.0f%% of the time that nothing explains: streams compete for the GPU, which forecasts do not model", share)
		}
	}
	if g.Counts.GPU == 0 {
		out.Add(Abstain, "the trace has no GPU work")
	}
	if p.Window.Len() > real {
		out.Add(Abstain, "the step takes over 100 hours, so a time in the trace is wrong")
	}
	if g.Counts.Impossible > 0 {
		out.Add(Abstain, "the times of %d events cannot be true", g.Counts.Impossible)
	}
	for _, text := range g.doubts {
		out.Add(Abstain, "%s", text)
	}
	if g.Counts.UnorderedStreams {
		out.Add(Warn, "several streams have work and the trace has no event between them")
	}
	if g.Counts.Unlinked > 0 {
		out.Add(Warn, "what waits for %d collectives of the CPU is not known", g.Counts.Unlinked)
	}
	if g.Counts.GapSamples < 3 && g.Counts.GPU > 0 {
		out.Add(Warn, "no kernel was queued, so the gap between kernels is assumed")
	}
	if percent(p.Classes[Comm], p.Window.Len()) > mostComm && len(g.ranks) == 1 {
		out.Add(Warn, "communication on the path includes waiting for other ranks; give all ranks")
	}
	if percent(p.Classes[DataLoader], p.Window.Len()) > 5 {
		if g.Counts.Arrivals > 0 {
			out.Add(Warn, "batches are assumed to come at the measured times")
		} else {
			out.Add(Warn, "the time of the data loader is held constant")
		}
	}
	return out
}

// mostComm is the share of communication on the path of one rank above which there is a warning, in percent.
const mostComm = 3

var ofComm = lazyregexp.New(`nccl|comm`)

// changed says how far the forecast of changes to a step can be trusted.
func (g *Graph) changed(p *Path, list []change.Change) Verdict {
	out := Verdict{p.Verdict.Level, append([]string(nil), p.Verdict.Reasons...)}
	for _, c := range list {
		if (c.Kind == "hide-comm" || c.Kind == "scale" || c.Kind == "remove") && ofComm().MatchString(c.Kind+c.Value) && g.overlapped() > 30 {
			out.Add(Warn, "communication overlaps compute, and contention between them is not modelled")
			break
		}
	}
	return out
}

// overlapped returns the share of communication during which compute ran, in percent.
func (g *Graph) overlapped() float64 {
	if g.overlap == nil {
		var spans []interval.Span
		var compute interval.Builder
		for v := range g.nodes {
			n, span := &g.nodes[v], interval.Span{Start: g.start[v], End: g.end(int32(v))}
			if n.flags&isGPU == 0 {
			} else if n.class == Comm {
				spans = append(spans, span)
			} else if n.class == Compute {
				compute.Add(span)
			}
		}
		inside, total, set := int64(0), int64(0), compute.Set()
		for _, s := range spans {
			total += s.Len()
			inside += set.Clip(s).Len()
		}
		share := percent(inside, total)
		g.overlap = &share
	}
	return *g.overlap
}

// Assumptions returns what a forecast of the changes rests on.
func Assumptions(list []change.Change, ranks int) []string {
	out := []string{
		"durations do not depend on other work that runs at the same time",
		"the order of work on each stream and of each thread stays",
		"waits that nothing explains stay as long",
	}
	if ranks == 1 {
		out = append(out, "communication keeps the time that it waited for other ranks")
	}
	for _, c := range list {
		p, err := c.Parse()
		if text := c.String() + ": " + p.Rests(); err == nil && p.Rests() != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
