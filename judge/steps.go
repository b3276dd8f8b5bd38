package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// A StepState says whether a step counts in medians.
type StepState string

// The states of steps. Steady and slow ones count.
const (
	StepSteady StepState = "steady"
	StepSlow   StepState = "slow"    // far over the median
	StepWarmUp StepState = "warm-up" // of the first ones, and far over the median, or doing what programs do once
	StepEdge   StepState = "edge"    // the first or last one, and far under the median, as one that the capture cuts
)

// counts reports whether a step in this state counts in medians.
func (s StepState) counts() bool { return s == StepSteady || s == StepSlow }

// A StepGroup is the steps of one kind on all devices.
type StepGroup struct {
	Marker string `json:"marker"`         // who marks them
	Kind   string `json:"kind,omitempty"` // "prefill", "decode", ...

	// How many there are, by state: a step counts once on each device.
	Steps  int64 `json:"steps"`
	Slow   int64 `json:"slow,omitempty"`
	WarmUp int64 `json:"warm_up,omitempty"`
	Edge   int64 `json:"edge,omitempty"`

	// Of those that count: the median of their lengths, the median of how far they
	// are from it, the shortest and the longest.
	MedianNS int64 `json:"median_ns"`
	SpreadNS int64 `json:"spread_ns"`
	MinNS    int64 `json:"min_ns"`
	MaxNS    int64 `json:"max_ns"`

	Activity summary.Activity `json:"activity"` // of those that count, added up

	// Bound is what bounds the median one of them, as of a Verdict; "" if too few
	// count. Share is the share of it that decided.
	Bound string  `json:"bound,omitempty"`
	Share float64 `json:"share,omitempty"`
}

// A stepGroup is a group with its steps.
type stepGroup struct {
	StepGroup
	steps []int // indices of Summary.Steps that count, by start
}

// A stepSeries is the steps of one kind on one device, by start.
type stepSeries []int

// sortSteps finds the state of every step and groups steps by kind, the group
// with the most time first.
func (c *court) sortSteps() ([]StepState, []stepGroup) {
	if len(c.Steps) == 0 {
		return nil, nil
	}
	type key struct {
		deviceKey
		marker, kind string
	}
	var keys []key
	series := map[key]stepSeries{}
	for i, st := range c.Steps {
		k := key{c.deviceOf(i), st.Marker, st.Kind}
		if series[k] == nil {
			keys = append(keys, k)
		}
		series[k] = append(series[k], i)
	}
	states := make([]StepState, len(c.Steps))
	groups := map[[2]string]*stepGroup{}
	var out []stepGroup
	for _, k := range keys {
		c.sortSeries(series[k], states)
		of := [2]string{k.marker, k.kind}
		if groups[of] == nil {
			groups[of] = &stepGroup{StepGroup: StepGroup{Marker: k.marker, Kind: k.kind}}
		}
		groups[of].add(c.Steps, series[k], states)
	}
	for _, g := range groups {
		g.measure(c.Steps)
		c.boundOf(g)
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b stepGroup) int {
		return cmp.Or(cmp.Compare(b.Activity.Window(), a.Activity.Window()), cmp.Compare(a.Marker, b.Marker), cmp.Compare(a.Kind, b.Kind))
	})
	return states, out
}

