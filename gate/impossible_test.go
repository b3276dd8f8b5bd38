package gate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assay/gate"
	"assay/internal/test/tracegen"
	"assay/judge"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// moved returns a copy of a kernel with other members and other args.
func moved(m map[string]any, members, args map[string]any) map[string]any {
	all := map[string]any{"args": later(m["args"].(map[string]any), args)}
	for k, v := range members {
		all[k] = v
	}
	return later(m, all)
}

// at returns a time in µs, to the nanosecond.
func at(m map[string]any, key string, factor, plus float64) json.Number {
	return json.Number(fmt.Sprintf("%.3f", microseconds(m[key])*factor+plus))
}

// withheldBy checks that a capture has no verdict for a rule, and that no gate on its
// GPU work passes.
func withheldBy(t *testing.T, name string, s *summary.Summary, id string) {
	t.Helper()
	if v := judge.Judge(s, rule.DefaultThresholds()).Verdict; v.Abstained == nil || v.Abstained.Code != id {
		t.Errorf("%s: the verdict is %+v, want it withheld by %s", name, v, id)
	}
	for _, yaml := range []string{"gpu.busy_share: '>= 0%'", "kernel.count: '>= 1'", "step.median: '<= 100s'"} {
		if o := outcomeOf(t, yaml, s); o.Result != gate.Inconclusive {
			t.Errorf("%s: the gate %s is %s: %s", name, yaml, o.Result, o.Why)
		}
	}
}

// TestSeveralRecordsOfOneLaunch writes a second record for a share of the kernels, which
// differs from the first one: the issue counts them, and from 5% on no number is used.
func TestSeveralRecordsOfOneLaunch(t *testing.T) {
	r := recorded(t, tracegen.LLMTrainStep())
	ts := func(plus float64) func(m map[string]any) map[string]any {
		return func(m map[string]any) map[string]any {
			return moved(m, map[string]any{"ts": at(m, "ts", 1, plus)}, nil)
		}
	}
	number := func(n int) json.Number { return json.Number(fmt.Sprint(n)) }
	copied := fmt.Sprintf("CREATE TEMP TABLE again AS SELECT k.* FROM %s k JOIN %s o ON o.r = k.rowid WHERE o.i %%%% %%d = 0", kernels, ranked)
	insert := "INSERT INTO " + kernels + " SELECT * FROM again"
	for _, c := range []struct {
		name   string
		every  int
		second func(m map[string]any) map[string]any
		update string // of the rows of again
	}{
		{"on another stream", 1, func(m map[string]any) map[string]any {
			return moved(m, map[string]any{"tid": number(99)}, map[string]any{"stream": number(99)})
		}, "streamId = 99"},
		{"1 µs later", 1, ts(1), "start = start + 1000, \"end\" = \"end\" + 1000"},
		{"1 ns later", 1, ts(0.001), "start = start + 1, \"end\" = \"end\" + 1"},
		{"1 ns later, every tenth", 10, ts(0.001), "start = start + 1, \"end\" = \"end\" + 1"},
		{"18 ms later, every tenth", 10, ts(17579), "start = start + 17579000, \"end\" = \"end\" + 17579000"},
		{"on a second GPU", 1, func(m map[string]any) map[string]any {
			return moved(m, map[string]any{"pid": number(1)}, map[string]any{"device": number(1)})
		}, "deviceId = 1"},
		{"on an eighth GPU", 1, func(m map[string]any) map[string]any {
			return moved(m, map[string]any{"pid": number(7)}, map[string]any{"device": number(7)})
		}, "deviceId = 7"},
		{"of another kind", 1, func(m map[string]any) map[string]any {
			return moved(m, map[string]any{"cat": "gpu_memcpy", "name": "Memcpy DtoD (Device -> Device)"}, nil)
		}, ""},
		{"of another name", 1, func(m map[string]any) map[string]any { return moved(m, map[string]any{"name": "other"}, nil) }, ""},
		{"one in fifty, 1 ns later", 50, ts(0.001), "start = start + 1, \"end\" = \"end\" + 1"},
	} {
		s, want := r.rewritten(t, func(e event, n *int64) []map[string]any {
			if e.category == "kernel" && e.i%c.every == 0 {
				*n++
				return []map[string]any{e.m, c.second(e.m)}
			}
			return []map[string]any{e.m}
		})
		several(t, c.name+" in a trace", s, want, c.every)
		if c.update != "" {
			s, want = r.changed(t, fmt.Sprintf(copied, c.every), "UPDATE again SET "+c.update, insert)
			several(t, c.name+" in an export", s, want, c.every)
		}
	}
	s, want := r.rewritten(t, func(e event, n *int64) []map[string]any {
		if e.category != "kernel" {
			return []map[string]any{e.m}
		}
		*n++
		half := microseconds(e.m["dur"]) / 2
		dur := json.Number(fmt.Sprintf("%.3f", half))
		return []map[string]any{moved(e.m, map[string]any{"dur": dur}, nil), moved(e.m, map[string]any{"ts": at(e.m, "ts", 1, half), "dur": dur}, nil)}
	})
	several(t, "in halves", s, want, 1)
}

