package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A StepState says whether a step counts in medians.
type StepState string

// The states of steps. Steady and slow ones count.
const (
	StepSteady StepState = "steady"
	StepSlow   StepState = "slow"    // far over the median
	StepWarmUp StepState = "warm-up" // one of the first steps, far over the median or with work that programs do only once
	StepEdge   StepState = "edge"    // a partial step: the first or last one, far under the median
)

// counts reports whether a step in this state counts in medians.
func (s StepState) counts() bool { return s == StepSteady || s == StepSlow }

// A StepGroup adds up the steps of one kind on all GPUs.
type StepGroup struct {
	Marker string `json:"marker"`         // the tool that marks them
	Kind   string `json:"kind,omitempty"` // "prefill", "decode", ...

	// Numbers of steps by state. A step counts once per GPU.
	Steps  int64 `json:"steps"`
	Slow   int64 `json:"slow,omitempty"`
	WarmUp int64 `json:"warm_up,omitempty"`
	Edge   int64 `json:"edge,omitempty"`

	// Times of the steps that count: median, median absolute deviation, minimum and maximum.
	MedianNS int64 `json:"median_ns"`
	SpreadNS int64 `json:"spread_ns"`
	MinNS    int64 `json:"min_ns"`
	MaxNS    int64 `json:"max_ns"`

	// Sequences is the median number of sequences of the steps whose markers contain it. TokensPerS has the
	// tokens that the steps compute over their time, on one GPU or group of GPUs: of decode steps one for each
	// sequence; 0 if they are not known for all. BetweenNS is the median time from one of them to the next, if
	// no other step is between. Batches are the steps by their number of sequences.
	Sequences  int64       `json:"sequences,omitempty"`
	TokensPerS float64     `json:"tokens_per_s,omitempty"`
	BetweenNS  *int64      `json:"between_ns,omitempty"`
	Batches    []StepBatch `json:"batches,omitempty"`

	Activity summary.Activity `json:"activity"` // sum over the steps that count

	// Bound is the bottleneck of the median step, as in a Verdict; "" if too few steps count. Share
	// is the share of the step that decided.
	Bound finding.Bound `json:"bound,omitempty"`
	Share float64       `json:"share,omitempty"`
}

// A stepGroup is a group with its steps.
type stepGroup struct {
	StepGroup
	steps []int // indices of Summary.Steps that count, ordered by start
}

// A stepSeries has the steps of one kind on one GPU, ordered by start.
type stepSeries []int

// sortSteps returns the state of every step, and the steps grouped by kind, the group with the most
// time first.
func sortSteps(c *Evaluator) ([]StepState, []stepGroup) {
	if len(c.Steps) == 0 {
		return nil, nil
	}
	type key struct {
		summary.GPU
		marker, kind string
	}
	var keys []key
	series := map[key]stepSeries{}
	for i, st := range c.Steps {
		k := key{deviceOf(c, i), st.Marker, st.Kind}
		if series[k] == nil {
			keys = append(keys, k)
		}
		series[k] = append(series[k], i)
	}
	states := make([]StepState, len(c.Steps))
	groups := map[[2]string]*stepGroup{}
	var out []stepGroup
	for _, k := range keys {
		sortSeries(c, series[k], states)
		of := [2]string{k.marker, k.kind}
		if groups[of] == nil {
			groups[of] = &stepGroup{StepGroup: StepGroup{Marker: k.marker, Kind: k.kind}}
		}
		groups[of].add(c.Steps, series[k], states)
	}
	for _, g := range groups {
		g.measure(c.Steps)
		g.measureBatches(c.Steps)
		boundOf(c, g)
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b stepGroup) int {
		return cmp.Or(cmp.Compare(b.Activity.Window(), a.Activity.Window()), cmp.Compare(a.Marker, b.Marker),
			cmp.Compare(a.Kind, b.Kind))
	})
	return states, out
}

// sortSeries sets the states of the steps of one kind on one GPU, ordered by start. In a short
// series all steps are steady, because its median says little.
func sortSeries(c *Evaluator, series stepSeries, states []StepState) {
	for _, i := range series {
		states[i] = StepSteady
	}
	whole := slices.DeleteFunc(slices.Clone(series), func(i int) bool { return c.Steps[i].LaunchesCut > 0 })
	if len(whole) > 0 && len(whole) < len(series) { // steps with cut launches would distort the median
		for _, i := range series {
			states[i] = StepEdge
		}
		sortSeries(c, whole, states)
		return
	}
	limits := c.Limits[rule.WarmUpSteps]
	if int64(len(series)) < limits.MinEvents {
		return
	}
	middle := stat.MedianBy(series, func(i int) int64 { return c.Steps[i].WallNS })
	over := func(i int, margin float64) bool {
		return float64(c.Steps[i].WallNS-middle) >= margin*float64(middle) && c.Steps[i].WallNS > middle
	}
	under := func(i int) bool {
		return float64(middle-c.Steps[i].WallNS) >= limits.Margin*float64(middle) && c.Steps[i].WallNS < middle
	}
	allocs := stat.MedianBy(series, func(i int) int64 { return c.Steps[i].Allocs })
	loads := stat.MedianBy(series, func(i int) int64 { return c.Steps[i].Loads })
	hasOneTimeWork := func(i int) bool {
		return allocs == 0 && c.Steps[i].Allocs > 0 || loads == 0 && c.Steps[i].Loads > 0
	}
	first, last := 0, len(series)-1
	// At most half of the steps are warm-up, because otherwise the median is one of them.
	for first < len(series)/2 && (over(series[first], limits.Margin) || hasOneTimeWork(series[first])) {
		states[series[first]] = StepWarmUp
		first++
	}
	for _, i := range series[first:] {
		if over(i, c.Limits[rule.SlowSteps].Margin) {
			states[i] = StepSlow
		}
	}
	// Only the first and last step can be cut by the capture. The lengths of prefill and decode
	// steps differ for other reasons.
	if c.Steps[series[0]].Kind == "" {
		if first == 0 && under(series[0]) {
			states[series[0]] = StepEdge
		}
		if under(series[last]) {
			states[series[last]] = StepEdge
		}
	}
}

