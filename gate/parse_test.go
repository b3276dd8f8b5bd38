package gate

import (
	"strings"
	"testing"

	"assay/gate/metric"
)

// TestParse reads each form and prints what it understood.
func TestParse(t *testing.T) {
	for _, tc := range []struct{ yaml, gate, limit string }{
		{`gpu.busy_share: ">= 80%"`, "gpu.busy_share", ">= 80%"},
		{`gpu.busy_share: ">= 0.8"`, "gpu.busy_share", ">= 80%"},
		{`comm.exposed_share: <= 5%`, "comm.exposed_share", "<= 5%"},
		{`comm.exposed_share: "<5%"`, "comm.exposed_share", "< 5%"},
		{`phase.mean{phase=weight_sync}: "<= 2s"`, "phase.mean{phase=weight_sync}", "<= 2 s"},
		{`phase.mean{ phase = "a, b" , rank=1 }: "<= 2s"`, `phase.mean{phase="a, b", rank=1}`, "<= 2 s"},
		{`memory.peak: "<= 64GiB"`, "memory.peak", "<= 64 GiB"},
		{`step.max: "<= 2000ms"`, "step.max", "<= 2000 ms"},
		{`step.max: {max_increase: 1500us, min_abs: 0.5 ms}`, "step.max", "max increase 1500 us, from 0.5 ms on"},
		{`memory.peak: {max: 80GB, max_increase: 512MiB}`, "memory.peak", "<= 80 GB, max increase 512 MiB"},
		{`comm.busbw{op=all-reduce}: ">= 300GB/s"`, "comm.busbw{op=all-reduce}", ">= 300 GB/s"},
		{`launches.per_step: "== 114"`, "launches.per_step", "== 114"},
		{`launches.per_step: {equal: 114}`, "launches.per_step", "== 114"},
		{`step.median: {max_increase: 5%, min_abs: 1ms}`, "step.median", "max increase 5%, from 1 ms on"},
		{`step.median: {max_increase: 2ms}`, "step.median", "max increase 2 ms"},
		{`kernel.count: {max_increase: 0%, max_decrease: 10}`, "kernel.count", "max increase 0%, max decrease 10"},
		{`gpu.busy_share: {min: 80%, max_decrease: 2pp}`, "gpu.busy_share", ">= 80%, max decrease 2 points"},
		{`gpu.busy_share: {max_decrease: 1pp}`, "gpu.busy_share", "max decrease 1 point"},
		{`gpu.busy_share: {fail: ">= 80%", warn: ">= 90%"}`, "gpu.busy_share", ">= 80%; warn: >= 90%"},
		{`step.median: {max_increase: 8%, warn: {max_increase: 3%, min_abs: 1ms}}`, "step.median", "max increase 8%; warn: max increase 3%, from 1 ms on"},
		{`step.median: {max: 1s, level: warn, noise: 10%, if_measured: true, source: us}`, "step.median", "<= 1 s"},
		{`idle.share{owner=host-late, device=0}: "<= 5%"`, "idle.share{owner=host-late, device=0}", "<= 5%"},
		{`step.median{steps=3-}: "<= 5ms"`, "step.median{steps=3-}", "<= 5 ms"},
		{"# a comment\nstep.max: |\n", "", "gates.yaml:2: step.max: want one value in one line; write conditions in quotes: \">= 80%\""},
	} {
		gates, err := Parse([]byte(tc.yaml), "gates.yaml")
		switch {
		case tc.gate == "" && (err == nil || err.Error() != tc.limit):
			t.Errorf("%s: %v, want %s", tc.yaml, err, tc.limit)
		case tc.gate == "":
		case err != nil:
			t.Errorf("%s: %v", tc.yaml, err)
		case len(gates) != 1 || gates[0].Text != tc.gate || gates[0].Limit() != tc.limit:
			t.Errorf("%s: %d gates, %s: %s; want %s: %s", tc.yaml, len(gates), gates[0].Text, gates[0].Limit(), tc.gate, tc.limit)
		}
	}
}

