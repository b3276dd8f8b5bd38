package gate

import (
	"strings"
	"testing"

	"assay/gate/metric"
	"assay/summary"
)

// steady returns n runs of a program without drift, changed by each of the
// functions.
func steady(n int, change ...func(*summary.Summary)) []Run {
	p := usualProgram()
	var list []*summary.Summary
	for i := range n {
		s := p.run(seeded(7), i)
		s.Inputs[0].SHA256 = "" // equal content on purpose
		for _, f := range change {
			f(s)
		}
		list = append(list, s)
	}
	return Runs(list)
}

func outcome(t *testing.T, yaml string, now, base []Run) Outcome {
	t.Helper()
	gates, err := Parse([]byte(yaml), "g.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rep, err := Check(gates, now, base, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Outcomes) != 1 || rep.Result != rep.Outcomes[0].Result {
		t.Fatalf("%d outcomes, all in all %s", len(rep.Outcomes), rep.Result)
	}
	return rep.Outcomes[0]
}

// stepsLong makes all steps of a run so long, in ms.
func stepsLong(n ...int64) func(*summary.Summary) {
	return func(s *summary.Summary) {
		for i := range s.Steps {
			s.Steps[i].WallNS = n[i%len(n)] * ms
		}
	}
}

// TestLimits holds values at, under and over their limits. The value is 100 ms,
// that of the baseline 80 ms.
func TestLimits(t *testing.T) {
	now, base := steady(1, stepsLong(100)), steady(1, stepsLong(80))
	for _, tc := range []struct {
		limit string
		want  Result
		why   string
	}{
		{"<= 100ms", Pass, "is 100 ms"},
		{"< 100ms", Fail, "is 100 ms, not under the limit of 100 ms"},
		{"<= 99999us", Fail, "is 100 ms, over the limit of 99999 us"},
		{"'>= 100ms'", Pass, "is 100 ms"},
		{"'> 100ms'", Fail, "is 100 ms, not over the limit of 100 ms"},
		{"== 100ms", Pass, "is 100 ms"},
		{"== 101ms", Fail, "is 100 ms, not 101 ms"},
		{"{max_increase: 25%}", Pass, "rose by 25.0%, from 80 ms to 100 ms"},
		{"{max_increase: 24%, noise: 0%}", Fail, "rose by 25.0%, from 80 ms to 100 ms, over the limit of 24%"},
		{"{max_increase: 5%, noise: 26%}", Inconclusive, "rose by 25.0%, from 80 ms to 100 ms, over the limit of 5%; but single runs of one program differ by up to 26%: give 5 runs of each side, or set single_run_noise"},
		{"{max_increase: 5%}", Fail, "rose by 25.0%, from 80 ms to 100 ms, over the limit of 5%"},
		{"{max_increase: 5%, noise: 25%}", Inconclusive, "rose by 25.0%, from 80 ms to 100 ms, over the limit of 5%; but single runs of one program differ by up to 25%: give 5 runs of each side, or set single_run_noise"},
		{"{max_increase: 5%, min_abs: 20ms}", Fail, "rose by 25.0%, from 80 ms to 100 ms, over the limit of 5%"},
		{"{max_increase: 5%, min_abs: 21ms}", Pass, "rose by 25.0%, from 80 ms to 100 ms, over the limit of 5%, but under the floor of 21 ms"},
		{"{max_increase: 20ms}", Pass, "rose by 25.0%, from 80 ms to 100 ms"},
		{"{max_increase: 19ms}", Fail, "rose by 25.0%, from 80 ms to 100 ms, over the limit of 19 ms"},
		{"{max_decrease: 0%}", Pass, "rose by 25.0%, from 80 ms to 100 ms"},
		{"{max_increase: 5%, level: warn}", Warn, "rose by 25.0%, from 80 ms to 100 ms, over the limit of 5%"},
		{"{max_increase: 50%, warn: {max_increase: 5%}}", Warn, "rose by 25.0%, from 80 ms to 100 ms, over the limit of 5%"},
		{"{max: 90ms, max_increase: 50%}", Fail, "is 100 ms, over the limit of 90 ms"},
		{"{max: 110ms, max_increase: 5%}", Fail, "rose by 25.0%, from 80 ms to 100 ms, over the limit of 5%"},
		{"{max: 90ms, warn: '<= 50ms'}", Fail, "is 100 ms, over the limit of 90 ms"},
		{"{max: 200ms, min: 150ms}", Fail, "is 100 ms, under the limit of 150 ms"},
		{"{min: 50ms, max: 90ms}", Fail, "is 100 ms, over the limit of 90 ms"},
		{"{min: 50ms, max: 150ms}", Pass, "is 100 ms"},
		{"{min: 120ms, max: 90ms}", Fail, "is 100 ms, over the limit of 90 ms and under the limit of 120 ms"},
		{"{max: 150ms, equal: 101ms}", Fail, "is 100 ms, not 101 ms"},
		{"{max: 90ms, max_increase: 5%}", Fail, "is 100 ms, over the limit of 90 ms; rose by 25.0%, from 80 ms to 100 ms, over the limit of 5%"},
	} {
		o := outcome(t, "step.median: "+tc.limit, now, base)
		if o.Result != tc.want || o.Why != tc.why {
			t.Errorf("%s: %s, %s; want %s, %s", tc.limit, o.Result, o.Why, tc.want, tc.why)
		}
	}
}

