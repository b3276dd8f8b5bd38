package logs

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// clockSet is the time between two steps from which on a clock was set: without a restart, no program pauses for days.
const clockSet = int64(48 * 3600 * 1e9)

// A trend describes how a value changes from the first to the last part of a run.
type trend struct {
	found       bool
	first, last float64 // medians of the first and last third, or before and after a change
	change      float64 // last / first - 1
	at          int     // index at which the value changes; -1 if it changes gradually
}

// fewestOfTrend is the least number of values for a trend.
const fewestOfTrend = 20

// sureOfTrend is the least score of the rank-sum test for a trend, in standard deviations.
const sureOfTrend = 4

// trendIn compares the first third of values with the last one by the rank-sum test. If a single
// step explains the values better than a line, the trend has the index of the step.
func trendIn(v []float64) trend {
	t := trend{at: -1}
	if len(v) < fewestOfTrend {
		return t
	}
	third := len(v) / 3
	a, b := v[:third], v[len(v)-third:]
	t.first, t.last = stat.Median(a), stat.Median(b)
	if t.first <= 0 || math.Abs(rankScore(a, b)) < sureOfTrend {
		return t
	}
	t.found = true
	if at, ok := changePoint(v); ok {
		t.at, t.first, t.last = at, stat.Median(v[:at]), stat.Median(v[at:])
	}
	t.change = t.last/t.first - 1
	return t
}

// rankScore returns the normal score of the Mann-Whitney test of two samples; ties count half.
func rankScore(a, b []float64) float64 {
	u := 0.0
	sorted := slices.Sorted(slices.Values(a))
	for _, x := range b {
		below, found := slices.BinarySearch(sorted, x)
		equal := 0
		for found && below+equal < len(sorted) && sorted[below+equal] == x {
			equal++
		}
		u += float64(below) + float64(equal)/2
	}
	n, m := float64(len(a)), float64(len(b))
	return (u - n*m/2) / math.Sqrt(n*m*(n+m+1)/12)
}

// mostOfChange limits the number of groups among which a change is searched, because each candidate
// costs a pass over all groups.
const mostOfChange = 200

// changePoint returns the index from which on values have another median, if that explains them
// better than a line.
func changePoint(v []float64) (at int, ok bool) {
	groups, size := v, 1
	if len(v) > mostOfChange {
		size = (len(v) + mostOfChange - 1) / mostOfChange
		groups = nil
		for i := 0; i < len(v); i += size {
			groups = append(groups, stat.Median(v[i:min(i+size, len(v))]))
		}
	}
	n := len(groups)
	edge := max(3, n/20)
	best, least := -1, math.Inf(1)
	for k := edge; k <= n-edge; k++ {
		if cost := spread(groups[:k]) + spread(groups[k:]); cost < least {
			best, least = k, cost
		}
	}
	third := n / 3
	from, to := stat.Median(groups[:third]), stat.Median(groups[n-third:])
	line := 0.0
	for i, x := range groups {
		// The medians of the outer thirds are the values at 1/6 and 5/6 of a line.
		fit := from + (to-from)*(float64(i)/float64(n-1)-1.0/6)/(4.0/6)
		line += math.Abs(x - fit)
	}
	if best < 0 || least > 0.8*line || least > 0.6*spread(groups) {
		return 0, false
	}
	return best * size, true
}

// spread returns the sum of the distances from the median.
func spread(v []float64) (sum float64) {
	middle := stat.Median(v)
	for _, x := range v {
		sum += math.Abs(x - middle)
	}
	return sum
}

// trendOf returns the trend of the step time of a log.
func (e *Evaluator) trendOf(in *input) trend {
	if s := in.longest(fewestOfTrend); s != nil {
		return trendIn(s.quiet(e.Limits[rule.SlowSteps].Margin))
	}
	return trend{}
}

// quiet returns the steady step times with slow steps replaced by the median, so that evaluation
// and checkpoints are not taken for a trend.
func (s *stepSeries) quiet(margin float64) (out []float64) {
	slow := s.slow(margin)
	if len(slow) > len(s.steps)/10 {
		slow = nil
	}
	for i, st := range s.steps {
		switch {
		case s.warm[i]:
		case slices.Contains(slow, i):
			out = append(out, s.median)
		default:
			out = append(out, float64(st.WallNS))
		}
	}
	return out
}

