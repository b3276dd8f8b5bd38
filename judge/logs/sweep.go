package logs

import (
	"fmt"
	"math"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view/bench"
)

// mostSweeps is the largest number of sweeps that a finding describes.
const mostSweeps = 5

// A swept is a sweep with the load up to which its throughput grows.
type swept struct {
	bench.Sweep
	bench.Saturation
}

// sweeps returns the sweeps with enough loads to say where throughput stops following the load.
func (e benchmarks) sweeps() (out []swept) {
	r := e.Limits[rule.ThroughputSaturated]
	for _, sw := range bench.Sweeps(e.logged) {
		if at, ok := sw.Saturation(bench.Limits{Gain: r.MinShare, Noise: r.Margin, Served: r.MinBusy, Points: r.MinEvents}); ok {
			out = append(out, swept{sw, at})
		}
	}
	return out
}

// sweepsText describes the first sweep: one that saturates, with the rule that says so, if any does.
func (e benchmarks) sweepsText() (text, rule string) {
	if f, ok := e.saturated(); ok {
		return f.Title, f.Rule
	}
	if list := e.sweeps(); len(list) > 0 {
		return e.sweepText(&list[0]), ""
	}
	return "", ""
}

// saturated reports the load beyond which a benchmark no longer gains throughput.
func (e benchmarks) saturated() (finding.Finding, bool) {
	var texts []string
	var first *swept
	for _, sw := range e.sweeps() {
		if sw.Next == nil {
			continue
		}
		if first == nil {
			first = &sw
			continue
		}
		texts = append(texts, e.sweepText(&sw))
	}
	if first == nil {
		return finding.Finding{}, false
	}
	f := finding.Finding{Rule: rule.ThroughputSaturated, Level: finding.Info, Title: e.sweepText(first),
		Evidence: texts[:min(mostSweeps, len(texts))], Next: []finding.Step{finding.Advise("run-at-the-knee")}}
	if first.Setting.Head == "TP" {
		f.Next = []finding.Step{finding.Advise("replicate-at-the-knee")}
	}
	at := first.Next
	f.Where = []finding.Place{{Input: at.Input, Rank: e.logged.Inputs[at.Input].Rank}}
	return f, true
}

// sweepText says up to which load of a sweep throughput grows, what it is there, and which load keeps the
// targets of latency.
func (e benchmarks) sweepText(sw *swept) string {
	name := sw.Setting.Head
	if name == "batch" {
		name = "batch size"
	}
	limit := bench.Settings()[1].Number(sw.List[0])
	if name == "request rate" && !math.IsInf(limit, 0) && !math.IsNaN(limit) {
		name = fmt.Sprintf("%s with %.6g requests at a time,", name, limit)
	}
	var text string
	switch {
	case sw.Knee == nil:
		text = fmt.Sprintf("Saturated from the lowest %s on, %s: at most %s", name, sw.load(sw.Next), sw.throughput(sw.Most))
	case sw.Next == nil:
		text = fmt.Sprintf("Throughput grows up to the highest %s, %s: %s", name, sw.load(sw.Knee), sw.at(sw.Knee))
	default:
		text = fmt.Sprintf("Up to %s %s: %s; saturated from %s", name, sw.load(sw.Knee), sw.at(sw.Knee), sw.load(sw.Next))
		if sw.Most != sw.Knee {
			text += fmt.Sprintf(" (at most %s)", sw.throughput(sw.Most))
		}
	}
	if sw.Workload != "" {
		text = label.Clip(label.Clean(sw.Workload), 60) + ": " + strings.ToLower(text[:1]) + text[1:]
	}
	return text + e.withinTargets(sw)
}

// load prints a load of the sweep.
func (sw *swept) load(b *summary.Benchmark) string {
	n := sw.Setting.Number(b)
	if math.IsInf(n, 1) {
		return "unlimited"
	}
	return fmt.Sprintf("%.6g", n)
}

func (sw *swept) throughput(b *summary.Benchmark) string {
	return figureText(bench.FigureOf(b, sw.Throughput(), ""))
}

// at prints the throughput of a result, and its latency if all results of the sweep have one.
func (sw *swept) at(b *summary.Benchmark) string {
	text := sw.throughput(b)
	for _, metric := range []string{"serving.ttft", "serving.e2e"} {
		for _, stat := range []string{"median", "p50", "mean"} {
			if sw.Has(metric, stat) {
				name := map[string]string{"serving.ttft": "TTFT", "serving.e2e": "end-to-end latency"}[metric]
				return fmt.Sprintf("%s at %s %s %s", text, stat, name, figureText(bench.FigureOf(b, metric, stat)))
			}
		}
	}
	return text
}

// withinTargets names the highest load whose median latencies are within the targets of the rules about
// the first and the next token.
func (e benchmarks) withinTargets(sw *swept) string {
	var names []string
	within := func(*summary.Benchmark) bool { return true }
	for _, t := range []target{{rule.SlowFirstToken, "serving.ttft", "TTFT"}, {rule.SlowNextToken, "serving.tpot", "TPOT"}} {
		if !sw.Has(t.metric, "median") && !sw.Has(t.metric, "p50") {
			continue
		}
		under, before := float64(e.Limits[t.rule].Under), within
		names = append(names, t.what+" ≤ "+unit.Duration(e.Limits[t.rule].Under))
		within = func(b *summary.Benchmark) bool { return before(b) && medianOf(b, t.metric).Value <= under }
	}
	if len(names) == 0 {
		return ""
	}
	best := "none"
	for _, b := range sw.List {
		if within(b) {
			best = sw.load(b)
		}
	}
	return fmt.Sprintf("; highest load within %s: %s", strings.Join(names, " and "), best)
}

// scalingText returns the scaling efficiency of runs on different numbers of GPUs, or "".
func scalingText(s *summary.Summary) string {
	list := bench.Scaling(s)
	if len(list) == 0 {
		return ""
	}
	var parts []string
	for i, of := range bench.Efficiencies(list)[1:] {
		parts = append(parts, fmt.Sprintf("%s on %d", percent(of), list[i+1].GPUs))
	}
	return fmt.Sprintf("Scaling efficiency: %s GPUs, relative to %s", strings.Join(parts, ", "),
		label.Plural(list[0].GPUs, "GPU"))
}

// poorScaling reports that throughput per GPU falls on more GPUs. Runs in between are evidence.
func (e benchmarks) poorScaling() (finding.Finding, bool) {
	list := bench.Scaling(e.logged)
	if len(list) == 0 {
		return finding.Finding{}, false
	}
	last := len(list) - 1
	efficiencies := bench.Efficiencies(list)
	var numbers []string
	for i, of := range efficiencies[1:] {
		numbers = append(numbers, fmt.Sprintf("scaling efficiency on %d GPUs: %s", list[i+1].GPUs, percent(of)))
	}
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.PoorScaling, Value: 1 - efficiencies[last],
		Words: map[string]string{"gpus": fmt.Sprint(list[last].GPUs), "fewest": label.Plural(list[0].GPUs, "GPU")},
		Lists: map[string][]string{"numbers": numbers}}))
}