// TestParseErrors has what is wrong, where, and what to do.
func TestParseErrors(t *testing.T) {
	for _, tc := range []struct{ yaml, want string }{
		{"", `1: no gates; "assay help gates" shows some`},
		{"# nothing\n", `1: no gates; "assay help gates" shows some`},
		{"- step.max", `1: want a mapping of gates, got sequence`},
		{"\nstep.medain: <= 5ms", `2: unknown metric "step.medain", did you mean step.median, step.mean; "assay help gates" lists all`},
		{"kernels.cuont: <= 5", `1: unknown metric "kernels.cuont", did you mean kernels.count, kernels.count_per_step, kernels.total, kernels.total_per_step; "assay help gates" lists all`},
		{"gpu_busy: <= 5", `1: unknown metric "gpu_busy", did you mean gpu.busy_share; "assay help gates" lists all`},
		{"step.max:", `1: step.max: want one value, got null`},
		{"step.max: 5ms", `1: step.max: condition "5ms", want an operator (<=, >=, <, >, ==) and a duration, such as "<= 2s"`},
		{"step.max: <= 5", `1: step.max: duration "5": want a number and one of ns, us, ms, s, min, h`},
		{"step.max: <= -5ms", `1: step.max: "-5ms" is below 0`},
		{"memory.peak: <= 5 parsecs", `1: memory.peak: size "5 parsecs": want a number and one of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB`},
		{"gpu.busy_share: '>= 80'", `1: gpu.busy_share: share "80" is over 100%; write 80% or 0.8`},
		{"kernel.count: <= many", `1: kernel.count: "many" is not a number`},
		{"kernel.count: <= NaN", `1: kernel.count: "NaN" is not a number`},
		{"step.max: {}", `1: step.max: no limit; want one of max, min, equal, max_increase, max_decrease`},
		{"step.max: {maximum: 5ms}", `1: step.max: unknown key "maximum", want one of max, min, equal, max_increase, max_decrease, min_abs, warn, level, noise, if_measured, source`},
		{"step.max:\n  max: 5ms\n  min_abs: 1ms", `1: step.max: min_abs is valid only with max_increase or max_decrease`},
		{"step.max: {max_increase: 5%, min_abs: 1%}", `1: step.max: min_abs: "1%" is no difference of a duration, want one as 1ms`},
		{"step.max: {max_increase: 5}", `1: step.max: max_increase: duration "5": want a number and one of ns, us, ms, s, min, h`},
		{"gpu.busy_share: {max_decrease: 5}", `1: gpu.busy_share: max_decrease: "5" is no change of a share, want one as 5% (of the baseline's value) or 2pp (percentage points)`},
		{"step.max: {max: 5ms, level: loud}", `1: step.max: level is "loud", want fail or warn`},
		{"step.max: {max: 5ms, noise: some}", `1: step.max: noise is "some", want a share from 0% on, as 10%`},
		{"kernel.count: {max_increase: 5%, noise: 3%}", `1: kernel.count: noise does not apply: it is the same in every run`},
		{"step.max: {max: 5ms, if_measured: perhaps}", `1: step.max: if_measured is "perhaps", want true or false`},
		{"phase.mean: <= 2s", `1: phase.mean needs a selector: write phase.mean{phase=NAME}`},
		{"function.self: <= 2s", `1: function.self needs a selector: write function.self{function=NAME}`},
		{"table.time{table=a, column=total}: <= 2s", `1: table.time needs a selector: write table.time{table=NAME, row=NAME, column=NAME}`},
		{"comm.busbw: '>= 300'", `1: comm.busbw: bandwidth "300": want a size per second, such as 300GB/s`},
		{"comm.busbw: '>= 300 parsecs/s'", `1: comm.busbw: size "300 parsecs": want a number and one of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB`},
		{"kernel.count{categry=gemm}: <= 5", `1: kernel.count has no selector "categry", want one of device, rank, category, class, kernel, op`},
		{"kernel.count{category}: <= 5", `1: selector: want key=value: at character 1: "category" is no condition, want a column, one of = != < <= > >= ~ !~ and a value`},
		{"kernel.count{category=}: <= 5", `1: selector "category=": want key=value`},
		{"kernel.count{category=gemm: <= 5", `1: selector "{category=gemm" has no closing brace`},
		{"'kernel.count{op=\"a}': <= 5", `1: selector: want key=value: at character 4: a quote is not closed`},
		{"kernel.count{category=gemm or op=a}: <= 5", `1: selector: its terms are joined by commas`},
		{"kernel.count{not category=gemm}: <= 5", `1: selector: its terms are joined by commas`},
		{"kernel.count{category!=gemm}: <= 5", `1: selector "category!=gemm": category takes "=" only`},
		{"kernel.count{op~mm}: <= 5", `1: selector "op~mm": op takes "=" only`},
		{"kernel.count{rank=1, rank=2}: <= 5", `1: selector "rank" is given twice`},
		{"kernel.count{rank=first}: <= 5", `1: selector rank: "first" is not a whole number`},
		{"kernel.count{class=gemm}: <= 5", `1: selector class: unknown class "gemm", want one of comm, compute, copy, memset`},
		{"idle.share{owner=host}: <= 5%", `1: selector owner: unknown owner "host", want one of host-late, dependency, other-gpu, launch-latency, between-kernels, nothing-offered, opaque-graph, not-recorded, unknown`},
		{"step.max{steps=5-3}: <= 5ms", `1: selector steps: "5-3" is no range of step numbers, want one as 3, 3-5 or 3-`},
		{"step.max{steps=steady}: <= 5ms", `1: selector steps: "steady" is no range of step numbers; leave the selector out, and run "assay check" with --steady, which leaves out warm-up and partial steps`},
		{"step.max{steps=all}: <= 5ms", `1: selector steps: "all" is no range of step numbers, want one as 3, 3-5 or 3-`},
		{"step.max: <= 5ms\nstep.max: <= 4ms", `2: `}, // the YAML library finds it first
		{"step.max: <= 5ms\n'step.max ': <= 4ms", `2: step.max: second gate of that name, the first is in line 1; write its limits into one`},
		{"step.max: <= 5ms\n---\nstep.max: <= 4ms", `3: second YAML document, want one`},
		{"step.max: {max: 5ms\n", `1: malformed YAML: `},
	} {
		_, err := Parse([]byte(tc.yaml), "g.yaml")
		if err == nil {
			t.Errorf("%q is read, want %s", tc.yaml, tc.want)
			continue
		}
		prefix := strings.HasSuffix(tc.want, ": ") // what follows are the words of the YAML library
		if got, ok := strings.CutPrefix(err.Error(), "g.yaml:"); !ok || got != tc.want && !(prefix && strings.HasPrefix(got, tc.want)) {
			t.Errorf("%q:\n got %s\nwant g.yaml:%s", tc.yaml, err, tc.want)
		}
	}
}

