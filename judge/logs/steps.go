package logs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A stepSeries has the steps that one program logged, in their order. Times are in ns.
type stepSeries struct {
	steps  []summary.Step
	warm   []bool // by step: it is one of the first after a start and far over the median
	starts []int  // index of the first step of each start of the program
	median float64
	mad    float64 // of steps without warm-up, like median
}

// stepsOf returns the steps of one input by the program that logged them. A step number that does
// not increase is taken for the first step after another start.
func stepsOf(s *summary.Summary, input int) (out []stepSeries) {
	index := map[string]int{}
	for _, st := range s.Steps {
		if st.Source != summary.SourceLog || st.Input != input || st.WallNS <= 0 {
			continue
		}
		key := fmt.Sprintf("%d %s", st.Rank, st.Marker)
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, stepSeries{})
		}
		list := &out[i]
		if n := len(list.steps); n == 0 || st.Number <= list.steps[n-1].Number {
			list.starts = append(list.starts, n)
		}
		list.steps = append(list.steps, st)
	}
	for i := range out {
		out[i].measure()
	}
	return out
}

// measure finds the warm-up, then the median of the other steps.
func (s *stepSeries) measure() {
	all, covers := make([]float64, len(s.steps)), make([]int64, len(s.steps))
	for i := range s.steps {
		all[i], covers[i] = float64(s.steps[i].WallNS), s.steps[i].Covers()
	}
	s.warm = stat.WarmUp(all, covers, s.starts)
	steady := s.steady()
	s.median, s.mad = stat.MAD(steady)
}

// steady returns the times of the steps without warm-up.
func (s *stepSeries) steady() (out []float64) {
	for i, st := range s.steps {
		if !s.warm[i] {
			out = append(out, float64(st.WallNS))
		}
	}
	return out
}

// longest returns the series with the most time, or nil if it has fewer than n steady steps.
func (in *input) longest(n int64) *stepSeries {
	best, most := -1, 0.0
	for i := range in.steps {
		if t := in.steps[i].median * float64(len(in.steps[i].steps)); t > most {
			best, most = i, t
		}
	}
	if best < 0 || int64(len(in.steps[best].steady())) < n {
		return nil
	}
	return &in.steps[best]
}

func duration(v float64) string { return unit.Duration(int64(math.Round(v))) }

// total returns the time of all steps.
func (s *stepSeries) total() (sum int64) {
	for i := range s.steps {
		sum = summary.Plus(sum, times(s.steps[i].WallNS, s.steps[i].Covers()))
	}
	return sum
}

// times returns a time that passes n times, limited to what sums of times can have.
func times(ns, n int64) int64 {
	if ns > 0 && n > math.MaxInt64/4/ns {
		return math.MaxInt64 / 4
	}
	return ns * n
}

// count names the steps: "7 steps", or "7 records of 10 steps" if each has several.
func (s *stepSeries) count() string {
	for i := range s.steps {
		if n := s.steps[len(s.steps)-1-i].Covers(); n > 1 {
			return fmt.Sprintf("%s of %s", label.Plural(int64(len(s.steps)), "record"), label.Plural(n, "step"))
		}
	}
	return label.Plural(int64(len(s.steps)), "step")
}

// warmUp reports that first steps are left out of medians.
func (e *Evaluator) warmUp(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.WarmUpSteps]
	s := in.longest(limits.MinEvents)
	if s == nil {
		return finding.Finding{}, false
	}
	ns, n := s.warmUpTime()
	if n == 0 {
		return finding.Finding{}, false
	}
	f, _, ok := rule.Measured(limits, ns, s.total())
	f.Level = finding.Info // its share falls if the run is longer
	f.Title = fmt.Sprintf("Warm-up: %s of the time of all steps (%s)", unit.Share(ns, s.total()),
		unit.DurationOf(ns, s.total()))
	f.Evidence = []string{fmt.Sprintf("%s of warm-up, the longest %s; median of the others %s",
		label.Plural(int64(n), "step"), unit.Duration(s.longestWarm()), duration(s.median))}
	f.Next = []finding.Step{finding.Advise("cache-compiled-code")}
	return f, ok
}

