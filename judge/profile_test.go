package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A fn is a function of a test: times in ms, -1 for what is not known.
type fn struct {
	name        string
	self, total int64
	count       int64
}

// profiled returns a summary of profiles by yappi, each of one input.
func profiled(clock string, tables ...[]fn) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema}
	for i, rows := range tables {
		s.Inputs = append(s.Inputs, summary.Input{Path: fmt.Sprintf("p%d.txt", i), Format: "yappi"})
		t := summary.Table{Input: i, Tool: "yappi", Name: "functions", Of: summary.OfFunction, Clock: clock, Columns: []summary.TableColumn{
			{Name: "count", Unit: "count", Adds: summary.AddsSelf}, {Name: "self", Unit: "ns", Adds: summary.AddsSelf}, {Name: "total", Unit: "ns", Adds: summary.AddsTotal}}}
		for _, f := range rows {
			cell := func(n, size int64) *int64 {
				if n < 0 {
					return nil
				}
				n *= size
				return &n
			}
			t.Rows = append(t.Rows, summary.TableRow{Name: f.name, Values: []*int64{cell(f.count, 1), cell(f.self, 1e6), cell(f.total, 1e6)}})
		}
		s.Tables = append(s.Tables, t)
	}
	s.Sort()
	return s
}

// levelsOf lists the findings as "rule level".
func levelsOf(r Result) (out []string) {
	for _, f := range r.Findings {
		out = append(out, f.Rule+" "+f.Level.String())
	}
	return out
}

func findingBy(t *testing.T, r Result, id string) finding.Finding {
	t.Helper()
	i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == id })
	if i < 0 {
		t.Fatalf("no finding of %s among %v", id, levelsOf(r))
	}
	return r.Findings[i]
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in:\n%s", p, text)
		}
	}
}

// TestProfileRules checks profiles against the rules one by one, at and below
// their limits.
func TestProfileRules(t *testing.T) {
	const lib = "/usr/lib/python3.11/asyncio/events.py:78 run"
	var even []fn
	for i := range 20 {
		even = append(even, fn{fmt.Sprintf("app.py:%d f", i), 5, 5, 1})
	}
	for _, tt := range []struct {
		name  string
		clock string
		rows  []fn
		bound string
		want  []string
	}{
		{"one function has half by itself", "cpu", []fn{{"app.py:1 main", 50, 100, 1}, {"app.py:2 f", 50, 50, 1}}, "function",
			[]string{"function-total critical", "function-self critical"}},
		{"just under half", "cpu", []fn{{"app.py:1 f", 49, 49, 1}, {"app.py:2 g", 19, 19, 1}, {"app.py:3 h", 16, 16, 1}, {"app.py:4 i", 16, 16, 1}}, "function",
			[]string{"function-total warn"}},
		{"main has some by itself", "cpu", append([]fn{{"app.py:99 main", 30, 100, 1}}, even[:14]...), "function",
			[]string{"function-total critical", "function-self warn"}},
		{"it spreads evenly below main", "cpu", append([]fn{{"app.py:99 main", 0, 100, 1}}, even...), "mixed", []string{"function-total info"}},
		{"evenly, and nobody above", "cpu", even, "mixed", nil},
		{"a log of one file: what is called is not in it", "cpu", []fn{{"app.py:1 verify", 1, 100, 9}, {"app.py:2 check", 2, 99, 9}}, "function",
			[]string{"function-total critical", "nested-cost warn"}},
		{"libraries call the program and not the other way round", "cpu", []fn{{lib, 10, 100, 1}, {"app.py:2 f", 30, 40, 1}, {lib + "2", 60, 90, 1}}, "function",
			[]string{"function-self critical", "function-total warn"}},
		{"all of it waits", "wall", []fn{{"app.py:1 f", 1, 100, 1}, {"/usr/lib/python3.11/asyncio/tasks.py:627 sleep", 99, 99, 1}}, "waiting",
			[]string{"waiting critical"}},
		{"half of it works", "wall", []fn{{"app.py:1 f", 50, 100, 1}, {"/usr/lib/python3.11/asyncio/tasks.py:627 sleep", 50, 50, 1}}, "function",
			[]string{"function-total critical", "function-self critical", "waiting warn"}},
		{"sleep by the clock of the CPU is work", "cpu", []fn{{"app.py:1 f", 1, 100, 1}, {"/usr/lib/python3.11/asyncio/tasks.py:627 sleep", 99, 99, 1}}, "function",
			[]string{"function-total critical", "nested-cost warn"}},
		{"many calls of 9.99 µs", "cpu", append([]fn{{"app.py:50 tiny", 25, 25, 2502}}, even[:15]...), "function", []string{"function-total warn", "many-cheap-calls warn"}},
		{"calls of 10 µs are not cheap", "cpu", append([]fn{{"app.py:50 tiny", 25, 25, 2500}}, even[:15]...), "function", []string{"function-total warn"}},
		{"999 calls are not many", "cpu", append([]fn{{"app.py:50 tiny", 9, 9, 999}, {"app.py:51 tiny", 9, 9, 999}, {"app.py:52 tiny", 9, 9, 999}}, even...), "mixed", nil},
	} {
		r := Judge(profiled(tt.clock, tt.rows), rule.Thresholds{})
		if r.Verdict.Bound != finding.Bound(tt.bound) || !slices.Equal(levelsOf(r), tt.want) {
			t.Errorf("%s: %s %v, want %s %v\n%+v", tt.name, r.Verdict.Bound, levelsOf(r), finding.Bound(tt.bound), tt.want, r.Verdict)
		}
	}
}

