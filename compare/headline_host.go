package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/compare/phases"
	"assay/compare/series"
	"assay/unit"
)

const (
	explained  = 0.8 // of a delta: its largest parts are named until they sum to this
	mostPhases = 4   // that are named
	mostValues = 3   // metrics that are named
)

// rlPhases are the phases of a step of reinforcement learning. Each ends when its work is
// done, so that their times on the host explain the step. The host runs ahead of the GPU in the phases
// of a training step (forward, backward), so theirs do not.
var rlPhases = []string{"generation", "reward", "log-probs", "advantage", "training", "weight-sync", "sleep-wake", "wait"}

// PhasesLead reports whether the headline is about the steps on the host: those of logs,
// and those of reinforcement learning.
func (c *Comparison) PhasesLead() bool {
	switch {
	case c.Steps == nil:
		return false
	case c.Per == PerNone:
		return true
	}
	return slices.ContainsFunc(c.Phases, func(r phases.Row) bool { return slices.Contains(rlPhases, r.Phase) })
}

// stepMovement returns the change of the step and of the phases that explain it, the
// largest first.
func (c *Comparison) stepMovement() string {
	base, new, delta := c.Steps.Base.MeanNS, c.Steps.New.MeanNS, c.Steps.DeltaNS
	in := timesOf(base, new)
	if float64(size(delta)) < still*float64(base) {
		text := fmt.Sprintf("step unchanged: %s (%s)", in.text(new), in.signed(delta))
		if moved := c.movedPhases(); len(moved) > 0 && !c.overlap() {
			return text + ", but its phases changed: " + in.list(moved)
		}
		return text
	}
	text := fmt.Sprintf("step %s → %s (%s)", in.number(base), in.text(new), in.signed(delta))
	rows, rest := c.explaining()
	if len(rows) == 0 {
		return text
	}
	if text += ": " + in.list(rows); rest != nil {
		text += ", less " + in.list([]phases.Row{*rest})
	}
	return text
}

// explaining returns the phases that changed in the direction of the step, the largest
// first, until they sum to most of its delta; and the largest that changed in the other
// direction, if they sum to far more.
func (c *Comparison) explaining() (rows []phases.Row, rest *phases.Row) {
	if c.overlap() {
		return nil, nil
	}
	delta, sum := c.Steps.DeltaNS, int64(0)
	for _, r := range c.Phases { // the largest first
		if (r.DeltaNS > 0) != (delta > 0) || r.DeltaNS == 0 || len(rows) == mostPhases || float64(size(sum)) >= explained*float64(size(delta)) {
			continue
		}
		rows, sum = append(rows, r), sum+r.DeltaNS
	}
	if float64(size(sum)) <= (2-explained)*float64(size(delta)) {
		return rows, nil
	}
	i := slices.IndexFunc(c.Phases, func(r phases.Row) bool { return r.DeltaNS != 0 && (r.DeltaNS > 0) != (delta > 0) })
	if i >= 0 {
		rest = &c.Phases[i]
	}
	return rows, rest
}

// movedPhases returns the phases that changed by a hundredth of the step or more.
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

// An inUnit prints times of one sentence in one unit, with the decimals of the longest.
type inUnit struct {
	unit     string
	ns       float64
	decimals int
}

// timesOf returns the unit of a time on both sides, with the decimals that give the shorter
// one and the difference three digits.
func timesOf(base, new int64) inUnit {
	longest, shortest := float64(max(base, new)), float64(min(base, new))
	in := inUnit{"ns", 1, 0}
	for _, s := range []inUnit{{"µs", 1e3, 0}, {"ms", 1e6, 0}, {"s", 1e9, 0}, {"min", 60e9, 0}, {"h", 3600e9, 0}} {
		// Seconds are used up to 600 s, and minutes up to 120 min.
		if from := map[string]float64{"min": 600e9, "h": 7200e9}[s.unit]; longest >= max(from, s.ns) {
			in = s
		}
	}
	if in.unit != "ns" {
		digits := func(ns float64) int { return max(0, 2-int(math.Floor(math.Log10(max(1, ns/in.ns))))) }
		in.decimals = max(digits(shortest), min(1, digits(longest-shortest)))
	}
	return in
}