// sortSeries finds the states of the steps of one kind on one device, which
// follow each other. What is far over the median, or under it, is a question that
// takes a few steps.
func (c *court) sortSeries(series stepSeries, states []StepState) {
	for _, i := range series {
		states[i] = StepSteady
	}
	rule := c.rules[RuleWarmUpSteps]
	if int64(len(series)) < rule.MinEvents {
		return
	}
	middle := medianOf(series, func(i int) int64 { return c.Steps[i].WallNS })
	over := func(i int, margin float64) bool {
		return float64(c.Steps[i].WallNS-middle) >= margin*float64(middle) && c.Steps[i].WallNS > middle
	}
	under := func(i int) bool {
		return float64(middle-c.Steps[i].WallNS) >= rule.Margin*float64(middle) && c.Steps[i].WallNS < middle
	}
	allocs := medianOf(series, func(i int) int64 { return c.Steps[i].Allocs })
	loads := medianOf(series, func(i int) int64 { return c.Steps[i].Loads })
	once := func(i int) bool {
		return allocs == 0 && c.Steps[i].Allocs > 0 || loads == 0 && c.Steps[i].Loads > 0
	}
	first, last := 0, len(series)-1
	// Half of the steps cannot be warm-up: the median would be theirs.
	for first < len(series)/2 && (over(series[first], rule.Margin) || once(series[first])) {
		states[series[first]] = StepWarmUp
		first++
	}
	for _, i := range series[first:] {
		if over(i, c.rules[RuleSlowSteps].Margin) {
			states[i] = StepSlow
		}
	}
	// Only what ends where the capture does can be cut by it. Prefill and decode
	// steps differ in length for other reasons.
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

// measure finds median and spread.
func (g *stepGroup) measure(steps []summary.Step) {
	wall := func(i int) int64 { return steps[i].WallNS }
	g.MedianNS = medianOf(g.steps, wall)
	g.SpreadNS = medianOf(g.steps, func(i int) int64 { return max(wall(i)-g.MedianNS, g.MedianNS-wall(i)) })
	for n, i := range g.steps {
		if n == 0 {
			g.MinNS = wall(i)
		}
		g.MinNS, g.MaxNS = min(g.MinNS, wall(i)), max(g.MaxNS, wall(i))
	}
}

// boundOf asks of the median step what is asked of a window.
func (c *court) boundOf(g *stepGroup) {
	if int64(len(g.steps)) < c.rules[RuleSteadySteps].MinEvents {
		return
	}
	g.Bound, g.Share = c.bound(func(p part) float64 {
		return middleShare(len(g.steps), func(n int) (int64, int64) {
			a := c.Steps[g.steps[n]].Activity
			return p.time(a), a.Window()
		})
	})
}

// bound returns what bounds something whose shares are given, in the order of
// precedence of the verdict, and the share that decided.
func (c *court) bound(share func(part) float64) (string, float64) {
	worst, most := "", 0.0
	for _, p := range parts() {
		s := share(p)
		switch level, _, ok := c.rules[p.rule].level(s); {
		case !ok:
		case level == Critical:
			return p.bound, s
		case s > most:
			worst, most = p.bound, s
		}
	}
	if worst != "" {
		return worst, most
	}
	compute := share(computePart())
	for _, p := range parts() {
		if share(p) > compute {
			return "mixed", compute
		}
	}
	return "compute", compute
}

// medianOf returns the median of a figure of the steps, of an even number the
// mean of the two in the middle; 0 of none.
func medianOf(steps []int, of func(int) int64) int64 {
	if len(steps) == 0 {
		return 0
	}
	all := make([]int64, len(steps))
	for n, i := range steps {
		all[n] = of(i)
	}
	slices.Sort(all)
	a, b := all[(len(all)-1)/2], all[len(all)/2]
	return a + (b-a)/2
}

// middleShare returns the median of n shares.
func middleShare(n int, at func(int) (num, den int64)) float64 {
	if n == 0 {
		return 0
	}
	all := make([]float64, n)
	for i := range n {
		num, den := at(i)
		all[i] = float64(num) / float64(max(1, den))
	}
	slices.Sort(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// judgeSteps says what steps tell beyond the window.
func (c *court) judgeSteps(states []StepState, groups []stepGroup, window Verdict) (out []Finding) {
	if len(groups) == 0 {
		return nil
	}
	for _, ask := range []func() (Finding, bool){
		func() (Finding, bool) { return c.warmUpSteps(states) },
		func() (Finding, bool) { return c.slowSteps(states, groups) },
		func() (Finding, bool) { return c.unevenSteps(groups[0]) },
		func() (Finding, bool) { return c.steadySteps(groups[0], window) },
	} {
		if f, ok := ask(); ok {
			out = append(out, f)
		}
	}
	return out
}

// warmUpSteps says which steps are left out of medians.
func (c *court) warmUpSteps(states []StepState) (Finding, bool) {
	var all, left int64
	var lines []string
	var where []Place
	warm, edge := int64(0), int64(0)
	for i, st := range c.Steps {
		all = summary.Plus(all, st.WallNS)
		if states[i].counts() {
			continue
		}
		left = summary.Plus(left, st.WallNS)
		why := "as one that begins before the capture or ends after it"
		if states[i] == StepEdge {
			edge++
		} else {
			warm++
			if why = "far over the median"; st.Loads+st.Allocs > 0 {
				why = fmt.Sprintf("with %s that load code and %s for memory of the device", plural(st.Loads, "call"), plural(st.Allocs, "call"))
			}
		}
		where = append(where, c.stepPlace(i))
		if len(lines) < 3 {
			lines = append(lines, fmt.Sprintf("%s on %s took %s, %s", shortStep(st), c.device(st.Input, st.Rank, st.Device), unit.Duration(st.WallNS), why))
		}
	}
	if left == 0 {
		return Finding{}, false
	}
	f, limit, ok := measured(c.rules[RuleWarmUpSteps], left, all)
	if !ok {
		return Finding{}, false
	}
	var which []string
	if warm > 0 {
		which = append(which, plural(warm, "step")+" of warm-up")
	}
	if edge > 0 {
		which = append(which, plural(edge, "short step")+" at the edge of the capture")
	}
	verb := "take"
	if warm+edge == 1 {
		verb = "takes"
	}
	f.Title = fmt.Sprintf("%s %s %s of the time of all steps (%s)", strings.Join(which, " and "), verb, unit.Share(left, all), fraction(left, all))
	if f.Level > Info {
		f.Title += ", " + reaches(f, limit)
	}
	f.Title += ", and medians leave that out"
	f.Evidence, f.Where = lines, longest(where)
	f.Next = []Step{advise("leave-out-warm-up-steps")}
	return f, true
}

// shortStep names a step by its number where its name is long, as that of a
// batch with all its requests is.
func shortStep(st summary.Step) string {
	if len(st.Name) > 40 {
		return fmt.Sprintf("%s step %d", st.Kind, st.Number)
	}
	return fmt.Sprintf("%q (number %d)", st.Name, st.Number)
}

// unevenSteps asks whether the steps with the most time fluctuate.
func (c *court) unevenSteps(g stepGroup) (Finding, bool) {
	rule := c.rules[RuleUnevenSteps]
	if int64(len(g.steps)) < rule.MinEvents || g.MedianNS == 0 || g.Kind != "" {
		return Finding{}, false // batches differ in size
	}
	spread := c.spreadOfEach(g)
	f, limit, ok := measured(rule, spread, g.MedianNS)
	if !ok {
		return Finding{}, false
	}
	f.Level, limit = rule.tempered(f.Level, limit, int64(len(g.steps)))
	f.Title = fmt.Sprintf("steps are uneven: half of them are %s or more off the median step (%s), %s", unit.Share(spread, g.MedianNS), fraction(spread, g.MedianNS), reaches(f, limit))
	f.Evidence = []string{fmt.Sprintf("%s from %s to %s", plural(int64(len(g.steps)), "step"), unit.Duration(g.MinNS), unit.Duration(g.MaxNS))}
	for _, i := range g.steps {
		f.Where = append(f.Where, c.stepPlace(i))
	}
	f.Where = longest(f.Where)
	f.Next = []Step{advise("find-the-phase-that-varies"), advise("sort-by-length")}
	return f, true
}

// spreadOfEach returns the median of how far steps are from the median of their own
// device: where one rank is slower than another, each may be as even as can be.
func (c *court) spreadOfEach(g stepGroup) int64 {
	wall := func(i int) int64 { return c.Steps[i].WallNS }
	byDevice, medians := map[deviceKey][]int{}, map[deviceKey]int64{}
	for _, i := range g.steps {
		byDevice[c.deviceOf(i)] = append(byDevice[c.deviceOf(i)], i)
	}
	for d, steps := range byDevice {
		medians[d] = medianOf(steps, wall)
	}
	return medianOf(g.steps, func(i int) int64 { return max(wall(i)-medians[c.deviceOf(i)], medians[c.deviceOf(i)]-wall(i)) })
}

// steadySteps says so where steps are bound by something else than the window.
func (c *court) steadySteps(g stepGroup, window Verdict) (Finding, bool) {
	if window.Bound == "memory" {
		window.Bound = "compute" // of a kind that no step is asked for
	}
	if g.Bound == "" || g.Bound == window.Bound || window.Bound == "unknown" || g.Bound == "mixed" {
		return Finding{}, false
	}
	f := Finding{Rule: RuleSteadySteps, Level: Info, Value: g.Share}
	f.Title = fmt.Sprintf("the median step is %s, and the window is %s: %s take %s of the %s of the windows", boundWords(g.Bound), boundWords(window.Bound),
		plural(int64(len(g.steps)), "step"), unit.Duration(g.Activity.Window()), unit.Duration(c.total.Window()))
	for _, p := range append(parts(), computePart()) {
		s := middleShare(len(g.steps), func(n int) (int64, int64) {
			a := c.Steps[g.steps[n]].Activity
			return p.time(a), a.Window()
		})
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s is %s of the median step", p.what, percent(s)))
	}
	f.Next = []Step{advise("choose-window-or-steps")}
	return f, true
}

// boundWords says in words what bounds something.
func boundWords(bound string) string {
	switch bound {
	case "host", "communication", "compute":
		return bound + "-bound"
	case "copies":
		return "copy-bound"
	case "mixed":
		return "bound by nothing that stands out"
	}
	return bound
}

// criticalSteps is how many steps it takes to call something critical: one of
// five may be chance.
const criticalSteps = 20

// tempered returns a level and its limit, or those of a warning where the steps
// are too few for more.
func (r Rule) tempered(level Level, limit float64, steps int64) (Level, float64) {
	if level == Critical && steps < criticalSteps && r.Warn > 0 {
		return Warn, r.Warn
	}
	return level, limit
}

// plain returns the groups without their steps.
func plain(groups []stepGroup) (out []StepGroup) {
	for _, g := range groups {
		out = append(out, g.StepGroup)
	}
	return out
}

// percent prints a share that is the median of several, and so has no fraction,
// as others are printed.
func percent(share float64) string { return unit.Share(int64(share*1e12), 1e12) }