func (g *stepGroup) add(steps []summary.Step, series stepSeries, states []StepState) {
	for _, i := range series {
		g.Steps++
		switch states[i] {
		case StepSlow:
			g.Slow++
		case StepWarmUp:
			g.WarmUp++
		case StepEdge:
			g.Edge++
		}
		if states[i].counts() {
			g.steps = append(g.steps, i)
			g.Activity = g.Activity.Plus(steps[i].Activity)
		}
	}
}

// measure sets median, deviation, minimum and maximum.
func (g *stepGroup) measure(steps []summary.Step) {
	wall := func(i int) int64 { return steps[i].WallNS }
	g.MedianNS = stat.MedianBy(g.steps, wall)
	g.SpreadNS = stat.MedianBy(g.steps, func(i int) int64 { return max(wall(i)-g.MedianNS, g.MedianNS-wall(i)) })
	for n, i := range g.steps {
		if n == 0 {
			g.MinNS = wall(i)
		}
		g.MinNS, g.MaxNS = min(g.MinNS, wall(i)), max(g.MaxNS, wall(i))
	}
}

// boundOf evaluates the median step like a window.
func boundOf(c *Evaluator, g *stepGroup) {
	if int64(len(g.steps)) < c.Limits[rule.SteadySteps].MinEvents || mayBeUnrecorded(c, g.Activity) {
		return
	}
	g.Bound, g.Share = bound(c, func(p part) float64 {
		return stat.MedianBy(g.steps, func(i int) float64 {
			a := c.Steps[i].Activity
			return shareOfWhole(p.time(a), a.Window())
		})
	})
	g.Bound = ofDecode(c, g.Kind, g.Bound)
}

// bound returns the bottleneck for the given shares by the rules of the verdict, and the share that
// decided.
func bound(c *Evaluator, share func(part) float64) (finding.Bound, float64) {
	worst, most := finding.Bound(""), 0.0
	for _, p := range parts() {
		if _, _, ok := c.Limits[p.rule].Level(share(p)); ok && share(p) > most {
			worst, most = p.boundOf(c), share(p)
		}
	}
	if worst != "" {
		return worst, most
	}
	compute := share(computing())
	for _, p := range parts() {
		if share(p) > compute {
			return finding.BoundMixed, compute
		}
	}
	return finding.BoundCompute, compute
}

// busyBound returns a bound without what limits the kernels of a busy GPU.
func busyBound(b finding.Bound) finding.Bound {
	if b == finding.BoundMemory || b == finding.BoundGPU {
		return finding.BoundCompute
	}
	return b
}

// shareOfWhole returns num / den; an empty whole counts as 1.
func shareOfWhole(num, den int64) float64 { return float64(num) / float64(max(1, den)) }

// warmUpSteps reports the steps that medians leave out.
func (c *Evaluator) warmUpSteps() (finding.Finding, bool) {
	var all, left int64
	var lines []string
	var where []finding.Place
	warm, edge := int64(0), int64(0)
	for i, st := range c.Steps {
		all += st.WallNS
		if c.states[i].counts() {
			continue
		}
		left += st.WallNS
		why := "partial: it begins before the capture or ends after it"
		if c.states[i] == StepEdge {
			edge++
		} else {
			warm++
			if why = "far over the median"; st.Loads+st.Allocs > 0 {
				why = fmt.Sprintf("with %s that load code and %s that allocate GPU memory", label.Plural(st.Loads, "call"),
					label.Plural(st.Allocs, "call"))
			}
		}
		where = append(where, stepPlace(c, i))
		if len(lines) < 3 {
			lines = append(lines, fmt.Sprintf("%s on %s: %s, %s", shortStep(st), c.Device(st.Input, st.Rank, st.Device),
				unit.Duration(st.WallNS), why))
		}
	}
	if left == 0 {
		return finding.Finding{}, false
	}
	f, limit, ok := rule.Measured(c.Limits[rule.WarmUpSteps], left, all)
	if !ok {
		return finding.Finding{}, false
	}
	var which []string
	if warm > 0 {
		which = append(which, label.Plural(warm, "warm-up step"))
	}
	if edge > 0 {
		which = append(which, label.Plural(edge, "partial step"))
	}
	f.Title = fmt.Sprintf("%s: %s of the time of all steps (%s)", finding.Upper(strings.Join(which, " and ")),
		unit.Share(left, all), unit.DurationOf(left, all))
	if f.Level > finding.Info {
		f.Title += rule.Over(limit)
	}
	f.Evidence, f.Where = append(lines, "medians of steps leave these steps out"), finding.Longest(where)
	f.Next = []finding.Step{finding.Advise("leave-out-warm-up-steps")}
	return f, true
}