func several(t *testing.T, name string, s *summary.Summary, want int64, every int) {
	t.Helper()
	is, severity := issueOf(s, "launches-with-several-kernels"), "suspect"
	if every > 20 {
		severity = "info"
	}
	if is.Count != want || want == 0 || is.Severity != severity {
		t.Errorf("%s: %+v, want %d (%s)", name, is, want, severity)
	}
	if severity == "suspect" {
		withheldBy(t, name, s, rule.Clocks)
		return
	}
	res := judge.Judge(s, rule.DefaultThresholds())
	if res.Verdict.Abstained != nil {
		t.Errorf("%s: the verdict is %+v", name, res.Verdict)
	}
	found := false
	for _, f := range res.Findings {
		found = found || f.Level == finding.Warn && strings.Contains(f.Title, "launches-with-several-kernels")
	}
	if !found {
		t.Errorf("%s: no warning names the issue: %+v", name, res.Findings)
	}
}

// TestImpossibleDurations writes kernels that last longer than they can.
func TestImpossibleDurations(t *testing.T) {
	r := recorded(t, tracegen.LLMTrainStep())
	const hour = 3600
	whole := judge.Judge(ofTrace(t, r.text), rule.DefaultThresholds())
	for _, c := range []struct {
		name   string
		of     func(e event) bool
		dur    func(m map[string]any) json.Number
		update string
		check  func(*testing.T, string, *summary.Summary)
	}{
		{"an hour, in the middle", func(e event) bool { return e.i == e.of/2 }, func(m map[string]any) json.Number { return at(m, "dur", 0, hour*1e6) },
			fmt.Sprintf("\"end\" = start + %d WHERE rowid IN (SELECT r FROM %s WHERE i = n / 2)", hour*1_000_000_000, ranked), clipped(&whole)},
		{"an hour, at the end", func(e event) bool { return e.i == e.of-1 }, func(m map[string]any) json.Number { return at(m, "dur", 0, hour*1e6) },
			fmt.Sprintf("\"end\" = start + %d WHERE rowid IN (SELECT r FROM %s WHERE i = n - 1)", hour*1_000_000_000, ranked), long},
		{"a thousand times as long", func(event) bool { return true }, func(m map[string]any) json.Number { return at(m, "dur", 1000, 0) },
			"\"end\" = start + 1000 * (\"end\" - start)", long},
	} {
		s, _ := r.rewritten(t, func(e event, _ *int64) []map[string]any {
			if e.category == "kernel" && c.of(e) {
				return []map[string]any{moved(e.m, map[string]any{"dur": c.dur(e.m)}, nil)}
			}
			return []map[string]any{e.m}
		})
		c.check(t, c.name+" in a trace", s)
		s, _ = r.changed(t, "UPDATE "+kernels+" SET "+c.update)
		c.check(t, c.name+" in an export", s)
	}
}

// clipped checks that one duration was clipped, and changes no verdict.
func clipped(want *judge.Result) func(*testing.T, string, *summary.Summary) {
	return func(t *testing.T, name string, s *summary.Summary) {
		t.Helper()
		if is := issueOf(s, "duration-overruns"); is.Count != 1 || is.Severity != "suspect" {
			t.Errorf("%s: the issues are %+v", name, s.Issues)
		}
		if got := judge.Judge(s, rule.DefaultThresholds()); got.Verdict.Rule != want.Verdict.Rule {
			t.Errorf("%s: the verdict is %+v, want %+v", name, got.Verdict, want.Verdict)
		}
	}
}

func long(t *testing.T, name string, s *summary.Summary) {
	t.Helper()
	if is := issueOf(s, "work-time-implausible"); is.Count == 0 || is.Severity != "suspect" {
		t.Errorf("%s: the issues are %+v", name, s.Issues)
	}
	withheldBy(t, name, s, rule.Clocks)
}

