package judge

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/ingest"
	"assay/internal/test"
	"assay/internal/test/damage"
	"assay/internal/test/loggen"
	"assay/internal/test/nsysgen"
	"assay/internal/test/rocmgen"
	"assay/internal/test/tracegen"
	"assay/judge/rule"
	"assay/trace"
)

// verdictOnPath returns the verdict on a file. A file that is refused has none.
func verdictOnPath(t *testing.T, path string) (v verdictOf, ok bool) {
	t.Helper()
	f, err := ingest.Open(path, nil)
	if err != nil {
		return v, false
	}
	defer f.Close()
	in, err := ingest.Load(f, analyze.Needs())
	if err != nil {
		return v, false
	}
	r := Judge(measuredAs(in), rule.DefaultThresholds())
	v = verdictOf{bound: r.Verdict.Bound, rule: r.Verdict.Rule, share: math.NaN(), silent: r.Verdict.Abstained == nil && r.Verdict.Doubt == nil, text: r.Verdict.Sentence}
	if f := findingOf(r.Findings, r.Verdict.Rule); f != nil && f.DenominatorNS > 0 {
		v.share = float64(f.NumeratorNS) / float64(f.DenominatorNS)
	}
	return v, true
}

// listedDamage returns the wrong verdicts that are known, by line with the reason.
func listedDamage(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	listed := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		what, why, _ := strings.Cut(strings.TrimSpace(line), " | ")
		if listed[what] = why; why == "" {
			t.Errorf("%s has no reason", what)
		}
	}
	return listed
}

// checkDamaged reports a verdict that is confident and differs from that of the whole input.
func checkDamaged(t *testing.T, line string, hidden bool, whole, v verdictOf, ok bool, listed map[string]string) {
	t.Helper()
	why, known := listed[line]
	switch wrong := ok && v.differs(whole); {
	case wrong && (hidden || known):
		t.Log("no evidence: ", line, why)
	case wrong:
		t.Errorf("%s: %s %q; the whole input: %s %q", line, v.bound, v.text, whole.bound, whole.text)
	case known:
		t.Errorf("%s is right and listed", line)
	}
}

// TestDamagedTables is TestDamage for databases of Nsight Systems and rocprofv3.
func TestDamagedTables(t *testing.T) {
	listed := listedDamage(t, "damage_tables.txt")
	for i, p := range tracegen.Presets() {
		if p.Name == "cpu_only" || !test.Long() && i%4 != 0 {
			continue
		}
		var b bytes.Buffer
		if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
			t.Fatal(err)
		}
		tr, err := trace.Read(&b, p.Name, trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []struct {
			name   string
			tables *strings.Replacer
			write  func(path string) error
		}{
			{"nsys", strings.NewReplacer("@kernels", "CUPTI_ACTIVITY_KIND_KERNEL", "@calls", "CUPTI_ACTIVITY_KIND_RUNTIME"), func(path string) error { return nsysgen.WriteTrace(path, tr, nsysgen.NumberedSyncs) }},
			{"rocpd", strings.NewReplacer("@kernels", "rocpd_kernel_dispatch_00000001_0a0b_0c0d_0e0f_102030405060", "@calls", "rocpd_region_00000001_0a0b_0c0d_0e0f_102030405060"),
				func(path string) error { return rocmgen.WriteRocpd(path, rocmgen.Process{Trace: tr}) }},
		} {
			made := filepath.Join(t.TempDir(), "run.sqlite")
			if form.name == "rocpd" {
				made = filepath.Join(t.TempDir(), "run_results.db")
			}
			if err := form.write(made); err != nil {
				t.Log(form.name, " has no form for ", p.Name, ": ", err)
				continue
			}
			content, err := os.ReadFile(made)
			if err != nil {
				t.Fatal(err)
			}
			whole, ok := verdictOnPath(t, made)
			if !ok {
				t.Fatalf("%s %s cannot be read", p.Name, form.name)
			}
			for _, k := range damage.TableKinds() {
				if err := os.WriteFile(made, content, 0o600); err != nil {
					t.Fatal(err)
				}
				var statements []string
				for _, s := range k.Statements {
					statements = append(statements, form.tables.Replace(s))
				}
				if _, err := nsysgen.Change(made, statements...); err != nil {
					t.Fatalf("%s: %v", k.Name, err)
				}
				v, ok := verdictOnPath(t, made)
				checkDamaged(t, fmt.Sprintf("%s %s: %s", p.Name, form.name, k.Name), k.Hidden, whole, v, ok, listed)
			}
			if err := os.WriteFile(made, content[:len(content)/2], 0o600); err != nil {
				t.Fatal(err)
			}
			v, ok := verdictOnPath(t, made)
			checkDamaged(t, fmt.Sprintf("%s %s: cut in the middle", p.Name, form.name), false, whole, v, ok, listed)
		}
	}
}