// TestProfileWords: value, limit and denominator are in the title, and what is
// missing is reported.
func TestProfileWords(t *testing.T) {
	r := Judge(profiled("cpu", []fn{{"/srv/app/judge.py:27 Judge.verify", 1, 100, 40}, {"/srv/app/judge.py:31 Judge.check", 2, 99, 40}, {"/srv/app/judge.py:9 small", -1, -1, -1}}), rule.Thresholds{})
	f := findingBy(t, r, rule.FunctionTotal)
	wantIn(t, f.Title, `Hot function: "Judge.check" (judge.py:31), 99.0% of total time (99 ms of 100 ms); limit 50%`)
	wantIn(t, strings.Join(f.Evidence, "\n"), `"Judge.check" (judge.py:31): 99 ms total, 2 ms self, 40 calls, 2.48 ms each`, `1 more function with at least 10%`,
		`"Judge.verify" (judge.py:27): 100.0%`, "the self times sum to 3 ms of 100 ms", "CPU clock")
	wantIn(t, strings.Join(texts(f.Next), "\n"), "functools.lru_cache", "asyncio.gather")
	if f.Value != 0.99 || f.NumeratorNS != 99e6 || f.DenominatorNS != 100e6 || f.Warn != 0.1 || f.Critical != 0.5 {
		t.Errorf("the numbers are %+v", f)
	}
	if r.Verdict.Sentence != f.Title || r.Verdict.Rule != rule.FunctionTotal {
		t.Errorf("the verdict is %+v", r.Verdict)
	}
	nested := findingBy(t, r, rule.NestedCost)
	wantIn(t, nested.Title, `"Judge.check" (judge.py:31) spends 98.0% of its time in callees (97 ms of 99 ms); limit 90%`)
	wantIn(t, strings.Join(nested.Evidence, "\n"), "lists no callees")
}