// TestMissingStepMarker removes one marker of PyTorch's profiler: metrics that divide by
// the number of steps cannot be measured, and the others are what they were.
func TestMissingStepMarker(t *testing.T) {
	r := recorded(t, tracegen.LLMTrainStep())
	whole := ofTrace(t, r.text)
	for _, c := range []struct {
		gone []string
		want int64
	}{{[]string{"ProfilerStep#3"}, 1}, {[]string{"ProfilerStep#3", "ProfilerStep#4"}, 2}, {[]string{"ProfilerStep#2"}, 0}} {
		s, _ := r.rewritten(t, func(e event, _ *int64) []map[string]any {
			for _, name := range c.gone {
				if e.m["name"] == name {
					return nil
				}
			}
			return []map[string]any{e.m}
		})
		if is := issueOf(s, "steps-missing"); is.Count != c.want || c.want > 0 && is.Severity != "data-loss" {
			t.Errorf("without %v: %+v, want %d", c.gone, s.Issues, c.want)
		}
		if c.want == 0 {
			continue
		}
		for _, name := range []string{"kernel.count_per_step: '<= 1000000000'", "kernels.total_per_step: '<= 100s'"} {
			if o := outcomeOf(t, name, s); o.Result == gate.Pass || o.Result == gate.Fail {
				t.Errorf("without %v: the gate on %s is %s: %s", c.gone, name, o.Result, o.Why)
			}
		}
		for _, name := range []string{"launches.per_step: '>= 1'", "kernel.count: '>= 1'"} {
			now, before := outcomeOf(t, name, s), outcomeOf(t, name, whole)
			if now.Result != gate.Pass || now.Why != before.Why {
				t.Errorf("without %v: the gate %s is %s (%s), was %s", c.gone, name, now.Result, now.Why, before.Why)
			}
		}
	}
	if is := issueOf(whole, "steps-missing"); is.Count != 0 {
		t.Errorf("of the whole run: %+v", is)
	}
}

// TestCollectedEvents states a number of CUDA events in the messages of the profiler.
func TestCollectedEvents(t *testing.T) {
	r := recorded(t, tracegen.LLMTrainStep())
	rows := int64(0)
	for _, table := range []string{kernels, "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_RUNTIME"} {
		_, n := r.changed(t, "UPDATE "+table+" SET start = start")
		rows += n
	}
	create := "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INT, timestampType INT, source INT, severity INT, text TEXT, globalPid INT)"
	say := func(pid int, text string) string {
		return fmt.Sprintf("INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 2, 3, 1, '%s', %d)", text, pid)
	}
	collected := func(n int64) string { return fmt.Sprintf("Number of CUDA events collected: \t%d.", n) }
	for _, c := range []struct {
		name     string
		messages []string
		missing  int64
		severity string
	}{
		{"as many", []string{say(1, collected(rows))}, 0, ""},
		{"of two processes", []string{say(1, collected(rows-7)), say(2, collected(7))}, 0, ""},
		{"of one process, twice", []string{say(1, collected(rows)), say(1, collected(rows))}, 0, ""},
		{"twice as many", []string{say(1, collected(2*rows))}, rows, "data-loss"},
		{"one more of ten thousand", []string{say(1, collected(rows+1))}, 1, "data-loss"},
		{"of NVTX", []string{say(1, strings.Replace(collected(2*rows), "CUDA", "NVTX", 1))}, 0, ""},
		{"no number", []string{say(1, "Number of CUDA events collected: many.")}, 0, ""},
	} {
		if c.missing == 1 && rows > 1000 {
			c.severity = "info"
		}
		s, _ := r.changed(t, append([]string{create}, c.messages...)...)
		if is := issueOf(s, "cuda-events-missing"); is.Count != c.missing || is.Severity != c.severity {
			t.Errorf("%s: %+v, want %d (%s)", c.name, is, c.missing, c.severity)
		}
		if is := issueOf(s, "cuda-events-uncertain"); is.Count != 0 {
			t.Errorf("%s: %+v", c.name, is)
		}
		if o := outcomeOf(t, "kernel.count: '>= 1'", s); (o.Result == gate.Pass) != (c.severity != "data-loss") {
			t.Errorf("%s: the gate is %s: %s", c.name, o.Result, o.Why)
		}
	}
	// From a quarter of the GPU work on, there is no verdict: all missing events may be
	// GPU work.
	work := int64(0)
	for _, table := range []string{kernels, "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"} {
		_, n := r.changed(t, "UPDATE "+table+" SET start = start")
		work += n
	}
	for missing, withheld := range map[int64]bool{work/3 - 2: false, work/3 + 2: true, rows: true} {
		s, _ := r.changed(t, create, say(1, collected(rows+missing)))
		v := judge.Judge(s, rule.DefaultThresholds()).Verdict
		if is := issueOf(s, "cuda-events-incomplete"); (is.Count == missing) != withheld || (v.Abstained != nil && v.Abstained.Code == rule.RecordsMissing) != withheld || (v.Bound == "unknown") != withheld {
			t.Errorf("%d of %d missing: %+v, %+v", missing, work, is, v)
		}
	}
	s, _ := r.changed(t, create, say(1, "Not all CUDA events might have been collected."))
	if is := issueOf(s, "cuda-events-uncertain"); is.Count != 1 || is.Severity != "info" {
		t.Errorf("uncertain: %+v", s.Issues)
	}
}