// TestParseBare has the mistake that is made most: to YAML a bare ">" begins a
// text of many lines.
func TestParseBare(t *testing.T) {
	_, err := Parse([]byte("step.count: \">= 3\"\ngpu.busy_share: >= 80%\n"), "g.yaml")
	if err == nil || !strings.HasPrefix(err.Error(), "g.yaml:2: ") || !strings.Contains(err.Error(), `in quotes: ">= 80%"`) {
		t.Errorf("%v, want line 2 and the condition in quotes", err)
	}
}

// TestDefault holds the built-in gates to what their file promises.
func TestDefault(t *testing.T) {
	for _, g := range Default() {
		if !g.NeedsBaseline() || !g.IfMeasured {
			t.Errorf("%s: a default gate must compare, and must not demand its metric", g.Text)
		}
		want := metric.UsualNoise
		if g.Metric.Unit == metric.Share {
			want /= 4
		}
		if !g.Metric.Steady && g.Noise < want {
			t.Errorf("%s: noise is %g, want %g or more", g.Text, g.Noise, want)
		}
	}
}

// TestSingleRunNoise: the key of the file counts for all gates before and behind it that
// have no noise of their own.
func TestSingleRunNoise(t *testing.T) {
	gates, err := Parse([]byte("step.max: {max_increase: 5%}\nsingle_run_noise: 40%\nstep.mean: {max_increase: 5%, noise: 3%}\ngpu.busy_share: {max_decrease: 2pp}\nkernel.count: {max_increase: 0%}\n"), "g.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.4, 0.03, 0.1, 0} {
		if gates[i].Noise != want {
			t.Errorf("%s: noise is %g, want %g", gates[i].Text, gates[i].Noise, want)
		}
	}
	for text, want := range map[string]string{
		"single_run_noise: lots\nstep.max: <= 1s":   `g.yaml:1: single_run_noise is "lots", want a share from 0% on, as 10%`,
		"single_run_noise: -3%\nstep.max: <= 1s":    `g.yaml:1: single_run_noise is "-3%", want a share from 0% on, as 10%`,
		"single_run_noise: {a: b}\nstep.max: <= 1s": `g.yaml:1: single_run_noise: want one value, got mapping`,
		"single_run_noise: 5%":                      `g.yaml:1: no gates; "assay help gates" shows some`,
	} {
		if _, err := Parse([]byte(text), "g.yaml"); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestExamples: the examples of every metric are gates of it.
func TestExamples(t *testing.T) {
	for _, m := range metric.Metrics() {
		page, err := metric.Explain(m.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range page.Examples {
			if gates, err := Parse([]byte(line), "g.yaml"); err != nil || gates[0].Metric.Name != m.Name {
				t.Errorf("%s: example %s: %v", m.Name, line, err)
			}
		}
	}
}

// FuzzParse: whatever a file holds, it is gates or one line that says what is
// wrong with it; and what was understood is understood again.
func FuzzParse(f *testing.F) {
	f.Add(BuiltIn())
	f.Add("gpu.busy_share: \">= 80%\"\nkernels.total{category=gemm, op=\"a,b\"}: {max_increase: 5%, warn: {max: 1ms}}\n")
	f.Add("phase.mean{phase=*x*}: <= 2s\n")
	f.Add("step.max: >\n  folded\n")
	f.Add("? [a, b]\n: &x {max: *x}\n")
	f.Add("\xef\xbb\xbfstep.max{steps=9223372036854775807-}: <1h")
	f.Fuzz(func(t *testing.T, text string) {
		gates, err := Parse([]byte(text), "g.yaml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "g.yaml:") {
				t.Fatalf("no position: %s", err)
			}
			return
		}
		for _, g := range gates {
			m, sel, err := metric.Parse(g.Text)
			if err != nil || m.Name != g.Metric.Name || sel.String() != g.Selector.String() {
				t.Fatalf("%q is read as %q, and that as %v %v, %v", text, g.Text, m, sel, err)
			}
			if g.Limit() == "" {
				t.Fatalf("%q: %s has no limit", text, g.Text)
			}
		}
	})
}