// TestProfileCalls: calls lead to the innermost of functions with equal totals,
// and say where the cost within it goes.
func TestProfileCalls(t *testing.T) {
	s := profiled("", []fn{{"app.py:1 a", 0, 100, 1}, {"app.py:2 b", 0, 100, 1}, {"app.py:3 c", 0, 100, 1}, {"/usr/lib/python3.11/json/decoder.py:4 raw", 60, 60, 7}, {"/usr/lib/python3.11/re.py:5 match", 40, 40, 3}})
	edge := func(caller, callee string, total, count int64) summary.TableRow {
		total *= 1e6
		return summary.TableRow{Name: callee, Labels: map[string]string{"caller": caller}, Values: []*int64{&count, &total}}
	}
	s.Tables = append(s.Tables, summary.Table{Number: 1, Name: "calls", Of: summary.OfEdge,
		Columns: []summary.TableColumn{{Name: "count", Unit: "count", Adds: summary.AddsSelf}, {Name: "total", Unit: "ns", Adds: summary.AddsTotal}},
		Rows: []summary.TableRow{edge("app.py:1 a", "app.py:2 b", 100, 1), edge("app.py:2 b", "app.py:3 c", 100, 1), edge("app.py:3 c", "app.py:1 a", 60, 1),
			edge("app.py:3 c", "/usr/lib/python3.11/json/decoder.py:4 raw", 60, 7), edge("app.py:3 c", "/usr/lib/python3.11/re.py:5 match", 40, 3)}})
	r := Judge(s, rule.Thresholds{})
	f := findingBy(t, r, rule.NestedCost)
	wantIn(t, f.Title, `"c" (app.py:3) spends 100.0% of its time in callees`)
	wantIn(t, strings.Join(f.Evidence, "\n"), `callee "raw" (decoder.py:4): 60.0% of it (60 ms in 7 calls)`, `callee "match" (re.py:5): 40.0% of it (40 ms in 3 calls)`)
}

// TestTwoClocks: what the clock of the wall has more than that of the CPU was
// waited for; other programs are not compared with each other.
func TestTwoClocks(t *testing.T) {
	s := profiled("wall", []fn{{"app.py:1 verify", 90, 1000, 10}, {"app.py:2 check", 910, 910, 10}}, []fn{{"app.py:1 verify", 40, 100, 10}, {"app.py:2 check", 60, 60, 10}})
	for i := range s.Tables {
		if s.Tables[i].Input == 1 {
			s.Tables[i].Clock = "cpu"
		}
	}
	f := findingBy(t, Judge(s, rule.Thresholds{}), rule.Waiting)
	wantIn(t, f.Title, `Blocked: "verify" (app.py:1) waits for 90.0% of its wall time (900 ms of 1 s); limit 60%`)
	wantIn(t, strings.Join(f.Evidence, "\n"), "wall clock: 1 s total", "CPU clock: 100 ms total", "two runs")
	for i := range s.Tables {
		if s.Tables[i].Input == 1 {
			s.Tables[i].Rows[0].Name, s.Tables[i].Rows[1].Name = "other.py:1 x", "other.py:2 y"
		}
	}
	if r := Judge(s, rule.Thresholds{}); slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule.Waiting }) {
		t.Errorf("two programs are held against each other: %v", levelsOf(r))
	}
}

// TestGrowing: an average that grows from the first profile to the second.
func TestGrowing(t *testing.T) {
	before := []fn{{"app.py:1 verify", 50, 100, 100}, {"app.py:2 look", 50, 50, 100}}
	after := []fn{{"app.py:1 verify", 100, 400, 200}, {"app.py:2 look", 300, 300, 200}}
	r := Judge(profiled("cpu", before, after), rule.Thresholds{})
	f := findingBy(t, r, rule.GrowingAverage)
	wantIn(t, f.Title, `Mean call time +200.0%: "look" (app.py:2), 1.5 ms, was 500 µs; limit 100%`)
	wantIn(t, strings.Join(f.Evidence, "\n"), "p0.txt: 50 ms total", "p1.txt: 300 ms total")
	for name, s := range map[string]*summary.Summary{
		"shrinks": profiled("cpu", after, before), "three profiles": profiled("cpu", before, after, after), "the same": profiled("cpu", before, before),
	} {
		if r := Judge(s, rule.Thresholds{}); slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule.GrowingAverage }) {
			t.Errorf("%s: %v", name, levelsOf(r))
		}
	}
}

// TestProfileUnits: profiles of memory and of samples are judged by their shares
// and not as time.
func TestProfileUnits(t *testing.T) {
	for unit, want := range map[string]string{"bytes": "60.0% of total bytes (57.2 MiB of 95.4 MiB)", "count": "60.0% of total samples (60,000,000 of 100,000,000)"} {
		s := profiled("", []fn{{"main", 40, 100, -1}, {"load", 60, 60, -1}})
		s.Tables[0].Columns[1].Unit, s.Tables[0].Columns[2].Unit = unit, unit
		f := findingBy(t, Judge(s, rule.Thresholds{}), rule.FunctionTotal)
		wantIn(t, f.Title, want)
		if f.NumeratorNS != 0 || f.DenominatorNS != 0 || f.Value != 0.6 {
			t.Errorf("%s are said to be nanoseconds: %+v", unit, f)
		}
	}
}

