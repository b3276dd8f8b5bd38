package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/internal/test/tracegen"
)

// A told is what a command says of a capture.
type told struct {
	Verdict struct {
		Bound     string
		Abstained *struct{ Code, Reason string }
	}
	Devices []struct{ Device int64 }
	Inputs  []struct{ Complete bool }
	Issues  []struct {
		Code, Severity string
		Count          int64
	}
}

func toldOf(t *testing.T, paths ...string) (out told) {
	t.Helper()
	if err := json.Unmarshal(outputOf(t, append([]string{"summary", "--format", "json"}, paths...)...), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (d told) count(code string) int64 {
	for _, is := range d.Issues {
		if is.Code == code {
			return is.Count
		}
	}
	return 0
}

// without writes the trace of a run without some of its device events and returns
// its path and how many there were.
func without(t *testing.T, path string, drop func(category, name string, i int) bool) (out string, lost int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, n := tracegen.Rewrite(text, func(category, name string, i int) tracegen.Edit {
		return tracegen.Edit{Drop: drop(category, name, i)}
	})
	out = filepath.Join(t.TempDir(), "lost.json")
	if err := os.WriteFile(out, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return out, int64(n)
}

func everyKernel(category, _ string, _ int) bool  { return category == "kernel" }
func secondKernel(category, _ string, i int) bool { return category == "kernel" && i%2 == 1 }

// TestLostKernels: a training step without its kernels, or without every second one,
// has no verdict, in either format, and the issue counts what is missing.
func TestLostKernels(t *testing.T) {
	whole := play(t, tracegen.LLMTrainStep(), 0)
	if d := toldOf(t, whole.trace); d.Verdict.Bound == "unknown" || d.Verdict.Abstained != nil || d.count("launches-without-kernels") != 0 {
		t.Fatalf("the whole: %+v", d)
	}
	all, kernels := without(t, whole.trace, everyKernel)
	half, second := without(t, whole.trace, secondKernel)
	type lossy struct {
		name, path string
		lost       int64
	}
	cases := []lossy{{"no kernels", all, kernels}, {"half of them", half, second}}
	for _, tc := range []struct {
		name, statement string
		lost            int64
	}{
		{"rows deleted", "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 2 = 0", second},
		{"table dropped", "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL", kernels},
	} {
		export := play(t, tracegen.LLMTrainStep(), 0).export
		conn, err := sqlite.OpenConn(export, sqlite.OpenReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		if err := sqlitex.ExecuteTransient(conn, tc.statement, nil); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		cases = append(cases, lossy{tc.name, export, tc.lost})
	}
	for _, tc := range cases {
		d := toldOf(t, tc.path)
		a := d.Verdict.Abstained
		if d.Verdict.Bound != "unknown" || a == nil || a.Code != "device-records-missing" || a.Reason == "" || d.count("launches-without-kernels") != tc.lost {
			t.Errorf("%s: %+v; want %d launches without kernels and no verdict", tc.name, d, tc.lost)
		}
	}
	t.Run("doctor", func(t *testing.T) {
		text := string(outputOf(t, "doctor", all))
		for _, question := range []string{"Which kernels take the GPU time", "Why is the GPU idle"} {
			i := strings.Index(text, question)
			if i < 0 || !strings.Contains(text[max(0, i-20):i], "no") {
				t.Errorf("doctor does not answer no to %q:\n%s", question, text)
			}
		}
	})
	t.Run("diff", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"diff", whole.trace, half})
		if said := stdout.String() + stderr.String(); status != exitTrouble || !strings.Contains(said, "the new run") || !strings.Contains(said, "incomplete") {
			t.Errorf("status %d:\n%s", status, said)
		}
	})
}

// TestLostCommunication: exposed communication of 0% is no pass where the kernels of
// communication are missing.
func TestLostCommunication(t *testing.T) {
	whole := play(t, tracegen.LLMTrainStep(), 0)
	path, lost := without(t, whole.trace, func(category, name string, _ int) bool {
		return category == "kernel" && strings.Contains(name, "nccl")
	})
	gates := filepath.Join(t.TempDir(), "gates.yaml")
	if err := os.WriteFile(gates, []byte("comm.exposed_share: {max: 50%}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(path string) (int, string) {
		var stdout, stderr bytes.Buffer
		status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"check", path, "--gates", gates})
		return status, strings.Join(strings.Fields(stdout.String()+stderr.String()), " ") // without line breaks
	}
	if status, said := check(whole.trace); status != exitOK {
		t.Errorf("the whole: status %d\n%s", status, said)
	}
	if status, said := check(path); lost != 28 || status != exitTrouble || !strings.Contains(said, "inconclusive") || !strings.Contains(said, "GPU records are missing: 28 of 444 kernel launches") {
		t.Errorf("without %d kernels: status %d\n%s", lost, status, said)
	}
	if d := toldOf(t, path); d.Verdict.Abstained == nil && d.Verdict.Bound != toldOf(t, whole.trace).Verdict.Bound {
		t.Errorf("without %d kernels: %+v", lost, d)
	}
}

// TestCutExport: an export that lacks its last bytes has no device of its own making,
// no verdict, and is not complete.
func TestCutExport(t *testing.T) {
	export := play(t, tracegen.LLMTrainStep(), 0).export
	b, err := os.ReadFile(export)
	if err != nil {
		t.Fatal(err)
	}
	devices := len(toldOf(t, export).Devices)
	for _, missing := range []int{500, 3500, 6500} {
		if err := os.WriteFile(export, b[:len(b)-missing], 0o600); err != nil {
			t.Fatal(err)
		}
		d := toldOf(t, export)
		if len(d.Devices) > devices || d.Verdict.Bound != "unknown" || d.Verdict.Abstained == nil || d.Inputs[0].Complete || d.count("export-cut") != 1 {
			t.Errorf("%d bytes less: %+v", missing, d)
		}
		if text := string(outputOf(t, "summary", export)); !strings.Contains(text, "incomplete") || strings.Contains(text, " complete") {
			t.Errorf("%d bytes less:\n%s", missing, text)
		}
	}
}

// TestTwoClocks: timestamps that are 472,010 hours apart are no length of a capture. One event is left out and
// counted as lost; the others are judged.
func TestTwoClocks(t *testing.T) {
	whole := play(t, tracegen.LLMTrainStep(), 0)
	text, err := os.ReadFile(whole.trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, category := range []string{"kernel", "cpu_op"} {
		changed, _ := tracegen.Rewrite(text, func(c, _ string, i int) (e tracegen.Edit) {
			if c == category && i == 5 {
				e.LaterUS = -472_010 * 3600e6
			}
			return e
		})
		path := filepath.Join(t.TempDir(), "clocks.json")
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		d := toldOf(t, path)
		if d.count("event-bad-time") != 1 || d.Verdict.Bound != toldOf(t, whole.trace).Verdict.Bound {
			t.Errorf("%s: %+v", category, d)
		}
		if said := string(outputOf(t, "summary", path)); strings.Contains(said, "4720") {
			t.Errorf("%s:\n%s", category, said)
		}
	}
}