func (t inUnit) number(ns int64) string {
	text := strconv.FormatFloat(float64(ns)/t.ns, 'f', t.decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

func (t inUnit) text(ns int64) string { return t.number(ns) + " " + t.unit }

func (t inUnit) signed(ns int64) string {
	if ns > 0 {
		return "+" + t.text(ns)
	}
	return t.text(ns)
}

// list returns phases with their deltas: "generation +11.0 s, weight sync +4.0 s".
func (t inUnit) list(rows []phases.Row) string {
	var parts []string
	for _, r := range rows {
		parts = append(parts, phaseName(r.Phase)+" "+t.signed(r.DeltaNS))
	}
	return strings.Join(parts, ", ")
}

// phaseName returns the words of a phase.
func phaseName(id string) string {
	if id == "" {
		return "outside phases"
	}
	return strings.ReplaceAll(strings.ReplaceAll(id, "sleep-wake", "engine sleep/wake"), "weight-sync", "weight sync")
}

// A value is a metric or a figure that changed.
type value struct {
	name, effect, text string
	change             float64
	role               int
}

// loggedHeadline returns the metrics and figures that changed most.
func (c *Comparison) loggedHeadline() string {
	var list []value
	compared := 0
	for _, b := range c.Benchmarks {
		where := ""
		if len(c.Benchmarks) > 1 {
			where = settingsText(b.Settings)
		}
		for _, f := range b.Figures {
			compared++
			list = append(list, movedValue(strings.TrimSpace(f.Metric+" "+f.Stat)+where, f.Role, f.Unit, f.Effect, f.Base, f.New, f.Change))
		}
	}
	if c.Benchmarks == nil {
		for _, m := range c.Series {
			if m.Match != series.ByName || m.Note != "" {
				continue
			}
			compared++
			where := ""
			if text := series.LabelText(m.Labels); text != "" {
				where = " (" + text + ")"
			}
			list = append(list, movedValue(m.Metric+where, m.Role, m.Unit, m.Effect, &m.Base.Median, &m.New.Median, m.Change))
		}
	}
	list = slices.DeleteFunc(list, func(v value) bool { return v.effect != series.Worse && v.effect != series.Better })
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
	if i := slices.IndexFunc(list, func(v value) bool { return v.effect == series.Worse }); i >= len(shown) {
		shown = append(slices.Clone(shown), list[i]) // something got worse
	}
	var parts []string
	for _, v := range shown {
		parts = append(parts, v.text)
	}
	return strings.Join(parts, "; ")
}

// settingsText returns the settings of a result.
func settingsText(settings map[string]string) string {
	if text := series.LabelText(settings); text != "" {
		return " (" + text + ")"
	}
	return ""
}

func movedValue(name, role, of, effect string, base, new, change *float64) value {
	v := value{name: name, effect: effect, change: math.Inf(1)}
	// A headline has times, rates, use of resources and failures; the others explain these.
	switch role {
	case "time", "latency", "throughput":
	case "utilization", "queue", "memory", "health":
		v.role = 1
	default:
		v.role = 2
	}
	text := ""
	if change != nil {
		v.change, text = *change, SignedPercent(*change)+", "
	}
	v.text = fmt.Sprintf("%s %s → %s (%s%s)", name, unit.Value(*base, of), unit.Value(*new, of), text, effect)
	return v
}

// SignedPercent prints a relative change with its sign, or as a factor if it is large.
func SignedPercent(change float64) string {
	switch {
	case change >= manyTimes-1:
		return "×" + unit.Count(int64(min(change+1.5, 1e15)))
	case math.IsNaN(change) || math.Abs(change) > 1e9:
		return unit.None
	}
	const parts = 1e9
	return SignedShare(int64(math.Round(change*parts)), parts)
}