// warmUpTime returns the time of the steps that are warm-up, and their number. Of a record of several steps, what
// it has over the median counts as that of one step.
func (s *stepSeries) warmUpTime() (ns int64, n int) {
	for i := range s.steps {
		if s.warm[i] {
			ns, n = summary.Plus(ns, s.warmUpOf(i)), n+1
		}
	}
	return ns, n
}

func (s *stepSeries) warmUpOf(i int) int64 {
	st := &s.steps[i]
	if st.Covers() == 1 {
		return st.WallNS
	}
	return times(st.WallNS-int64(s.median), st.Covers()) + int64(s.median)
}

func (s *stepSeries) longestWarm() (ns int64) {
	for i := range s.steps {
		if s.warm[i] {
			ns = max(ns, s.warmUpOf(i))
		}
	}
	return ns
}

// noiseFactor is the least distance of a slow step from the median, in MADs (scaled by 1.4826 to
// standard deviations), so that steps with a naturally varying time are not reported.
const noiseFactor = 4 * 1.4826

// slow returns the indices of slow steps.
func (s *stepSeries) slow(margin float64) (out []int) {
	limit := max(s.median*(1+margin), s.median+noiseFactor*s.mad)
	for i, st := range s.steps {
		if !s.warm[i] && float64(st.WallNS) >= limit {
			out = append(out, i)
		}
	}
	return out
}

// slowSteps reports steps that are far over the median, unless they are periodic.
func (e *Evaluator) slowSteps(in *input) (finding.Finding, bool) {
	f, s, slow, ok := e.slowFinding(in)
	if !ok || s.period(slow) > 0 {
		return f, false
	}
	f.Next = []finding.Step{finding.Advise("compare-the-slowest-logged-step").For("logged-steps")}
	return f, true
}

// slowFinding measures slow steps for both rules about them.
func (e *Evaluator) slowFinding(in *input) (f finding.Finding, s *stepSeries, slow []int, ok bool) {
	limits := e.Limits[rule.SlowSteps]
	if s = in.longest(max(8, limits.MinEvents)); s == nil {
		return f, nil, nil, false
	}
	slow = s.slow(limits.Margin)
	all := int64(len(s.steady()))
	if len(slow) == 0 {
		return f, s, nil, false
	}
	n := int64(len(slow))
	f, limit, ok := e.measured(rule.SlowSteps, float64(n)/float64(all))
	if !ok {
		return f, s, slow, false
	}
	f.Level, limit = limits.Tempered(f.Level, limit, all)
	f.Title = fmt.Sprintf("Slow steps: %s of %s are %s or more over the median (%s)", unit.Count(n), unit.Count(all),
		unit.Percent(limits.Margin), unit.Share(n, all))
	if f.Level > finding.Info {
		f.Title += rule.Over(limit)
	}
	worst := slices.Clone(slow)
	slices.SortStableFunc(worst, func(a, b int) int { return cmp.Compare(s.steps[b].WallNS, s.steps[a].WallNS) })
	var names []string
	over := 0.0
	for k, i := range worst {
		over += (float64(s.steps[i].WallNS) - s.median) * float64(s.steps[i].Covers())
		if k < finding.MostPlaces {
			names = append(names, fmt.Sprintf("%s %s", s.steps[i].Name, unit.Duration(s.steps[i].WallNS)))
		}
	}
	f.Evidence = append(f.Evidence, fmt.Sprintf("slowest: %s; median %s, MAD %s", joined(names), duration(s.median),
		duration(s.mad)))
	f.Evidence = append(f.Evidence, in.rarePhases(s, n)...)
	f.Gain(int64(over), s.total(), "all steps")
	return f, s, slow, true
}

func joined(names []string) (text string) {
	for i, n := range names {
		if i > 0 {
			text += ", "
		}
		text += n
	}
	return text
}

