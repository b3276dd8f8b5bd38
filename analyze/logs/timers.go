package logs

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/diag"
	"assay/internal/stat"
	"assay/logs"
	"assay/summary"
)

// apart returns how many of the times of steps are hundreds of times as long as the rest, if both are a
// considerable part of them: the unit changed.
func apart(times []float64) int64 {
	const few, ratio, part = 6, 300, 5 // a fifth
	if len(times) < few {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	for i := len(sorted) / part; i < len(sorted); i++ {
		if i > 0 && sorted[i] > ratio*sorted[i-1] && sorted[i-1] > 0 && (len(sorted)-i)*part >= len(sorted) {
			return int64(len(sorted) - i)
		}
	}
	return 0
}

// tooLong returns how many steps of a log have times that are together many times as long as the log took to
// write them, from the record of the first to that of the last: then the times are in another unit. A log that
// was written at once does not show this.
func tooLong(s *logs.Series) int64 {
	const few, ratio, second = 3, 20, 1_000_000_000
	p := &s.Points
	if len(p.Value) < few || len(p.Time) < len(p.Value) || s.Sampled() || p.Run != nil {
		return 0
	}
	took, total := p.Time[len(p.Value)-1]-p.Time[0], 0.0
	for _, v := range p.Value[1:] {
		total += v
	}
	if took < second || total < ratio*float64(took) {
		return 0
	}
	return s.N
}

// longestStep is the time in ns above which no trainer takes a step: the slowest ones of reinforcement learning take
// an hour or two.
const longestStep = 10 * 3600 * 1_000_000_000

// noteUnit adds an issue if the times of steps are in another unit: they are longer than the log, or than any step,
// or than the logged tokens at the logged rate.
func (m *seriesMeasure) noteUnit(s *logs.Series, issues *diag.Ledger) {
	const few = 3
	is := diag.Issue{Code: summary.StepsTooLong, Severity: diag.Suspect, First: diag.Pos{File: s.As, Line: 1}}
	n := tooLong(s)
	if len(s.Points.Value) >= few && n == 0 {
		median := stat.Median(s.Points.Value)
		switch why := m.overRate(s, median); {
		case why != "":
			n, is.Help = s.N, "The steps take many times as long as their tokens at the logged rate: "+why+", so their times are in another unit. Check the unit of the timers."
		case median > longestStep:
			n, is.Help = s.N, "The median step takes over 10 hours, so the times are in another unit. Check the unit of the timers."
		}
	}
	issues.AddN(is, n)
}

// overRate returns a text if the tokens of a step, at their rate, take far less time than the step. The rate may be
// that of one GPU, which then takes longest.
func (m *seriesMeasure) overRate(step *logs.Series, ns float64) string {
	const far = 30
	median := func(names ...string) float64 {
		for i := range m.log.Series {
			s := &m.log.Series[i]
			if s.Producer == step.Producer && len(s.Points.Value) > 0 && slices.Contains(names, s.Metric.Name) {
				return stat.Median(s.Points.Value)
			}
		}
		return 0
	}
	tokens, rate := median("train.tokens_per_step"), median("throughput.tokens", "throughput.tokens_per_gpu")
	if tokens <= 0 || rate <= 0 || ns < far*1e9*tokens/rate {
		return ""
	}
	return fmt.Sprintf("%.4g tokens at %.4g tokens/s are %.3g s", tokens, rate, tokens/rate)
}

// noteTimers adds issues for times of steps and phases that cannot be: they are in no share, so that the
// shares of the others must not be taken for the whole.
func (m *seriesMeasure) noteTimers(parts []*logs.Series, issues *diag.Ledger) {
	for i := range m.log.Series {
		s := &m.log.Series[i]
		if s.Metric.Name != metricStep && s.Metric.Name != metricPhase {
			continue
		}
		if s.Metric.Name == metricStep {
			issues.AddN(diag.Issue{Code: "step-times-apart", Severity: diag.Suspect, First: diag.Pos{File: s.As, Line: 1}}, apart(s.Points.Value))
			m.noteUnit(s, issues)
		}
		bad := s.NaN + s.Inf
		if s.N > 0 && !single(s) {
			bad = 0
		}
		for _, v := range s.Points.Value {
			if !possible(v) {
				bad++
			}
		}
		if s.N > 0 && s.Min < 0 && bad == 0 {
			bad = 1 // it is not in the sample
		}
		issues.AddN(diag.Issue{Code: "timer-impossible", Severity: diag.Suspect, First: diag.Pos{File: s.As, Line: 1}}, bad)
	}
	for _, s := range parts {
		both := m.both[s.Producer]
		if s.Inside != "" || both.n == 0 {
			continue
		}
		longer := diag.Issue{Code: "timer-exceeds-step", Severity: diag.Info, First: diag.Pos{File: s.As, Line: 1}}
		n, all := int64(0), 0.0
		for i, v := range s.Points.Value {
			of, ok := both.at[keyOfStep(s, i)]
			if ok && !fits(v, of.ns) {
				n++
			}
			all += v * float64(of.covers)
		}
		if both.at == nil {
			all = s.Sum
		}
		if !fits(all, both.total) {
			longer.Severity = diag.Suspect
			n = cmp.Or(n, s.N)
		}
		issues.AddN(longer, n)
	}
}
