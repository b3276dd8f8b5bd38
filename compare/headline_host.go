package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/compare/logs"
	"assay/compare/phases"
	"assay/internal/unit"
)

const (
	mostPhases = 4 // most phases that are named
	mostValues = 3 // most metrics that are named
)

// PhasesLead reports whether the headline is about the steps on the host, which is so for logs and
// for phases of reinforcement learning.
func (c *Comparison) PhasesLead() bool {
	switch {
	case c.Steps == nil:
		return false
	case c.Per == PerNone:
		return true
	}
	return slices.ContainsFunc(c.Phases, func(r phases.Row) bool { return phases.OfRL(r.Phase) })
}

// stepMovement describes the change of the step and of the phases that explain it, the largest
// first.
func (c *Comparison) stepMovement() string {
	base, new, delta := c.Steps.Base.MeanNS, c.Steps.New.MeanNS, c.Steps.DeltaNS
	in := UnitOf("ns", base, new)
	if float64(size(delta)) < still*float64(base) {
		text := in.Unchanged("step", base, new)
		if moved := c.movedPhases(); len(moved) > 0 && !c.overlap() {
			return text + ", but its phases changed: " + listed(in, moved)
		}
		return text
	}
	text := in.Moved("step", base, new)
	if c.overlap() {
		return text
	}
	var deltas []int64
	for _, r := range c.Phases {
		deltas = append(deltas, r.DeltaNS)
	}
	named, other := Explaining(deltas, delta, mostPhases)
	if len(named) == 0 {
		return text
	}
	var rows []phases.Row
	for _, i := range named {
		rows = append(rows, c.Phases[i])
	}
	if text += ": " + listed(in, rows); other >= 0 {
		text += ", but " + listed(in, c.Phases[other:other+1])
	}
	return text
}

// movedPhases returns the phases that changed by at least [Still] of the step.
func (c *Comparison) movedPhases() (out []phases.Row) {
	for _, r := range c.Phases {
		if float64(size(r.DeltaNS)) >= still*float64(c.Steps.Base.MeanNS) && len(out) < mostPhases {
			out = append(out, r)
		}
	}
	return out
}

func (c *Comparison) overlap() bool {
	return slices.ContainsFunc(c.Reasons, func(r Reason) bool { return r.Code == "phases-overlap" })
}

// listed returns phases with their deltas: "generation +11.0 s, weight sync +4.0 s".
func listed(t Unit, rows []phases.Row) string {
	var parts []string
	for _, r := range rows {
		parts = append(parts, phaseName(r.Phase)+" "+t.Signed(r.DeltaNS))
	}
	return strings.Join(parts, ", ")
}

// phaseName returns the display name of a phase.
func phaseName(id string) string {
	if id == "" {
		return "outside phases"
	}
	return strings.ReplaceAll(strings.ReplaceAll(id, "sleep-wake", "engine sleep/wake"), "weight-sync", "weight sync")
}

// spreadRole is the role of figures that describe the spread of others; they come last.
const spreadRole = 3

// A value is a metric or a figure that changed.
type value struct {
	name, effect, text string
	change             float64
	role               int
}

// loggedHeadline returns the metrics and figures that changed most: figures of benchmarks that both
// sides have or, if there are none, logged metrics.
func (c *Comparison) loggedHeadline() string {
	list := c.figureValues()
	if len(list) == 0 {
		list = c.metricValues()
	}
	compared := len(list)
	list = slices.DeleteFunc(list, func(v value) bool { return v.effect != logs.Worse && v.effect != logs.Better })
	if len(list) == 0 {
		if compared == 0 {
			return "nothing could be compared"
		}
		return fmt.Sprintf("no metric changed clearly (%d compared)", compared)
	}
	slices.SortStableFunc(list, func(a, b value) int {
		return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(math.Abs(b.change), math.Abs(a.change)))
	})
	shown := list[:min(mostValues, len(list))]
	if i := slices.IndexFunc(list, func(v value) bool { return v.effect == logs.Worse }); i >= len(shown) {
		shown = append(slices.Clone(shown), list[i]) // at least one value that got worse is shown
	}
	var parts []string
	for _, v := range shown {
		parts = append(parts, v.text)
	}
	return strings.Join(parts, "; ")
}

// figureValues returns the figures of benchmark results that both sides have.
func (c *Comparison) figureValues() (list []value) {
	for _, b := range c.Benchmarks {
		where := ""
		if len(c.Benchmarks) > 1 {
			where = settingsText(b.Settings)
		}
		for _, f := range b.Figures {
			v := movedValue(strings.TrimSpace(f.Metric+" "+f.Stat)+where, f.Role, f.Unit, f.Effect, f.Base, f.New, f.Change)
			if f.Stat == "std" {
				v.role = spreadRole
			}
			list = append(list, v)
		}
	}
	return list
}

// metricValues returns the metrics that both sides have.
func (c *Comparison) metricValues() (list []value) {
	place := logs.Places(c.Series)
	for i := range c.Series {
		m := &c.Series[i]
		if m.Match != logs.ByName || m.Note != "" || m.Base == nil || m.New == nil {
			continue
		}
		where := ""
		if text := place(m); text != "" {
			where = " (" + text + ")"
		}
		list = append(list, movedValue(m.Metric+where, m.Role, m.Unit, m.Effect, &m.Base.Median, &m.New.Median, m.Change))
	}
	return list
}

// settingsText returns the settings of a result.
func settingsText(settings map[string]string) string {
	if text := logs.LabelText(settings); text != "" {
		return " (" + text + ")"
	}
	return ""
}

func movedValue(name, role, of, effect string, base, new, change *float64) value {
	v := value{name: name, effect: effect, change: math.Inf(1)}
	// Headlines show times, rates, use of resources and failures; other roles explain these.
	switch role {
	case "time", "latency", "throughput":
	case "utilization", "queue", "memory", "health":
		v.role = 1
	default:
		v.role = 2
	}
	text := ""
	if change != nil {
		v.change = *change
		if share := SignedPercent(*change); share != unit.None {
			text = share + ", "
		}
	}
	v.text = fmt.Sprintf("%s %s → %s (%s%s)", name, unit.Value(*base, of), unit.Value(*new, of), text, effect)
	return v
}

// SignedPercent prints a relative change with its sign, or as a factor if it is large.
func SignedPercent(change float64) string {
	switch {
	case math.IsInf(change, 0):
		return unit.None
	case change >= ManyTimes-1:
		return "×" + unit.Count(int64(min(change+1.5, 1e15)))
	case math.IsNaN(change) || change < -1: // a value that changed its sign has no meaningful share
		return unit.None
	}
	const parts = 1e9
	return SignedShare(int64(math.Round(change*parts)), parts)
}