// TestProfileEmpty: without rows nothing is judged, and next to other tables it is
// those that are judged.
func TestProfileEmpty(t *testing.T) {
	s := profiled("cpu", nil)
	s.Issues = []summary.Issue{{Code: "profile-rows-missing", Severity: "data-loss", Count: 1, Help: "the data is beside it"}}
	r := Judge(s, rule.Thresholds{})
	if r.Verdict.Bound != "unknown" || !strings.Contains(r.Verdict.Sentence, "has no functions") || !slices.Contains(texts(findingBy(t, r, rule.CaptureQuality).Next), "the data is beside it") {
		t.Errorf("%+v", r)
	}
	s = profiled("cpu", []fn{{"f", 1, 1, 1}})
	s.Tables = append(s.Tables, summary.Table{Number: 1, Of: summary.OfKernel})
	if r := Judge(s, rule.Thresholds{}); slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule.FunctionTotal }) {
		t.Errorf("%v", levelsOf(r))
	}
}

// TestDeepProfile: a chain of calls of any length is followed in one walk.
func TestDeepProfile(t *testing.T) {
	const n = 50_000
	var rows []fn
	calls := summary.Table{Number: 1, Of: summary.OfEdge, Columns: []summary.TableColumn{{Name: "total", Unit: "ns", Adds: summary.AddsTotal}}}
	ms := int64(100e6)
	for i := range n {
		rows = append(rows, fn{fmt.Sprintf("app.py:%d f", i), 0, 100, 1})
		calls.Rows = append(calls.Rows, summary.TableRow{Name: fmt.Sprintf("app.py:%d f", i+1), Labels: map[string]string{"caller": fmt.Sprintf("app.py:%d f", i)}, Values: []*int64{&ms}})
	}
	rows[n-1].self = 100
	s := profiled("cpu", rows)
	s.Tables = append(s.Tables, calls)
	f := findingBy(t, Judge(s, rule.Thresholds{}), rule.FunctionTotal)
	wantIn(t, f.Title, fmt.Sprintf(`Hot function: "f" (app.py:%d), 100.0%%`, n-1))
}

// TestAdviceByFunction: stacks of a trace have Python, its built-in functions and
// kernels side by side, and each has advice of its own.
func TestAdviceByFunction(t *testing.T) {
	for _, tt := range []struct {
		name, tool, file string
		self, total      int64
		title, next      string
	}{
		{"void gemm<float>(float*)", "pprof", "", 90, 90, "90.0% of total time (90 ms of 100 ms)", "less memory traffic"},
		{"backward", "pprof", "", 1, 90, "90.0% of total time (90 ms of 100 ms);", "call them less often, reduce their work"},
		{"step", "pprof", "train.py", 85, 90, "90.0% of total time (90 ms of 100 ms);", "sets and dicts"},
		{"train.py(12): step", "folded", "", 70, 90, "90.0% of total time (90 ms of 100 ms);", "sets and dicts"},
		{"<built-in method conv2d>", "folded", "", 90, 90, "90.0% of total time", "Call this compiled function less often"},
		{"{method 'run' of '_contextvars.Context' objects}", "pstats", "", 1, 90, "90.0% of total time", "If its callees wait"},
		{"..Server.verify", "yappi", "", 1, 90, "90.0% of total time", "asyncio.gather"},
	} {
		s := profiled("", []fn{{tt.name, tt.self, tt.total, -1}, {"train.py:1 rest", 100 - tt.self, 100 - tt.self, -1}})
		table := &s.Tables[0]
		table.Tool = tt.tool
		for i := range table.Rows {
			if r := &table.Rows[i]; r.Name == tt.name && tt.file != "" {
				r.Labels = map[string]string{"file": tt.file}
			} else if r.Name != tt.name {
				none, rest := int64(0), r.Values[1]
				r.Values[1], r.Values[2] = rest, &none // it has no total
			}
		}
		f := findingBy(t, Judge(s, rule.Thresholds{}), rule.FunctionTotal)
		wantIn(t, f.Title, fmt.Sprintf("%q", tt.name), tt.title)
		wantIn(t, rule.Text(f.Next[0]), tt.next)
		if tt.tool == "pprof" && tt.file == "" && strings.Contains(strings.Join(texts(f.Next), " "), "asyncio") {
			t.Errorf("%s is told of Python: %v", tt.name, texts(f.Next))
		}
	}
}