// rarePhases returns the phases that only a few steps have and that take a large part of a step,
// which may explain slow steps.
func (in *input) rarePhases(s *stepSeries, slow int64) (out []string) {
	for _, p := range in.phases {
		if p.Count <= 2*slow && p.Count < int64(len(s.steps))/2 && float64(p.MedianNS) >= s.median/4 {
			out = append(out, fmt.Sprintf("%s: in %s only, median %s", label.Clip(label.Clean(cmp.Or(p.Example, p.Path)), 44),
				label.Plural(p.Count, "step"), unit.Duration(p.MedianNS)))
		}
	}
	return out
}

// fewestPeriods is the least number of slow steps that can be called periodic.
const fewestPeriods = 3

// period returns the number of steps from one slow step to the next if it is the same for at least
// nine in ten of them, else 0.
func (s *stepSeries) period(slow []int) int64 {
	if len(slow) < fewestPeriods {
		return 0
	}
	count := map[int64]int{}
	var best int64
	for i, at := range slow[1:] {
		apart := s.steps[at].Number - s.steps[slow[i]].Number
		count[apart]++
		if count[apart] > count[best] || count[apart] == count[best] && apart < best {
			best = apart
		}
	}
	if best <= 1 || 10*count[best] < 9*(len(slow)-1) {
		return 0
	}
	return best
}

// periodicStalls reports slow steps at equal distances.
func (e *Evaluator) periodicStalls(in *input) (finding.Finding, bool) {
	f, s, slow, ok := e.slowFinding(in)
	if !ok || s.period(slow) == 0 {
		return f, false
	}
	period := s.period(slow)
	limits := e.Limits[rule.PeriodicStalls]
	level, limit, ok := limits.Level(f.Value)
	f.Evidence = append([]string{f.Title}, f.Evidence...)
	f.Title = fmt.Sprintf("Periodic slow steps: one in %d steps is slow", period)
	f.Rule, f.Warn, f.Critical = limits.ID, limits.Warn, limits.Critical
	f.Level, _ = limits.Tempered(level, limit, int64(len(s.steps)))
	f.Next = []finding.Step{finding.Advise("find-what-is-periodic", "n", fmt.Sprint(period))}
	if p, timer := e.periodicTimer(in, s, slow, period); p != nil {
		f.Title = fmt.Sprintf("Periodic slow steps: one in %d steps has %s, median %s", period,
			label.Clip(label.Clean(timer), 30), unit.Duration(p.MedianNS))
		switch kindOf(p.Path) {
		case "evaluation", "checkpoint":
			f.Next = finding.JoinSteps([]finding.Step{finding.Advise("evaluate-less-often")}, f.Next)
		}
		if kindOf(p.Path) == "checkpoint" {
			f.Next = finding.JoinSteps([]finding.Step{finding.Advise("checkpoint-asynchronously")}, f.Next)
		}
	}
	return f, ok
}

// periodicTimer returns the phase that makes periodic steps slow, and the name of its timer. The
// phase must begin and end in slow steps, have their period, and take at least half of their
// additional time.
func (e *Evaluator) periodicTimer(in *input, s *stepSeries, slow []int, period int64) (found *summary.Phase,
	timer string) {
	excess := make([]float64, 0, len(slow))
	first := map[int64]bool{}
	for _, i := range slow {
		excess = append(excess, float64(s.steps[i].WallNS)-s.median)
		first[s.steps[i].Number] = true
	}
	for i := range in.phases {
		p := &in.phases[i]
		if p.Example == "" || float64(p.MedianNS) < stat.Median(excess)/2 || found != nil && p.MedianNS <= found.MedianNS {
			continue
		}
		for k := range e.Series {
			r := &e.Series[k]
			if r.Input == p.Input && r.Name == p.Example && r.FirstStep != nil && r.LastStep != nil && first[*r.FirstStep] &&
				first[*r.LastStep] && r.N >= fewestPeriods && *r.LastStep-*r.FirstStep == period*(r.N-1) {
				found, timer = p, p.Example
			}
		}
	}
	return found, timer
}