// TestRates: a rate falls by a sixth where the time of the same work rises by a fifth.
func TestRates(t *testing.T) {
	rate := func(tokens float64) []Run {
		return Runs([]*summary.Summary{{Schema: summary.Schema, Inputs: []summary.Input{{Path: "a.jsonl", Complete: true}},
			Benchmarks: []summary.Benchmark{{Metrics: []summary.Figure{{Metric: "throughput.output_tokens", Value: tokens}}}}}})
	}
	for now, want := range map[float64]Result{1000: Pass, 951: Pass, 949: Inconclusive, 834: Inconclusive, 833: Fail, 1300: Pass} {
		if o := outcome(t, "throughput.output_tokens: {max_decrease: 5%}", rate(now), rate(1000)); o.Result != want {
			t.Errorf("%g tokens/s, were 1000: %s, want %s: %s", now, o.Result, want, o.Why)
		}
	}
}

// TestStepsAreNoRuns: as many and as equal steps as one likes, a single run stays
// a single run.
func TestStepsAreNoRuns(t *testing.T) {
	o := outcome(t, "step.median: {max_increase: 1%}", steady(1, stepsLong(110)), steady(1, stepsLong(100)))
	if o.Result != Inconclusive || o.P != nil || !strings.Contains(o.Why, "single runs") || len(o.Now.Runs) != 1 {
		t.Errorf("%s: %s", o.Result, o.Why)
	}
}

// TestRankTest: runs that mix are inconclusive, however far their medians are
// apart, and runs that do not fail for a small change.
func TestRankTest(t *testing.T) {
	side := func(ms ...int64) []Run {
		var runs []Run
		for _, n := range ms {
			runs = append(runs, steady(1, stepsLong(n))...)
		}
		return runs
	}
	for _, tc := range []struct {
		what      string
		base, now []Run
		want      Result
		why       string
	}{
		{"apart", side(100, 101, 102, 103, 104), side(106, 107, 108, 109, 110), Fail, "rose by 5.9%, from 102 ms to 108 ms, over the limit of 5%"},
		{"mixed", side(80, 90, 100, 110, 140), side(85, 95, 120, 130, 150), Inconclusive, "rose by 20.0%, from 100 ms to 120 ms, over the limit of 5%; but runs of both sides mix (p = 0.55, want under 0.01)"},
		{"few", side(100, 100, 100, 100), side(110, 110, 110, 110), Inconclusive, "rose by 10.0%, from 100 ms to 110 ms, over the limit of 5%; but few runs (4 and 4) of one program differ by up to 20%: give 5 runs of each side, or set single_run_noise"},
		{"few and far", side(100, 100, 100, 100), side(130, 130, 130, 130), Fail, "rose by 30.0%, from 100 ms to 130 ms, over the limit of 5%"},
		{"equal", side(100, 100, 100, 100, 100), side(100, 100, 100, 100, 100), Pass, "is unchanged at 100 ms"},
		{"better", side(106, 107, 108, 109, 110), side(100, 101, 102, 103, 104), Pass, "fell by 5.6%, from 108 ms to 102 ms"},
	} {
		o := outcome(t, "step.median: {max_increase: 5%}", tc.now, tc.base)
		if o.Result != tc.want || o.Why != tc.why {
			t.Errorf("%s: %s, %s; want %s, %s", tc.what, o.Result, o.Why, tc.want, tc.why)
		}
	}
	// A target: the interval of the median of six runs is that of all six.
	o := outcome(t, "step.median: <= 100ms", side(90, 95, 99, 103, 105, 110), nil)
	if o.Result != Inconclusive || !strings.HasSuffix(o.Why, "the confidence interval of the median, 90 ms to 110 ms, holds the limit") {
		t.Errorf("%s: %s", o.Result, o.Why)
	}
	if o := outcome(t, "step.median: <= 80ms", side(90, 95, 99, 103, 105, 110), nil); o.Result != Fail {
		t.Errorf("%s: %s", o.Result, o.Why)
	}
}