// slower reports that steps get longer, or that throughput falls.
func (e *Evaluator) slower(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.SlowerOverTime]
	if s := in.longest(fewestOfTrend); s != nil {
		t := e.trendOf(in)
		if !t.found || t.change <= 0 {
			return finding.Finding{}, false
		}
		f, limit, ok := e.measured(rule.SlowerOverTime, t.change)
		if !ok {
			return f, false
		}
		f.Title = fmt.Sprintf("Step time rises by %s: %s at first, %s at last", percent(t.change), duration(t.first),
			duration(t.last)) + rule.Over(limit)
		if t.at > 0 {
			f.Title = fmt.Sprintf("Step time rises by %s at %s: %s before, %s after", percent(t.change), s.nameAt(t.at),
				duration(t.first), duration(t.last)) + rule.Over(limit)
		}
		f.Evidence = rising(in, limits)
		f.Next = slowerAdvice(f.Evidence)
		return f, true
	}
	return e.fallingThroughput(in)
}

func slowerAdvice(lengths []string) []finding.Step {
	if len(lengths) > 0 {
		return []finding.Step{finding.Advise("limit-responses").For("longer-responses"), finding.Advise("compare-early-and-late")}
	}
	return []finding.Step{finding.Advise("compare-early-and-late"), finding.Advise("watch-clocks-and-memory")}
}

// nameAt returns the name of a step by its index among steps without warm-up.
func (s *stepSeries) nameAt(index int) string {
	for i, st := range s.steps {
		if s.warm[i] {
			continue
		}
		if index == 0 {
			return st.Name
		}
		index--
	}
	return s.steps[len(s.steps)-1].Name
}

// rising returns evidence for loads that rise too.
func rising(in *input, limits rule.Rule) (out []string) {
	for _, name := range []string{"train.response_length", "train.tokens_per_step", "train.prompt_length"} {
		for _, r := range in.metric(name, "") {
			if r.Strip == nil {
				continue
			}
			if t := trendIn(r.Strip.Values); t.found && t.change >= limits.Warn {
				out = append(out, fmt.Sprintf("%s rises too: %.4g at first, %.4g at last", label.Clean(r.Name), t.first, t.last))
			}
		}
	}
	return out
}

// fallingThroughput is slower for logs without times of steps.
func (e *Evaluator) fallingThroughput(in *input) (best finding.Finding, found bool) {
	for _, name := range []string{"throughput.tokens_per_gpu", "throughput.tokens", "throughput.samples_per_gpu",
		"throughput.samples", "throughput.flops_per_gpu"} {
		for _, r := range in.metric(name, "") {
			if r.Strip == nil || len(r.Strip.Values) < 2 {
				continue
			}
			t := trendIn(r.Strip.Values[1:]) // the first value includes the start of the program
			if !t.found || t.change >= 0 {
				continue
			}
			f, limit, ok := e.measured(rule.SlowerOverTime, -t.change)
			if !ok || found && best.Value >= f.Value {
				continue
			}
			f.Title = fmt.Sprintf("Throughput falls by %s: %.4g %s at first, %.4g at last", percent(-t.change), t.first,
				r.Unit, t.last) + rule.Over(limit)
			if t.at > 0 {
				f.Evidence = append(f.Evidence, fmt.Sprintf("it changes at %s %s", r.Strip.By, positionAt(r, t.at+1)))
			}
			f.Evidence = append(f.Evidence, "logged as "+label.Clip(label.Clean(r.Name), 44))
			f.Next = slowerAdvice(nil)
			best, found = f, true
		}
		if found {
			return best, true
		}
	}
	return best, false
}

func positionAt(r *summary.Series, i int) string {
	if i >= len(r.Strip.X) {
		return "the end"
	}
	if r.Strip.By == "time" {
		return duration(float64(r.Strip.X[i]))
	}
	return fmt.Sprint(r.Strip.X[i])
}
