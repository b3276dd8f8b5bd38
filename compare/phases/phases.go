package phases

import (
	"cmp"
	"maps"
	"slices"

	"assay/internal/stat"
	"assay/summary"
	"assay/summary/view/comparability"
)

// The sources of the steps of a side.
const (
	FromTrace = "trace"
	FromLog   = summary.SourceLog
)

// A Comparison has the mean step of both sides, and its phases.
type Comparison struct {
	Steps Steps
	Rows  []Row // the largest delta first
	// Common is true if only steps with the same numbers on both sides are compared, although the
	// sides have other steps too.
	Common bool
	// OneSided is true if only one side has phases, so there are no rows.
	OneSided bool
	// Apart is true if two logs have fewer than three steps in common, so all steps are compared.
	Apart bool
}

// Steps are the steps of both sides on the host. Times are those of the mean step, in ns.
type Steps struct {
	Base    Side  `json:"base"`
	New     Side  `json:"new"`
	DeltaNS int64 `json:"delta_ns"`
}

// A Side describes the steps of one side.
type Side struct {
	From     string `json:"from"` // "trace" or "log"
	Count    int64  `json:"count"`
	WarmUp   int64  `json:"warm_up"`  // number of warm-up steps that are left out
	LeftOut  int64  `json:"left_out"` // number of steps that are left out because the other side does not have them
	MeanNS   int64  `json:"mean_ns"`
	MedianNS int64  `json:"median_ns"`
	MinNS    int64  `json:"min_ns"`
	MaxNS    int64  `json:"max_ns"`

	Runs []float64 `json:"-"` // mean step of each run, in ns
}

// A Row is one phase. The phase "" is the time outside phases.
type Row struct {
	Phase     string `json:"phase"`
	Match     string `json:"match"`      // "name", "new" or "gone"
	BaseCount int64  `json:"base_count"` // number of steps that have it
	NewCount  int64  `json:"new_count"`
	BaseNS    int64  `json:"base_ns"` // ns per step
	NewNS     int64  `json:"new_ns"`
	DeltaNS   int64  `json:"delta_ns"`
}

// A Mean is the mean step of some runs on the host, and its phases.
type Mean struct {
	Steps  Side
	Phases []Time // the longest first, the time outside phases last; they sum to the step
}

// A Time is the time of one phase in a step. The phase "" is the time outside phases.
type Time struct {
	Phase string
	Count int64 // number of steps that have it
	NS    int64 // per step
}

// Of returns the mean step of some runs, or nil if they have no steps.
func Of(runs []comparability.Part) *Mean {
	s := stepsOf(runs)
	if !phased(s.trace) {
		s.preferLogs()
	}
	s.choose()
	if s.leaveWarmUp(); len(s.steps) == 0 {
		return nil
	}
	m := &Mean{Steps: s.describe()}
	if !phased(s.steps) {
		return m
	}
	sums := s.phaseSums()
	names := slices.Sorted(maps.Keys(sums))
	slices.Reverse(names) // the time outside phases gets the last remainder
	of := divide(int64(len(s.steps)))
	for _, name := range names {
		m.Phases = append(m.Phases, Time{name, sums[name].count, of(sums[name].ns)})
	}
	slices.SortStableFunc(m.Phases, func(a, b Time) int {
		last := func(t Time) int { return map[bool]int{true: 1}[t.Phase == ""] }
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(b.NS, a.NS), cmp.Compare(a.Phase, b.Phase))
	})
	return m
}

// OfRL reports whether a phase belongs to a step of reinforcement learning. Such a phase ends when
// its work is done, so its time on the host explains the step. In the phases of a training step
// (forward, backward) the CPU runs ahead of the GPU, so their times do not.
func OfRL(phase string) bool {
	return slices.Contains([]string{"generation", "reward", "log-probs", "advantage", "training", "weight-sync",
		"sleep-wake", "wait"}, phase)
}

// Leads reports whether the phases of the step explain the run, which is so for logs and for phases
// of reinforcement learning.
func (m *Mean) Leads() bool {
	if m == nil || len(m.Phases) == 0 {
		return false
	}
	return m.Steps.From == FromLog || slices.ContainsFunc(m.Phases, func(t Time) bool { return OfRL(t.Phase) })
}

// minCommon is the least number of common steps for which other steps are left out.
const minCommon = 3