// TestCaptures: what a capture cannot tell is no pass, and no failure that it
// could be to blame for.
func TestCaptures(t *testing.T) {
	issue := func(code, severity string, count int64) func(*summary.Summary) {
		return func(s *summary.Summary) {
			s.Issues = append(s.Issues, summary.Issue{Code: code, Severity: severity, Count: count, First: "t.json@7"})
		}
	}
	cut := issue("input-truncated", "data-loss", 1)
	for _, tc := range []struct {
		what, gate string
		change     func(*summary.Summary)
		inBase     bool
		want       Result
		why        string
	}{
		{"cut", "gpu.busy_share: '>= 10%'", cut, false, Inconclusive, "the capture does not allow a decision: input-truncated (data-loss, once) at t.json@7; it shows"},
		{"cut, and under the target", "gpu.busy_share: '>= 99%'", cut, false, Inconclusive, "the capture does not allow a decision: "},
		{"cut, and too many", "kernel.count: <= 5", cut, false, Fail, "is 7,"},
		{"cut, and a share that is over its target", "comm.exposed_share: <= 1%", cut, false, Inconclusive, "the capture does not allow a decision: "},
		{"cut, and too few", "kernel.count: '>= 9999999'", cut, false, Inconclusive, "the capture does not allow a decision: "},
		{"doubtful, and too many", "kernel.count: <= 5", issue("events-repeated", "suspect", 1), false, Inconclusive, "the capture does not allow a decision: events-repeated (suspect, once)"},
		{"single records lost", "gpu.busy_share: '>= 10%'", issue("event-bad-time", "data-loss", 100), false, Pass, "is "},
		{"many records lost", "gpu.busy_share: '>= 10%'", issue("event-bad-time", "data-loss", 101), false, Inconclusive, "the capture does not allow a decision: event-bad-time (data-loss, 101 times)"},
		{"worth knowing", "gpu.busy_share: '>= 10%'", issue("quotes-repaired", "info", 9), false, Pass, "is "},
		{"runs that were pooled", "gpu.busy_share: '>= 10%'", issue("rank-repeated", "suspect", 1), false, Pass, "is "},
		{"not to its end", "gpu.busy_share: '>= 10%'", func(s *summary.Summary) { s.Inputs[0].Complete = false }, false, Inconclusive, "the capture does not allow a decision: run0/rank0.json ends early"},
		{"little work", "gpu.busy_share: '>= 10%'", func(s *summary.Summary) { s.Devices[0].Events = 3 }, false, Inconclusive, "the capture does not allow a decision: Too little GPU work: 3 GPU events"},
		{"little work, which a phase needs not", "phase.mean{phase=forward}: <= 2s", func(s *summary.Summary) { s.Devices[0].Events = 3 }, false, Pass, "is 10 ms"},
		{"cut baseline", "step.median: {max_increase: 5%}", cut, true, Inconclusive, "the capture does not allow a decision: the baseline: input-truncated"},
		{"cut baseline, and a target", "step.median: <= 1s", cut, true, Pass, "is "},
		{"cut, and more kernels than before", "kernel.count: {max_increase: 5%}", cut, false, Inconclusive, "the capture does not allow a decision: "},
		{"another device", "step.median: {max_increase: 5%}", func(s *summary.Summary) { s.Devices[0].Name = "NVIDIA A100" }, true, Inconclusive, "not comparable: the base ran on NVIDIA A100 and the new run on NVIDIA H100 80GB HBM3: the GPU models differ, so time differences do not show the effect of the program; is "},
		{"another device, and a target", "step.median: <= 1s", func(s *summary.Summary) { s.Devices[0].Name = "NVIDIA A100" }, true, Pass, "is "},
		{"another profiler", "step.median: {max_increase: 5%}", func(s *summary.Summary) { s.Inputs[0].Format = "nsys-sqlite" }, true, Inconclusive, "not comparable: the formats are nsys-sqlite (base) and kineto (new): profilers differ in the events they record and in their overhead; is "},
		{"more steps", "kernel.count: {max_increase: 5%}", func(s *summary.Summary) { s.Steps = s.Steps[:4] }, true, Inconclusive, "not comparable: the base has 4 step windows and the new run 8; times per step can be compared, sums over the capture cannot, use kernel.count_per_step; "},
		{"more steps, and a figure of each", "step.median: {max_increase: 5%}", func(s *summary.Summary) { s.Steps = s.Steps[:4] }, true, Pass, ""},
		{"nothing selected in the baseline", "kernel.count: {max_increase: 5%}", func(s *summary.Summary) { s.Kernels = nil }, true, Error, "cannot be measured in the baseline: no such kernel; "},
		{"nothing selected", "kernel.count: {max_increase: 5%}", func(s *summary.Summary) { s.Kernels = nil }, false, Error, "cannot be measured: no such kernel; "},
		{"gone though it need not be there", "kernel.count: {max_increase: 5%, if_measured: true}", func(s *summary.Summary) { s.Kernels = nil }, false, Error, "cannot be measured: no such kernel; "},
	} {
		now, base := steady(1), steady(1, tc.change)
		if !tc.inBase {
			now, base = base, now
		}
		o := outcome(t, tc.gate, now, base)
		if o.Result != tc.want || !strings.HasPrefix(o.Why, tc.why) {
			t.Errorf("%s: %s, %s; want %s, %s", tc.what, o.Result, o.Why, tc.want, tc.why)
		}
		if captures := strings.HasPrefix(o.Why, "the capture") || strings.HasPrefix(o.Why, "not comparable"); o.Capture != captures {
			t.Errorf("%s: capture is %t", tc.what, o.Capture)
		}
	}
}

