package gate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/compare"
	"assay/gate"
	"assay/internal/test/nsysgen"
	"assay/internal/test/tracegen"
	"assay/judge"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/nsys"
	"assay/summary"
	"assay/trace"
)

// A recording is one run in both formats.
type recording struct {
	name   string
	text   []byte // of the trace
	export string // its path
}

// recordings plays scenarios of every bottleneck.
func recordings(t *testing.T) (out []recording) {
	for _, sc := range []tracegen.Scenario{tracegen.ComputeBound(), tracegen.HostBound(), tracegen.CommBound(), tracegen.LLMTrainStep()} {
		out = append(out, recorded(t, sc))
	}
	return out
}

func recorded(t *testing.T, sc tracegen.Scenario) recording {
	t.Helper()
	r := recording{name: sc.Name, export: filepath.Join(t.TempDir(), sc.Name+".sqlite")}
	var b bytes.Buffer
	if _, err := nsysgen.Record(r.export, &b, sc, 0); err != nil {
		t.Fatal(err)
	}
	r.text = b.Bytes()
	return r
}

// measure returns the summary of a trace.
func measure(t *testing.T, tr *trace.Trace, err error, format string) *summary.Summary {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{Path: "run", Format: format, RankFrom: "trace"}, analyze.DefaultOptions())
}

func ofTrace(t *testing.T, text []byte) *summary.Summary {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(text), "run.json", analyze.Needs())
	return measure(t, tr, err, "kineto")
}

func ofExport(t *testing.T, path string) *summary.Summary {
	t.Helper()
	tr, err := nsys.ReadSQLite(path, path, analyze.Needs())
	return measure(t, tr, err, "nsys-sqlite")
}

// changed returns the summary of the export after statements of SQL, and how many rows
// the last one changed.
func (r recording) changed(t *testing.T, sql ...string) (*summary.Summary, int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "changed.sqlite")
	b, err := os.ReadFile(r.export)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	n, err := nsysgen.Change(path, sql...)
	if err != nil {
		t.Fatal(err)
	}
	return ofExport(t, path), int64(n)
}

// An event is one event of a trace, with its number among those of its kind.
type event struct {
	m        map[string]any
	category string
	launch   bool // a call that launches a kernel
	i, of    int  // of the kernels or of the launches of kernels, by start
}

func microseconds(v any) (f float64) {
	if n, ok := v.(json.Number); ok {
		f, _ = n.Float64()
	}
	return f
}

// rewritten returns the summary of the trace after f has changed each event, and how
// many f has counted.
func (r recording) rewritten(t *testing.T, f func(e event, n *int64) []map[string]any) (*summary.Summary, int64) {
	t.Helper()
	kindOf := func(m map[string]any) (category string, launch bool) {
		category, _ = m["cat"].(string)
		name, _ := m["name"].(string)
		return category, category == "cuda_runtime" && strings.Contains(name, "LaunchKernel")
	}
	starts := map[string][]float64{}
	tracegen.Change(r.text, func(m map[string]any) []map[string]any {
		if c, launch := kindOf(m); c == "kernel" || launch {
			starts[c] = append(starts[c], microseconds(m["ts"]))
		}
		return nil
	})
	for _, list := range starts {
		slices.Sort(list)
	}
	n := int64(0)
	text := tracegen.Change(r.text, func(m map[string]any) []map[string]any {
		e := event{m: m}
		e.category, e.launch = kindOf(m)
		if e.category == "kernel" || e.launch {
			e.i, _ = slices.BinarySearch(starts[e.category], microseconds(m["ts"]))
			e.of = len(starts[e.category])
		}
		return f(e, &n)
	})
	return ofTrace(t, text), n
}

// later returns a copy of an event with other values.
func later(m map[string]any, values map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	for k, v := range values {
		out[k] = v
	}
	return out
}

// linked returns a copy of an event with another correlation, none if it is "".
func linked(m map[string]any, correlation string) map[string]any {
	args := later(m["args"].(map[string]any), nil)
	delete(args, "correlation")
	if correlation != "" {
		args["correlation"] = json.Number(correlation)
	}
	return later(m, map[string]any{"args": args})
}