// TestProfileWithTrace: a sampler records the whole program, and a trace some steps of it. That the profile is long says nothing
// about the trace.
func TestProfileWithTrace(t *testing.T) {
	for _, run := range labelledTraces()[:6] {
		alone := Judge(run.in(t), rule.DefaultThresholds()).Verdict
		p := given(sampledBy("/srv/app/work.py"))(t)
		p.Inputs[0].SpanNS = 3600e9
		if both := Judge(summary.Merge(run.in(t), p), rule.DefaultThresholds()).Verdict; both.Bound != alone.Bound || both.Rule != alone.Rule {
			t.Errorf("%s: %s of %s, with a profile %s of %s", run.name, alone.Bound, alone.Rule, both.Bound, both.Rule)
		}
	}
}

// samples is a profile of a sampler: values in a unit, and what was idle.
func samples(tool, name, unit, clock string, idle int64, rows ...fn) *summary.Summary {
	s := profiled(clock, rows)
	t := &s.Tables[0]
	s.Inputs[0].Format, t.Tool, t.Name, t.Idle = tool, tool, name, idle
	t.Columns = []summary.TableColumn{{Name: "self", Unit: unit, Adds: summary.AddsSelf}, {Name: "total", Unit: unit, Adds: summary.AddsTotal}}
	for i := range t.Rows {
		t.Rows[i].Values = t.Rows[i].Values[1:]
		if unit != "ns" {
			for _, v := range t.Rows[i].Values {
				*v /= 1e6
			}
		}
	}
	return s
}

// TestSamplers: advice on the code of a function rests on time in which code ran: not on numbers of events, not on
// samples in which a function waits, and not on a small part of a recording that was idle.
func TestSamplers(t *testing.T) {
	waits := []fn{{"main", 1, 100, -1}, {"queue.py:7 epoll_wait", 70, 70, -1}, {"parse", 29, 29, -1}}
	hot := []fn{{"main", 1, 100, -1}, {"parse", 99, 99, -1}}
	for _, tt := range []struct {
		name  string
		s     *summary.Summary
		bound finding.Bound
		says  string
	}{
		{"samples of a wait", samples("speedscope", "samples", "count", "", 0, waits...), finding.BoundWaiting, "70.0% of the self samples (70 of 100)"},
		{"samples of CPU cycles cannot be a wait", samples("perf-script", "samples", "count", "", 0, waits...), finding.BoundFunction, "100.0% of total samples"},
		{"page faults", samples("perf-script", "page-faults", "events", "", 0, hot...), finding.BoundUnknown, "counts page-faults"},
		{"samples of a hot function", samples("speedscope", "samples", "count", "", 0, hot...), finding.BoundFunction, "99.0% of total samples"},
		{"a thread with little to do", samples("v8-profile", "time", "ns", "", 300e6, hot...), finding.BoundMixed, "Idle for 75.0% of the recording (300 ms of 400 ms)"},
		{"a thread that is idle at times", samples("v8-profile", "time", "ns", "", 25e6, hot...), finding.BoundFunction, "idle for 20.0% of the recording (25 ms of 125 ms)"},
		{"one of eight CPUs works", samples("perf-script", "cpu", "ns", "cpu", 700e6, hot...), finding.BoundFunction, "idle for 87.5% of the recording (700 ms of 800 ms)"},
	} {
		v := Judge(tt.s, rule.DefaultThresholds()).Verdict
		if v.Bound != tt.bound || !strings.Contains(v.Sentence, tt.says) {
			t.Errorf("%s: %s: %s", tt.name, v.Bound, v.Sentence)
		}
		if (v.Abstained != nil) != (tt.bound == finding.BoundUnknown) {
			t.Errorf("%s: abstained %+v", tt.name, v.Abstained)
		}
	}
}