// unevenSteps judges how much the step time varies.
func (e *Evaluator) unevenSteps(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.UnevenSteps]
	s := in.longest(max(8, limits.MinEvents))
	if s == nil || s.median <= 0 || e.trendOf(in).found { // a trend makes steps differ, and has a rule of its own
		return finding.Finding{}, false
	}
	f, limit, ok := rule.Measured(limits, int64(s.mad), int64(s.median))
	if !ok {
		return f, false
	}
	steady := s.steady()
	f.Level, limit = limits.Tempered(f.Level, limit, int64(len(steady)))
	if s.alternates() {
		return f, false
	}
	f.Title = fmt.Sprintf("Step time varies: MAD %s of the median (%s)", unit.Share(int64(s.mad), int64(s.median)),
		unit.DurationOf(int64(s.mad), int64(s.median))) + rule.Over(limit)
	f.Evidence = []string{fmt.Sprintf("%s from %s to %s", label.Plural(int64(len(steady)), "step"),
		duration(slices.Min(steady)), duration(slices.Max(steady)))}
	f.Next = []finding.Step{finding.Advise("find-the-phase-that-varies"), finding.Advise("sort-by-length")}
	return f, true
}

// alternates reports whether two kinds of steps alternate, like micro-batches with the optimizer
// after every second one: a step is much closer to the second step before it than to the previous
// one.
func (s *stepSeries) alternates() bool {
	steady := s.steady()
	var one, two []float64
	for i := 2; i < len(steady); i++ {
		one, two = append(one, math.Abs(steady[i]-steady[i-1])), append(two, math.Abs(steady[i]-steady[i-2]))
	}
	return stat.Median(two) < stat.Median(one)/4
}

// longestGap returns the longest time between two steps of one start of the program, and the step before it; -1 if
// there is none.
func (s *stepSeries) longestGap() (largest int64, after int) {
	after = -1
	for i := 1; i < len(s.steps); i++ {
		_, first := slices.BinarySearch(s.starts, i)
		if gap := s.gapBefore(i); gap > largest && gap < clockSet && !first {
			largest, after = gap, i-1
		}
	}
	return largest, after
}

// gapBefore returns the time before a step since the end of the record before it. A record that comes n numbers
// after another one stands for n steps, all but the last one of them in between.
func (s *stepSeries) gapBefore(i int) int64 {
	st, before := &s.steps[i], &s.steps[i-1]
	between := times(st.WallNS, max(0, st.Number-before.Number-1))
	return summary.Plus(st.StartNS-before.StartNS-before.WallNS, -between)
}

// rate prints a rate with its unit: "71,101 token/s".
func rate(v float64, of string) string {
	return strings.TrimSuffix(unit.Value(v, of), "/s") + " " + of
}

// stepsText returns the median step or the throughput, or "" if the log has too few steps.
func (e *Evaluator) stepsText(in *input) string {
	if s := in.longest(3); s != nil {
		return fmt.Sprintf("Steps: median %s, MAD %s (%s)", duration(s.median), duration(s.mad), s.count())
	}
	for _, t := range []struct{ metric, of string }{{"throughput.tokens_per_gpu", " per GPU"}, {"throughput.tokens", ""},
		{"throughput.samples", ""}} {
		rows := in.metric(t.metric, "")
		if len(rows) == 0 || rows[0].N < 3 {
			continue
		}
		r, of := rows[0], t.of
		for _, all := range in.rows {
			if all.Metric == t.metric && all.Pooled > 1 && all.Median != nil {
				r, of = all, fmt.Sprintf("%s (%d places)", t.of, all.Pooled)
			}
		}
		return fmt.Sprintf("Throughput: median %s%s", rate(*r.Median, r.Unit), of)
	}
	if run := in.metric("run.time", ""); len(run) > 0 { // printed by trainers when they end
		text := "The run took " + duration(*run[0].Last)
		if r := in.metric("run.samples", ""); len(r) > 0 {
			text += ", " + rate(*r[0].Last, r[0].Unit)
		}
		return text
	}
	return ""
}