func issueOf(s *summary.Summary, code string) summary.Issue {
	for _, is := range s.Issues {
		if is.Code == code {
			return is
		}
	}
	return summary.Issue{}
}

// outcomeOf returns the result of one gate.
func outcomeOf(t *testing.T, yaml string, s *summary.Summary) gate.Outcome {
	t.Helper()
	gates, err := gate.Parse([]byte(yaml), "g.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rep, err := gate.Check(gates, gate.Runs([]*summary.Summary{copyOf(t, s, nil)}), nil, gate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rep.Outcomes[0]
}

// refused reports whether a comparison of the two summaries is refused for a reason.
func refused(t *testing.T, base, now *summary.Summary, code string) bool {
	t.Helper()
	_, err := compare.Runs(compare.Split(base), compare.Split(now), compare.Options{})
	var refusal *compare.Refusal
	return errors.As(err, &refusal) && refusal.Reason.Code == code
}

const kernels = "CUPTI_ACTIVITY_KIND_KERNEL"

// ranked selects a column of the kernels and their number by start.
const ranked = "(SELECT rowid AS r, row_number() OVER (ORDER BY start) - 1 AS i, count(*) OVER () AS n FROM " + kernels + ")"

// A fault is a change of the records of a run whose extent is known.
type fault struct {
	name     string
	trace    func(e event, n *int64) []map[string]any
	export   []string
	code     string
	severity string
	withheld string // the code of the abstention, "" if the verdict stays
	count    func(s *summary.Summary) int64
	gate     string // that must not pass, "" for one of the GPU
}

func faults() []fault {
	drop := func(gone func(e event) bool) func(e event, n *int64) []map[string]any {
		return func(e event, n *int64) []map[string]any {
			if gone(e) {
				*n++
				return nil
			}
			return []map[string]any{e.m}
		}
	}
	alter := func(is func(e event) bool, by func(e event) []map[string]any) func(e event, n *int64) []map[string]any {
		return func(e event, n *int64) []map[string]any {
			if is(e) {
				*n++
				return by(e)
			}
			return []map[string]any{e.m}
		}
	}
	kernel := func(of func(e event) bool) func(e event) bool {
		return func(e event) bool { return e.category == "kernel" && of(e) }
	}
	all := func(event) bool { return true }
	half := func(e event) bool { return e.i%2 == 1 }
	hourLater := func(e event) []map[string]any {
		return []map[string]any{later(e.m, map[string]any{"ts": json.Number(fmt.Sprintf("%.3f", microseconds(e.m["ts"])+3600e6))})}
	}
	const hour = 3600 * 1_000_000_000
	missing := func(s *summary.Summary) (n int64) {
		for _, r := range s.LaunchLosses {
			if r.OfKernels() {
				n += r.Missing
			}
		}
		return n
	}
	device := func(e event) bool { return strings.HasPrefix(e.category, "gpu_mem") || e.category == "kernel" }
	return []fault{
		{name: "92% lost at the end", code: "launches-without-kernels", severity: "data-loss", withheld: rule.RecordsMissing, count: missing,
			trace:  drop(kernel(func(e event) bool { return float64(e.i) >= 0.08*float64(e.of) })),
			export: []string{"DELETE FROM " + kernels + " WHERE rowid IN (SELECT r FROM " + ranked + " WHERE i >= 0.08 * n)"}},
		{name: "half lost at the end", code: "launches-without-kernels", severity: "data-loss", withheld: rule.RecordsMissing, count: missing,
			trace:  drop(kernel(func(e event) bool { return 2*e.i >= e.of })),
			export: []string{"DELETE FROM " + kernels + " WHERE rowid IN (SELECT r FROM " + ranked + " WHERE 2 * i >= n)"}},
		{name: "correlations renumbered", code: "correlations-unmatched", severity: "suspect",
			trace: func(e event, n *int64) []map[string]any {
				if !device(e) {
					return []map[string]any{e.m}
				}
				if e.category == "kernel" {
					*n++
				}
				return []map[string]any{linked(e.m, fmt.Sprint(7_000_000+e.i))}
			},
			export: []string{
				"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = correlationId + 7000000",
				"UPDATE " + kernels + " SET registersPerThread = registersPerThread", // counts them
			}},
		{name: "every tenth launch call kept", code: "launches-missing", severity: "data-loss", gate: "launches.per_step: '>= 0'",
			trace: drop(func(e event) bool { return e.launch && e.i%10 != 0 }),
			export: []string{"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid IN (SELECT r FROM (SELECT c.rowid AS r, row_number() OVER (PARTITION BY k.streamId ORDER BY c.start) - 1 AS i " +
				"FROM CUPTI_ACTIVITY_KIND_RUNTIME c JOIN StringIds s ON s.id = c.nameId JOIN " + kernels + " k ON k.correlationId = c.correlationId " +
				"WHERE s.value LIKE '%LaunchKernel%') WHERE i % 10 <> 0)"}},
		{name: "no launch call", code: "launches-missing", severity: "data-loss", gate: "launches.per_step: '>= 0'",
			trace:  drop(func(e event) bool { return e.launch }),
			export: []string{"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId IN (SELECT id FROM StringIds WHERE value LIKE '%LaunchKernel%')"}},
		{name: "no durations", code: "kernels-without-duration", severity: "suspect", withheld: rule.Clocks,
			trace: alter(kernel(all), func(e event) []map[string]any {
				return []map[string]any{later(e.m, map[string]any{"dur": json.Number("0")})}
			}),
			export: []string{"UPDATE " + kernels + " SET \"end\" = start"}},
		{name: "half of the durations", code: "kernels-without-duration", severity: "suspect", withheld: rule.Clocks,
			trace: alter(kernel(half), func(e event) []map[string]any {
				return []map[string]any{later(e.m, map[string]any{"dur": json.Number("0")})}
			}),
			export: []string{"UPDATE " + kernels + " SET \"end\" = start WHERE rowid IN (SELECT r FROM " + ranked + " WHERE i % 2 = 1)"}},
		{name: "every second kernel an hour late", code: "work-time-implausible", severity: "suspect", withheld: rule.Clocks,
			trace:  alter(kernel(half), hourLater),
			export: []string{fmt.Sprintf("UPDATE %s SET start = start + %d, \"end\" = \"end\" + %d WHERE rowid IN (SELECT r FROM %s WHERE i %% 2 = 1)", kernels, hour, hour, ranked)}},
		{name: "two of three kernels a second early", code: "work-before-launch", severity: "suspect", withheld: rule.Clocks,
			trace: alter(kernel(func(e event) bool { return e.i%3 != 1 }), func(e event) []map[string]any {
				return []map[string]any{later(e.m, map[string]any{"ts": json.Number(fmt.Sprintf("%.3f", microseconds(e.m["ts"])-1e6))})}
			}),
			export: []string{fmt.Sprintf("UPDATE %s SET start = start - %d, \"end\" = \"end\" - %[2]d WHERE rowid IN (SELECT r FROM %s WHERE i %% 3 <> 1)", kernels, 1_000_000_000, ranked)}},
	}
}

// TestFalseRecords damages the records of a known number of GPU operations, of traces
// and of exports: the issue counts exactly those, the verdict is withheld or stays what
// it was, no gate passes on them, and no comparison uses withheld ones.
func TestFalseRecords(t *testing.T) {
	for _, r := range recordings(t) {
		for _, whole := range []struct {
			format string
			*summary.Summary
		}{{"trace", ofTrace(t, r.text)}, {"export", ofExport(t, r.export)}} {
			bound := judge.Judge(whole.Summary, rule.DefaultThresholds()).Verdict.Bound
			for _, f := range faults() {
				var s *summary.Summary
				var want int64
				if whole.format == "trace" {
					s, want = r.rewritten(t, f.trace)
				} else {
					s, want = r.changed(t, f.export...)
				}
				name := fmt.Sprintf("%s, %s of %s", f.name, whole.format, r.name)
				is := issueOf(s, f.code)
				got := is.Count
				if f.count != nil {
					got = f.count(s)
				}
				if len(s.Calls) == 0 { // the run has only launches, so no call was recorded
					is = issueOf(s, "kernels-without-launch")
					got, is.Severity = is.Count, f.severity
				}
				if got != want || want == 0 || is.Severity != f.severity {
					t.Errorf("%s: %d × %s (%s), want %d (%s): %+v", name, got, f.code, is.Severity, want, f.severity, s.Issues)
				}
				v := judge.Judge(s, rule.DefaultThresholds()).Verdict
				switch {
				case f.withheld == "" && v.Bound != bound && v.Bound != "unknown":
					t.Errorf("%s: the verdict is %+v, of the whole run %s", name, v, bound)
				case f.withheld != "" && (v.Abstained == nil || v.Abstained.Code != f.withheld && v.Abstained.Code != rule.TooLittleWork):
					t.Errorf("%s: the verdict is %+v, want it withheld by %s", name, v, f.withheld)
				}
				yaml := f.gate
				if yaml == "" {
					yaml = "gpu.busy_share: '>= 0%'"
				}
				if o := outcomeOf(t, yaml, s); o.Result == gate.Pass || o.Result == gate.Skipped {
					t.Errorf("%s: the gate %s is %s: %s", name, yaml, o.Result, o.Why)
				}
				if f.withheld != "" && !refused(t, whole.Summary, s, f.withheld) {
					t.Errorf("%s: the comparison is not refused for %s", name, f.withheld)
				}
			}
		}
	}
}

// TestRepeatedRecords writes a share of the records of GPU work twice: each counts once,
// so every number is that of the run, and the issue counts the others.
func TestRepeatedRecords(t *testing.T) {
	for _, r := range recordings(t) {
		whole := map[string]*summary.Summary{"trace": ofTrace(t, r.text), "export": ofExport(t, r.export)}
		for _, every := range []int{1, 2, 50} {
			damaged, want := map[string]*summary.Summary{}, map[string]int64{}
			damaged["trace"], want["trace"] = r.rewritten(t, func(e event, n *int64) []map[string]any {
				if e.category == "kernel" && e.i%every == 0 {
					*n++
					return []map[string]any{e.m, e.m}
				}
				return []map[string]any{e.m}
			})
			damaged["export"], want["export"] = r.changed(t, fmt.Sprintf("INSERT INTO %s SELECT k.* FROM %s k JOIN %s o ON o.r = k.rowid WHERE o.i %% %d = 0", kernels, kernels, ranked, every))
			for format, s := range damaged {
				name := fmt.Sprintf("every %dth kernel of the %s of %s", every, format, r.name)
				is, severity := issueOf(s, "gpu-events-repeated"), "info"
				if every < 20 {
					severity = "suspect"
				}
				if is.Count != want[format] || is.Count == 0 || is.Severity != severity {
					t.Errorf("%s: %+v, want %d (%s)", name, is, want[format], severity)
				}
				same(t, name, s, whole[format])
				if o := outcomeOf(t, "gpu.busy_share: '>= 0%'", s); (o.Result == gate.Pass) != (severity == "info") {
					t.Errorf("%s: the gate is %s: %s", name, o.Result, o.Why)
				}
			}
		}
	}
}

// same compares everything that is measured, without the issues.
func same(t *testing.T, name string, got, want *summary.Summary) {
	t.Helper()
	text := func(s *summary.Summary) string {
		c := *s
		c.Issues, c.Inputs = nil, nil
		b, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if g, w := text(got), text(want); g != w {
		i := 0
		for i < min(len(g), len(w)) && g[i] == w[i] {
			i++
		}
		t.Errorf("%s: the numbers differ from those of the whole run: %.200q, want %.200q", name, g[max(0, i-80):], w[max(0, i-80):])
	}
}

// TestCutWhileQueued stops the capture while a share of the launches is queued: the
// work of the rest is in the window, so the verdict stays with a finding on the share. From
// half on there is no verdict.
func TestCutWhileQueued(t *testing.T) {
	sc := tracegen.LLMTrainStep()
	sc.LagNS = 10_000_000
	r, cut := recorded(t, sc), 0
	for _, share := range []float64{0.3, 0.5, 0.8} {
		for _, format := range []string{"trace", "export"} {
			s, want := r.cut(t, format, share)
			name := fmt.Sprintf("%s with %.0f%% at the end", format, 100*share)
			i := slices.IndexFunc(s.LaunchLosses, func(l summary.LaunchLoss) bool { return l.Kind == summary.LossKernel })
			if i < 0 || s.LaunchLosses[i].AtEnd != want || s.LaunchLosses[i].Missing != want || s.LaunchLosses[i].Overdue != 0 {
				t.Errorf("%s: losses %+v, want %d at the end", name, s.LaunchLosses, want)
				continue
			}
			res := judge.Judge(s, rule.DefaultThresholds())
			ratio := float64(want) / float64(s.LaunchLosses[i].Calls)
			if (res.Verdict.Abstained != nil) != (ratio >= 0.5) || math.Abs(ratio-share) > 0.1 {
				t.Errorf("%s (%.2f): the verdict is %+v", name, ratio, res.Verdict)
			}
			if !slices.ContainsFunc(res.Findings, func(f finding.Finding) bool {
				return f.Rule == rule.RecordsMissing && strings.Contains(f.Title, "The capture ends before the GPU work of")
			}) {
				t.Errorf("%s: no finding says that the capture ends before the work", name)
			}
			if o := outcomeOf(t, "gpu.busy_share: '>= 0%'", s); (o.Result == gate.Pass) != (ratio < 0.5) {
				t.Errorf("%s: the gate is %s: %s", name, o.Result, o.Why)
			}
			for _, st := range s.Steps {
				if st.LaunchesCut > 0 {
					cut++
				}
				if o := outcomeOf(t, fmt.Sprintf("'launches.per_step{steps=%d}': '>= 0'", st.Number), s); st.LaunchesCut > 0 && o.Result == gate.Pass {
					t.Errorf("%s: a gate passes on the launches of step %d, of which %d are cut", name, st.Number, st.LaunchesCut)
				}
			}
		}
	}
	if cut == 0 {
		t.Error("no step is cut")
	}
}

// cut ends a capture when so many of its launches of kernels have no work yet: events
// that end later are not in the file. It returns the number of such launches.
func (r recording) cut(t *testing.T, format string, share float64) (*summary.Summary, int64) {
	t.Helper()
	type span struct{ launch, end float64 }
	byID, first := map[string]*span{}, math.MaxFloat64
	id := func(m map[string]any) string {
		args, _ := m["args"].(map[string]any)
		return fmt.Sprint(args["correlation"])
	}
	r.rewritten(t, func(e event, _ *int64) []map[string]any {
		if e.launch {
			byID[id(e.m)] = &span{launch: microseconds(e.m["ts"]) + microseconds(e.m["dur"])}
			first = min(first, microseconds(e.m["ts"]))
		}
		return nil
	})
	r.rewritten(t, func(e event, _ *int64) []map[string]any {
		if e.category == "kernel" && byID[id(e.m)] != nil {
			byID[id(e.m)].end = microseconds(e.m["ts"]) + microseconds(e.m["dur"])
		}
		return nil
	})
	// The share without work falls with time: the last moment at which it is reached.
	queued := func(at float64) (n, all int64) {
		for _, s := range byID {
			if s.launch <= at {
				all++
				if s.end > at {
					n++
				}
			}
		}
		return n, all
	}
	at := 0.0
	for _, s := range byID {
		if n, all := queued(s.end); float64(n) >= share*float64(all) && s.end > at {
			at = s.end
		}
	}
	want, _ := queued(at)
	if format == "trace" {
		s, _ := r.rewritten(t, func(e event, _ *int64) []map[string]any {
			if _, complete := e.m["dur"]; complete && e.category != "" && microseconds(e.m["ts"])+microseconds(e.m["dur"]) > at+0.0005 && e.category != "user_annotation" {
				return nil
			}
			return []map[string]any{e.m}
		})
		return s, want
	}
	shift := ofExport(t, r.export).Devices[0].StartNS - ofTrace(t, r.text).Devices[0].StartNS // the zero points of the clocks differ
	cut := fmt.Sprintf("\"end\" > %d", int64(math.Round(at*1000))+shift)
	var sql []string
	for _, table := range []string{kernels, "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_RUNTIME"} {
		sql = append(sql, "DELETE FROM "+table+" WHERE "+cut)
	}
	s, _ := r.changed(t, sql...)
	return s, want
}
