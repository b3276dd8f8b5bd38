package critical

import (
	"fmt"
	"math"
	"slices"

	"assay/analyze/critical/graph"
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

// First adds a reason before the others: why the change may be impossible, which they are only doubts of.
func (v *Verdict) First(l Level, format string, args ...any) {
	v.Add(l, format, args...)
	if n := len(v.Reasons) - 1; l != Abstain {
		v.Reasons = slices.Insert(v.Reasons[:n:n], 0, v.Reasons[n])
	}
}

// WarnFirst adds a warning that comes before others, because it may change an answer most.
func (v *Verdict) WarnFirst(format string, args ...any) {
	at := 0
	if v.Level == Abstain {
		at = len(v.Reasons)
	}
	v.Level = max(v.Level, Warn)
	v.Reasons = slices.Insert(v.Reasons, at, fmt.Sprintf(format, args...))
}

// AtBest adds that a forecast is a bound, which is never a plain answer.
func (v *Verdict) AtBest(bound bool) {
	if bound && v.Level != Abstain {
		v.Add(Warn, "at best: work that runs at the same time gets slower, and what waited needs its data, so expect less")
	}
}

// MuchOfStep is the share of a step from which something matters, in percent.
const MuchOfStep = 4

// limits are the tests of a path: a measure in percent, above which the answer carries a warning,
// and above which it is withheld.
var limits = []struct {
	warn, abstain float64
	reason        string
	measure       func(g *Program, p *Path) float64
}{
	{.01, 1, "an unchanged replay differs from the measurement by %.1f%%",
		func(_ *Program, p *Path) float64 {
			return math.Abs(graph.Percent(p.Exact-p.Window.Len(), p.Window.Len()))
		}},
	{2, 5, "a replay with typical delays differs from the measurement by %.1f%%",
		func(_ *Program, p *Path) float64 {
			return math.Abs(graph.Percent(p.Explained-p.Window.Len(), p.Window.Len()))
		}},
	{3, 10, "nothing in the trace explains %.1f%% of the path",
		func(_ *Program, p *Path) float64 { return graph.Percent(p.Classes[graph.Unexplained], p.Window.Len()) }},
	{3, 50, "%.1f%% of the path is GPU work whose launch is not in the trace",
		func(_ *Program, p *Path) float64 { return graph.Percent(p.Unlaunched, p.Window.Len()) }},
	{10, 50, "the launch of %.1f%% of the GPU time is not in the trace",
		func(g *Program, _ *Path) float64 { return graph.Percent(g.Counts.Unlaunched, g.Counts.GPUTime) }},
	{1, 10, "%.1f%% of the waits for the GPU returned before its work had ended: the clocks of CPU and GPU differ",
		func(g *Program, _ *Path) float64 {
			return graph.Percent(int64(g.Counts.Outrun), int64(g.Counts.DeviceWaits))
		}},
	{.1, 2, "%.1f%% of the dependencies contradict the times of the trace",
		func(g *Program, _ *Path) float64 {
			return graph.Percent(int64(g.Counts.LateSources), int64(g.Counts.Edges))
		}},
	{5, 30, "%.1f%% of the path follows dependencies that are inferred, not recorded",
		func(_ *Program, p *Path) float64 { return graph.Percent(p.Inferred, p.Window.Len()) }},
	{3, 10, "for %.1f%% of the path the CPU seems to wait for the GPU, whose work ends shortly before each next launch, and the trace does not record these waits",
		func(_ *Program, p *Path) float64 { return graph.Percent(p.Unrecorded, p.Window.Len()) }},
	{1, 10, "%.1f%% of the launches have no GPU work: records are lost, or a graph was captured",
		func(g *Program, _ *Path) float64 {
			lost := int64(g.Counts.LaunchesWithoutWork)
			return graph.Percent(lost, int64(g.Counts.Launches)+lost)
		}},
}

// verdict says how far the path of a step can be trusted.
func (g *Program) verdict(p *Path) (out Verdict) {
	for _, l := range limits {
		switch x := l.measure(g, p); {
		case x > l.abstain:
			out.Add(Abstain, l.reason, x)
		case x > l.warn:
			out.Add(Warn, l.reason, x)
		}
	}
	if out.Level > OK && len(g.Streams) > 1 && graph.Percent(p.Classes[graph.Unexplained], p.Window.Len()) > MuchOfStep {
		if share := g.competing(p); share > mostlyCompeting {
			out.Add(out.Level, "kernels of another stream ran in %.0f%% of the time that nothing explains: streams compete for the GPU, which forecasts do not model", share)
		}
	}
	if g.Counts.GPU == 0 {
		out.Add(Abstain, "the trace has no GPU work")
	}
	if p.Window.Len() > graph.Real {
		out.Add(Abstain, "the step takes over 100 hours, so a time in the trace is wrong")
	}
	if g.Counts.Impossible > 0 {
		out.Add(Abstain, "the times of %d events cannot be true", g.Counts.Impossible)
	}
	for _, text := range g.Doubts {
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
	if graph.Percent(p.Classes[graph.Comm], p.Window.Len()) > MostComm && len(g.Ranks) == 1 {
		out.Add(Warn, "communication on the path includes waiting for other ranks; give all ranks")
	}
	if graph.Percent(p.Classes[graph.DataLoader], p.Window.Len()) > 5 {
		if g.Counts.Arrivals > 0 {
			out.Add(Warn, "batches are assumed to come at the measured times")
		} else {
			out.Add(Warn, "the time of the data loader is held constant")
		}
	}
	return out
}

// MostComm is the share of communication on the path of one rank above which there is a warning, in percent.
const MostComm = 3