// Compare compares the runs of two sides. It returns nil if a side has no steps.
func Compare(base, new []comparability.Part) *Comparison {
	b, n := stepsOf(base), stepsOf(new)
	if len(b.trace) == 0 || len(n.trace) == 0 || len(b.log) > 0 && len(n.log) > 0 &&
		!(phased(b.trace) && phased(n.trace)) {
		b.preferLogs()
		n.preferLogs()
	}
	b.choose()
	n.choose()
	if len(b.steps) == 0 || len(n.steps) == 0 {
		return nil
	}
	c := &Comparison{}
	for _, s := range []*side{b, n} {
		if s.from == FromLog { // in a trace, the user has chosen which steps to record
			s.leaveWarmUp()
		}
	}
	if b.from == FromLog && n.from == FromLog {
		c.Common, c.Apart = common(b, n)
	}
	c.Steps = Steps{Base: b.describe(), New: n.describe()}
	c.Steps.DeltaNS = c.Steps.New.MeanNS - c.Steps.Base.MeanNS
	c.Rows = []Row{}
	switch {
	case phased(b.steps) && phased(n.steps):
		c.Rows = rows(b, n)
	case phased(b.steps) || phased(n.steps):
		c.OneSided = true
	}
	return c
}

// Overlap reports whether the phases of a side exceed its step by more than 1%. Then they ran at
// the same time, and their deltas do not explain the delta of the step.
func (c *Comparison) Overlap() bool {
	for _, r := range c.Rows {
		if r.Phase == "" && (-r.BaseNS > c.Steps.Base.MeanNS/100 || -r.NewNS > c.Steps.New.MeanNS/100) {
			return true
		}
	}
	return false
}

// A step is one step on the host of one rank.
type step struct {
	input, run int // run is an index into the runs of the side
	number     int64
	marker     string
	ns, covers int64
	phases     []summary.StepPhase
}

// A side gathers the steps of one side.
type side struct {
	trace, log []step
	from       string
	steps      []step
	logsFirst  bool
	warm, left int64
}

// stepsOf gathers the steps of some runs. A step of a trace has a row for each device; only the
// first row is used.
func stepsOf(parts []comparability.Part) *side {
	type place struct {
		run, input int
		number     int64
		name       string
		start      int64
	}
	s, seen := &side{}, map[place]bool{}
	for run, p := range parts {
		for _, st := range p.Steps {
			if p.Inputs != nil && !slices.Contains(p.Inputs, st.Input) || st.LaunchesCut > 0 {
				continue
			}
			ns := st.WallNS
			if st.HostNS > 0 {
				ns = st.HostNS
			}
			if at := (place{run, st.Input, st.Number, st.Name, st.StartNS}); st.Source != summary.SourceLog && st.Cut == "" {
				if seen[at] {
					continue
				}
				seen[at] = true
			}
			one := step{st.Input, run, st.Number, st.Marker, ns, st.Covers(), st.Phases}
			switch {
			case ns <= 0:
			case st.Source == summary.SourceLog:
				s.log = append(s.log, one)
			default:
				s.trace = append(s.trace, one)
			}
		}
	}
	return s
}

func phased(list []step) bool {
	return slices.ContainsFunc(list, func(s step) bool { return len(s.phases) > 0 })
}

func (s *side) preferLogs() { s.logsFirst = true }

// choose selects the steps of traces, or of the program that logged the most time.
func (s *side) choose() {
	s.from, s.steps = FromTrace, s.trace
	if len(s.log) == 0 || len(s.trace) > 0 && !s.logsFirst {
		return
	}
	s.from, s.steps = FromLog, nil
	times := map[string]int64{}
	best := ""
	for _, st := range s.log {
		times[st.marker] += st.ns
	}
	for m, ns := range times {
		if _, ok := times[best]; !ok || ns > times[best] || ns == times[best] && m < best {
			best = m
		}
	}
	for _, st := range s.log {
		if st.marker == best {
			s.steps = append(s.steps, st)
		}
	}
}

// leaveWarmUp leaves out first steps that are much longer than the median.
func (s *side) leaveWarmUp() {
	if len(s.steps) == 0 {
		return
	}
	var walls []float64
	var covers []int64
	var starts []int
	for i, st := range s.steps {
		if i == 0 || st.input != s.steps[i-1].input || st.number <= s.steps[i-1].number {
			starts = append(starts, i)
		}
		walls, covers = append(walls, float64(st.ns)), append(covers, st.covers)
	}
	var steady []step
	for i, warm := range stat.WarmUp(walls, covers, starts) {
		if !warm {
			steady = append(steady, s.steps[i])
		}
	}
	s.warm = int64(len(s.steps) - len(steady))
	s.steps = steady
}