// shortStep returns the name of a step, or its number if the name is long: batches can be named
// after all their requests.
func shortStep(st summary.Step) string {
	if len(st.Name) > 40 {
		return fmt.Sprintf("%s step %d", st.Kind, st.Number)
	}
	return fmt.Sprintf("%q (number %d)", st.Name, st.Number)
}

// unevenSteps judges how much the time of the largest group of steps varies.
func (c *Evaluator) unevenSteps() (finding.Finding, bool) {
	if len(c.groups) == 0 {
		return finding.Finding{}, false
	}
	limits, g := c.Limits[rule.UnevenSteps], c.groups[0]
	if int64(len(g.steps)) < limits.MinEvents || g.MedianNS == 0 || g.Kind != "" {
		return finding.Finding{}, false // batches differ in size
	}
	spread := spreadOfEach(c, g)
	f, limit, ok := rule.Measured(limits, spread, g.MedianNS)
	if !ok {
		return finding.Finding{}, false
	}
	f.Level, limit = limits.Tempered(f.Level, limit, int64(len(g.steps)))
	f.Title = fmt.Sprintf("Step time varies: MAD %s of the median (%s)", unit.Share(spread, g.MedianNS),
		unit.DurationOf(spread, g.MedianNS)) + rule.Over(limit)
	f.Evidence = []string{fmt.Sprintf("%s: %s to %s", label.Plural(int64(len(g.steps)), "step"), unit.Duration(g.MinNS),
		unit.Duration(g.MaxNS))}
	for _, i := range g.steps {
		f.Where = append(f.Where, stepPlace(c, i))
	}
	f.Where = finding.Longest(f.Where)
	f.Next = []finding.Step{finding.Advise("find-the-phase-that-varies"), finding.Advise("sort-by-length")}
	return f, true
}

// spreadOfEach returns the median absolute deviation in ns of steps from the median of their own
// GPU, so that one slow rank is not taken for variation.
func spreadOfEach(c *Evaluator, g stepGroup) int64 {
	wall := func(i int) int64 { return c.Steps[i].WallNS }
	byDevice, medians := map[summary.GPU][]int{}, map[summary.GPU]int64{}
	for _, i := range g.steps {
		byDevice[deviceOf(c, i)] = append(byDevice[deviceOf(c, i)], i)
	}
	for d, steps := range byDevice {
		medians[d] = stat.MedianBy(steps, wall)
	}
	return stat.MedianBy(g.steps, func(i int) int64 {
		return max(wall(i)-medians[deviceOf(c, i)],
			medians[deviceOf(c, i)]-wall(i))
	})
}

// steadySteps reports that the bottleneck of the median step differs from that of the window.
func (c *Evaluator) steadySteps(window finding.Verdict) (finding.Finding, bool) {
	if len(c.groups) == 0 {
		return finding.Finding{}, false
	}
	g := c.groups[0]
	g.Bound, window.Bound = busyBound(g.Bound), busyBound(window.Bound)
	if g.Bound == "" || g.Bound == window.Bound || window.Bound == finding.BoundUnknown || g.Bound == finding.BoundMixed {
		return finding.Finding{}, false
	}
	f := finding.Finding{Rule: rule.SteadySteps, Level: finding.Info, Value: g.Share}
	f.Title = fmt.Sprintf("The median step is %s; the whole window is %s", g.Bound.Is(), window.Bound.Is())
	f.Evidence = []string{fmt.Sprintf("%s: %s of %s (%s)", label.Plural(int64(len(g.steps)), "step"),
		unit.Share(g.Activity.Window(), c.Total.Window()),
		c.WindowWhole(), unit.DurationOf(g.Activity.Window(), c.Total.Window()))}
	for _, p := range append(parts(), computing()) {
		s := stat.MedianBy(g.steps, func(i int) float64 {
			a := c.Steps[i].Activity
			return shareOfWhole(p.time(a), a.Window())
		})
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s of the median step", p.what, percent(s)))
	}
	f.Next = []finding.Step{finding.Advise("choose-window-or-steps")}
	return f, true
}

// plain returns the groups without their steps.
func plain(groups []stepGroup) (out []StepGroup) {
	for _, g := range groups {
		out = append(out, g.StepGroup)
	}
	return out
}

// percent formats a share that is a median, and so has no numerator and denominator, like other
// shares.
func percent(share float64) string { return unit.Share(int64(share*1e12), 1e12) }
