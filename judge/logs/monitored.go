package logs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// metricUse is the share of time in which a kernel ran, measured by a monitor.
const metricUse = "gpu.util"

// monitors has the rules that compare monitors with logs.
type monitors struct{ *Evaluator }

// during returns the rows of a metric that were measured during the time of an input. The rows are
// those over all GPUs or of the host, that want accepts and that have at least least samples per
// GPU.
func (e monitors) during(in *input, metric string, least int64,
	want func(*summary.Monitored) bool) (out []*summary.Monitored) {
	for i := range e.logged.Monitored {
		m := &e.logged.Monitored[i]
		if m.Beside == in.index && m.Metric == metric && (m.Place == "" || m.Place == "host") && m.Mean != nil &&
			*m.Mean >= 0 && *m.Mean <= 1 && m.Samples >= least*max(1, m.Places) && want(m) {
			out = append(out, m)
		}
	}
	return out
}

// lowUse judges the use of the GPUs over the time of a log.
func (e monitors) lowUse(in *input) (finding.Finding, bool) {
	rows := e.during(in, metricUse, e.Limits[rule.LowGPUUse].MinEvents, (*summary.Monitored).Whole)
	if len(rows) == 0 {
		return finding.Finding{}, false
	}
	m := slices.MinFunc(rows, func(a, b *summary.Monitored) int { return cmp.Compare(*a.Mean, *b.Mean) })
	f, limit, ok := e.measured(rule.LowGPUUse, 1-*m.Mean)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("GPU use: %s of the time of the log%s; low under %s", percent(*m.Mean), gpusText(m),
		unit.Percent(1-limit))
	f.Evidence = e.useByPhase(in, m.Input)
	for _, host := range e.during(in, "host.cpu_util", summary.MinSamples, (*summary.Monitored).Whole) {
		f.Evidence = append(f.Evidence, fmt.Sprintf("CPU use: %s in the same time", percent(*host.Mean)))
	}
	f.Next = []finding.Step{finding.Advise("trace-a-training-step")}
	if in.kinds["data"] > 0 {
		f.Next = append(f.Next, finding.Advise("load-data-ahead"))
	}
	return f, true
}

// gpusText says over how many GPUs a mean is.
func gpusText(m *summary.Monitored) string {
	if m.Places < 2 {
		return ""
	}
	return fmt.Sprintf(" (mean of %d GPUs)", m.Places)
}

// useByPhase returns the use in each phase, the longest phase first.
func (e monitors) useByPhase(in *input, monitor int) (out []string) {
	rows := e.during(in, metricUse, summary.MinSamples,
		func(m *summary.Monitored) bool { return m.Input == monitor && m.Name != "" })
	slices.SortStableFunc(rows, func(a, b *summary.Monitored) int { return cmp.Compare(b.NS, a.NS) })
	for _, m := range rows[:min(4, len(rows))] {
		out = append(out, fmt.Sprintf("%s: GPU use %s in %s", label.Clip(label.Clean(cmp.Or(m.Phase, m.Name)), 40),
			percent(*m.Mean), label.Plural(m.Parts, "run")))
	}
	return out
}

// lowUseInPhase judges the phase that leaves the GPUs idle for the longest time.
func (e monitors) lowUseInPhase(in *input) (best finding.Finding, found bool) {
	limits := e.Limits[rule.LowGPUUseInPhase]
	most := 0.0
	for _, m := range e.during(in, metricUse, limits.MinEvents,
		func(m *summary.Monitored) bool { return m.Name != "" && m.Phase != "" }) {
		ns := in.kinds[m.Phase]
		if in.stepNS <= 0 || float64(ns) < limits.Margin*float64(in.stepNS) {
			continue
		}
		f, limit, ok := e.measured(rule.LowGPUUseInPhase, 1-*m.Mean)
		if lost := float64(ns) * (1 - *m.Mean); !ok || lost <= most {
			continue
		} else {
			most = lost
		}
		f.Title = fmt.Sprintf("GPU use in %s: %s of its time; low under %s", label.Clip(label.Clean(m.Phase), 30),
			percent(*m.Mean), unit.Percent(1-limit))
		f.Evidence = append([]string{fmt.Sprintf("%s: %s, %s in %s", label.Clip(label.Clean(m.Phase), 30),
			in.shareOfSteps(int64(min(float64(ns), math.MaxInt64/4))), label.Plural(m.Samples, "sample"),
			label.Plural(m.Parts, "run"))}, e.useByPhase(in, m.Input)...)
		f.Next = advice.PhaseAdvice(m.Phase)
		best, found = f, true
	}
	return best, found
}