// TestApartOnce: the reason why sides do not compare is given once if it is that of several gates.
func TestApartOnce(t *testing.T) {
	for _, tc := range []struct {
		gates       string
		shareReason bool
	}{{"step.median: {max_increase: 5%}", false}, {"step.median: {max_increase: 5%}\nkernel.count: {max_increase: 5%}\ngpu.busy_share: '>= 1%'", true}} {
		gates, err := Parse([]byte(tc.gates), "g.yaml")
		if err != nil {
			t.Fatal(err)
		}
		rep, err := Check(gates, steady(1), steady(1, func(s *summary.Summary) { s.Devices[0].Name = "NVIDIA A100" }), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (rep.Apart != "") != tc.shareReason || tc.shareReason && !strings.Contains(rep.Apart, "the GPU models differ") {
			t.Errorf("%s: apart is %q", tc.gates, rep.Apart)
		}
		for _, o := range rep.Outcomes {
			if refusal := o.Result == Inconclusive; (o.Short != "") != (tc.shareReason && refusal) || strings.Contains(o.Why, "the GPU models differ") != refusal || strings.Contains(o.Short, "the GPU models differ") {
				t.Errorf("%s: %s, %q, in short %q", o.Gate.Text, o.Result, o.Why, o.Short)
			}
		}
	}
}

// TestRunsDiffer: one run of many that is of another device spoils the medians.
func TestRunsDiffer(t *testing.T) {
	odd := func() []Run {
		runs := steady(5)
		runs[3].Summary.Devices[0].Name = "NVIDIA A100"
		return runs
	}
	for _, tc := range []struct {
		now, base []Run
		want      string
	}{
		{odd(), steady(5), "not comparable: the base ran on NVIDIA H100 80GB HBM3 and new run 4 on NVIDIA A100: the GPU models differ, so time differences do not show the effect of the program; "},
		{steady(5), odd(), "not comparable: the base ran on NVIDIA H100 80GB HBM3 and base run 4 on NVIDIA A100: the GPU models differ, so time differences do not show the effect of the program; "},
	} {
		if o := outcome(t, "step.median: {max_increase: 5%}", tc.now, tc.base); o.Result != Inconclusive || !strings.HasPrefix(o.Why, tc.want) {
			t.Errorf("%s: %s, want %s", o.Result, o.Why, tc.want)
		}
	}
}

// TestSkipped: a gate is left out only where neither side has its metric, and
// nothing but such gates is no pass.
func TestSkipped(t *testing.T) {
	none := func(s *summary.Summary) { s.Memory = nil }
	const gate = "memory.peak: {max: 80GiB, if_measured: true}"
	if o := outcome(t, gate, steady(1, none), steady(1, none)); o.Result != Skipped {
		t.Errorf("without it on both sides: %s", o.Result)
	}
	if o := outcome(t, gate, steady(1, none), nil); o.Result != Skipped {
		t.Errorf("without it and without a baseline: %s", o.Result)
	}
	if o := outcome(t, gate, steady(1, none), steady(1)); o.Result != Error {
		t.Errorf("gone: %s", o.Result)
	}
	if o := outcome(t, gate, steady(1), steady(1, none)); o.Result != Pass {
		t.Errorf("new: %s", o.Result)
	}
}

// TestSteady checks that a value that is equal in every run is compared with its limit
// without noise.
func TestSteady(t *testing.T) {
	more := func(by int64) func(*summary.Summary) {
		return func(s *summary.Summary) {
			for i := range s.Kernels {
				s.Kernels[i].Count += s.Kernels[i].Count * by / 100
			}
		}
	}
	if o := outcome(t, "kernel.count: {max_increase: 5%}", steady(1, more(6)), steady(1)); o.Result != Fail {
		t.Errorf("a single run: %s, %s", o.Result, o.Why)
	}
	var runs []Run
	for i := range int64(6) {
		runs = append(runs, steady(1, more(i))...)
	}
	if o := outcome(t, "kernel.count: <= 7200", runs, nil); o.Result != Fail {
		t.Errorf("runs on both sides of a limit: %s, %s", o.Result, o.Why)
	}
}

// TestResult: a gate that was left out changes nothing, unless all were.
func TestResult(t *testing.T) {
	gates, err := Parse([]byte("step.count: '>= 1'\nmemory.peak{device=9}: {max: 1GiB, if_measured: true}\n"), "g.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		gates []Gate
		want  Result
	}{{gates, Pass}, {[]Gate{gates[1], gates[0]}, Pass}, {gates[1:], Skipped}} {
		rep, err := Check(tc.gates, steady(1), nil, Options{})
		if err != nil || rep.Result != tc.want {
			t.Errorf("%v, %v; want %s", rep.Result, err, tc.want)
		}
	}
}

// TestOrder: the worst result is that of all, and comes first.
func TestOrder(t *testing.T) {
	gates, err := Parse([]byte("step.max: {max: 1ns, level: warn}\nstep.mean: <= 1ns\nstep.count: '>= 1'\nmemory.peak{device=9}: <= 1GiB\nlaunches.count: {max: 1, if_measured: true}\nmemory.peak: {max: 1TiB}\n"), "g.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rep, err := Check(gates, steady(1, func(s *summary.Summary) { s.Launches = nil }), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range rep.ByImpact() {
		got = append(got, o.Result.String())
	}
	if text := strings.Join(got, " "); text != "fail error warn pass pass skipped" || rep.Result != Fail {
		t.Errorf("%s: %s", rep.Result, text)
	}
	if _, err := Check(gates, nil, nil, Options{}); err != ErrNoRun {
		t.Errorf("no runs: %v", err)
	}
}

// TestHostileSummary: sums at the end of int64, negative counts and lists of
// unequal length are numbers or errors, and nothing breaks.
func TestHostileSummary(t *testing.T) {
	const most = 1<<63 - 1
	s := usualProgram().run(seeded(1), 1)
	for i := range s.Kernels {
		s.Kernels[i].Count, s.Kernels[i].TotalNS = most, -most
	}
	for i := range s.Steps {
		s.Steps[i].WallNS = most
	}
	for i := range s.Launches {
		s.Launches[i].PerStep = nil
		s.Launches[i].Input = 99
	}
	for i := range s.Annotations {
		s.Annotations[i].Count = -1
	}
	*s.Memory[0].Capacity = -1
	var text strings.Builder
	for _, m := range metric.Metrics() {
		text.WriteString(strings.ReplaceAll(m.Named(), "NAME", "'*'") + ": {max: " + m.Unit.Example() + ", if_measured: true}\n")
	}
	gates, err := Parse([]byte(strings.ReplaceAll(text.String(), "'*'", "*")), "g.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rep, err := Check(gates, []Run{{Summary: s}}, []Run{{Summary: s}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Outcomes) != len(metric.Metrics()) {
		t.Errorf("%d outcomes, want %d", len(rep.Outcomes), len(metric.Metrics()))
	}
	for _, o := range rep.Outcomes {
		if o.Why == "" || strings.Contains(o.Why, "NaN") || strings.Contains(o.Why, "Inf") {
			t.Errorf("%s: %s", o.Gate.Text, o.Why)
		}
	}
}