// TestAbsentTimerNotANumber: a timer of every fourth step, for which the program writes "nan" in the others, says as
// much as one that is absent there.
func TestAbsentTimerNotANumber(t *testing.T) {
	on := func(absent string) string {
		tr := taught(40, 18, 1, 14, 1, 0)
		for i := range tr.Steps {
			s := &tr.Steps[i]
			if s.Phases = s.Phases[:len(s.Phases)-1]; i%4 == 3 {
				s.Seconds, s.Phases = 200, append(s.Phases, loggen.Phase{Name: "testing", Seconds: 100})
			} else if absent != "" {
				s.Extra = []string{absent}
			}
		}
		s := given(tr.VeRL())(t)
		return Judge(s, rule.DefaultThresholds()).Verdict.Sentence
	}
	if want, got := on(""), on("timing_s/testing:nan"); got != want || !strings.HasPrefix(want, "Evaluation and checkpoints: 20.0%") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDamagedMemory: a snapshot or timeline that is cut is not called healthy, and what it shows is in doubt.
func TestDamagedMemory(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../testdata/memory/timeline.raw.json"))
	if err != nil {
		t.Fatal(err)
	}
	small := func() []byte { return bytes.ReplaceAll(text, []byte("073741824"), []byte("0737")) } // KiB instead of GiB
	for name, whole := range map[string][]byte{"5 of 8 GiB": text, "small": small()} {
		path := filepath.Join(t.TempDir(), "timeline.raw.json")
		for _, share := range []int{30, 60, 90, 100} {
			if err := os.WriteFile(path, whole[:len(whole)*share/100], 0o600); err != nil {
				t.Fatal(err)
			}
			if v, ok := verdictOnPath(t, path); ok && v.silent != (share == 100) {
				t.Errorf("%s, %d%% of the file: %s %q, silent: %v", name, share, v.bound, v.text, v.silent)
			}
		}
	}
}

// TestDamagedLogs is TestDamage for logs of trainers.
func TestDamagedLogs(t *testing.T) {
	listed := listedDamage(t, "damage_logs.txt")
	seconds, milliseconds := regexp.MustCompile(`timing_s/\w+:([\d.e+-]+)`), regexp.MustCompile(`(?:\(ms\):|\| [a-z-]+:) +([\d.]+)`)
	tokens := taught(45, 20, 1, 10, 1, 0)
	for i := range tokens.Steps { // 8 GPUs process 800,000 tokens in 100 s
		tokens.Steps[i].Extra = []string{"perf/total_num_tokens:800000", "perf/throughput:1000.0"}
	}
	comm := loggen.Repeat(12, func(int) loggen.Step {
		return loggen.Step{Seconds: 10, Phases: []loggen.Phase{{Name: "forward-compute", Seconds: 3}, {Name: "backward-compute", Seconds: 3.9}, {Name: "backward-params-all-reduce", Seconds: 3}}}
	})
	full := loggen.Each(40, 10, func(i int) loggen.Line {
		return loggen.Line{Prefill: i%8 == 0, Running: 60, Queued: 30 + i%5, Usage: 0.97, Tokens: 2400, Prompt: 500, Transfer: -1}
	})
	for _, l := range []struct {
		name, text string
		unit       *regexp.Regexp
	}{
		{"full cache", full.SGLang(), regexp.MustCompile(`token usage: ([\d.]+)`)},
		{"generation, with tokens", tokens.VeRL(), seconds},
		{"training", taught(20, 60, 1, 10, 1, 2).VeRL(), seconds},
		{"log-probs", taught(25, 20, 1, 45, 1, 2).VeRL(), seconds},
		{"communication", comm.Megatron(), milliseconds},
		{"steady, with times", steady(20, func(int) float64 { return 0 }).Timed(func(int) float64 { return 0.1 }), milliseconds},
	} {
		path := filepath.Join(t.TempDir(), "train.log")
		on := func(text string) (verdictOf, bool) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return verdictOnPath(t, path)
		}
		whole, ok := on(l.text)
		if !ok {
			t.Fatalf("%s cannot be read", l.name)
		}
		kinds := damage.TextKinds(l.unit)
		kinds = append(kinds, damage.TextKind{Name: "two runs mixed, one a thousand times slower", Apply: func(text string) string {
			slow := strings.Split(kinds[slices.IndexFunc(kinds, func(k damage.TextKind) bool { return k.Name == "times times 1000" })].Apply(text), "\n")
			var out []string
			for i, line := range strings.Split(text, "\n") {
				out = append(out, line, slow[i])
			}
			return strings.Join(out, "\n")
		}})
		for _, k := range kinds {
			v, ok := on(k.Apply(l.text))
			checkDamaged(t, l.name+": "+k.Name, k.Hidden, whole, v, ok, listed)
		}
	}
}