// common keeps the steps whose numbers both sides have, if there are enough.
func common(a, b *side) (restricted, apart bool) {
	inA, inB := a.numbers(), b.numbers()
	n := 0
	for k := range inA {
		if inB[k] {
			n++
		}
	}
	if n < minCommon {
		return false, len(inA) >= minCommon && len(inB) >= minCommon
	}
	if n == len(inA) && n == len(inB) {
		return false, false
	}
	a.keep(inB)
	b.keep(inA)
	return true, false
}

func (s *side) numbers() map[int64]bool {
	out := map[int64]bool{}
	for _, st := range s.steps {
		out[st.number] = true
	}
	return out
}

func (s *side) keep(numbers map[int64]bool) {
	n := len(s.steps)
	s.steps = slices.DeleteFunc(slices.Clone(s.steps), func(st step) bool { return !numbers[st.number] })
	s.left = int64(n - len(s.steps))
}

func (s *side) describe() Side {
	d := Side{From: s.from, Count: int64(len(s.steps)), WarmUp: s.warm, LeftOut: s.left}
	var walls []int64
	type key struct{ run, input int }
	sums, counts := map[key]float64{}, map[key]float64{}
	var order []key
	total := int64(0)
	for _, st := range s.steps {
		walls = append(walls, st.ns)
		total += st.ns
		k := key{run: st.run}
		if s.from == FromLog { // each log is a run
			k.input = st.input
		}
		if counts[k] == 0 {
			order = append(order, k)
		}
		sums[k], counts[k] = sums[k]+float64(st.ns), counts[k]+1
	}
	for _, k := range order {
		d.Runs = append(d.Runs, sums[k]/counts[k])
	}
	slices.Sort(walls)
	n := len(walls)
	d.MeanNS, d.MedianNS, d.MinNS, d.MaxNS = total/int64(n), stat.Median(walls), walls[0], walls[n-1]
	return d
}

// A sum is a phase of one side.
type sum struct{ count, ns int64 }

// phaseSums adds up the phases of the steps, and the time outside phases.
func (s *side) phaseSums() map[string]sum {
	out := map[string]sum{}
	total, inside := int64(0), int64(0)
	for _, st := range s.steps {
		total += st.ns
		for _, p := range st.phases {
			v := out[p.Name]
			out[p.Name] = sum{v.count + 1, v.ns + max(0, p.NS)}
			inside += max(0, p.NS)
		}
	}
	out[""] = sum{int64(len(s.steps)), total - inside}
	return out
}

func rows(base, new *side) []Row {
	b, n := base.phaseSums(), new.phaseSums()
	var names []string
	for name := range b {
		names = append(names, name)
	}
	for name := range n {
		if _, ok := b[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	slices.Reverse(names) // the time outside phases gets the last remainder
	ofBase, ofNew := divide(int64(len(base.steps))), divide(int64(len(new.steps)))
	var out []Row
	for _, name := range names {
		vb, inBase := b[name]
		vn, inNew := n[name]
		r := Row{Phase: name, Match: "name", BaseCount: vb.count, NewCount: vn.count, BaseNS: ofBase(vb.ns),
			NewNS: ofNew(vn.ns)}
		switch {
		case !inBase:
			r.Match = "new"
		case !inNew:
			r.Match = "gone"
		}
		r.DeltaNS = r.NewNS - r.BaseNS
		out = append(out, r)
	}
	slices.SortFunc(out, func(x, y Row) int {
		return cmp.Or(cmp.Compare(size(y.DeltaNS), size(x.DeltaNS)), cmp.Compare(y.NewNS, x.NewNS),
			cmp.Compare(x.Phase, y.Phase))
	})
	return out
}

// divide returns a function that divides one sum after the other by a number of steps and carries
// the remainders, so that the results sum to the divided total.
func divide(steps int64) func(ns int64) int64 {
	var all, done int64
	return func(ns int64) int64 {
		all = summary.Plus(all, ns)
		part := floorDiv(all, steps) - done
		done += part
		return part
	}
}

// floorDiv divides and rounds down; the time outside phases is negative if phases overlap.
func floorDiv(a, n int64) int64 {
	q := a / n
	if a%n < 0 {
		q--
	}
	return q
}

func size(ns int64) int64 { return max(ns, -ns) }
