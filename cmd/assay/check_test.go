package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/report/doc"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/testscript"
)

// actionStep writes the script of one step of action.yml to a file: "action ID
// FILE".
func actionStep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: action id file")
	}
	text, err := os.ReadFile(filepath.Join(ts.Getenv("DATA"), "..", "action.yml"))
	ts.Check(err)
	var action struct {
		Runs struct{ Steps []struct{ ID, Run string } }
	}
	ts.Check(yaml.Unmarshal(text, &action))
	for _, step := range action.Runs.Steps {
		if step.ID == args[0] {
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(step.Run), 0o666))
			return
		}
	}
	ts.Fatalf("action.yml has no step %q", args[0])
}

// TestSpread: names behind --baseline are of the baseline up to the next flag.
func TestSpread(t *testing.T) {
	for in, want := range map[string]string{
		"new --baseline a":                     "new --baseline=a",
		"new --baseline a b --gates g":         "new --baseline=a --baseline=b --gates g",
		"new -b a b":                           "new --baseline=a --baseline=b",
		"--baseline a b -f json new":           "--baseline=a --baseline=b -f json new",
		"--baseline=a new":                     "--baseline=a new",
		"new --baseline":                       "new --baseline",
		"new --baseline -f json":               "new --baseline -f json",
		"new -- --baseline a b":                "new -- --baseline a b",
		"new --baseline a --baseline b c -- d": "new --baseline=a --baseline=b --baseline=c -- d",
	} {
		if got := strings.Join(spread(strings.Fields(in)), " "); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestStepSummaryRoom: GitHub drops the whole page of a step if it is too long,
// with what other commands wrote.
func TestStepSummaryRoom(t *testing.T) {
	const trace = "../../testdata/gen/llm_train_step.json.gz"
	page := filepath.Join(t.TempDir(), "page.md")
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_STEP_SUMMARY", page)
	for _, room := range []int{0, 1, 20, 300, 5000} {
		before := bytes.Repeat([]byte("x"), doc.StepSummaryLimit-room)
		if err := os.WriteFile(page, before, 0o666); err != nil {
			t.Fatal(err)
		}
		if got := run(env{strings.NewReader(""), io.Discard, io.Discard}, []string{"check", trace, "--baseline", trace}); got != exitOK {
			t.Fatalf("exit status %d", got)
		}
		after, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if len(after) > doc.StepSummaryLimit || !bytes.HasPrefix(after, before) {
			t.Errorf("room for %d: %d bytes", room, len(after))
		}
		if room >= 300 && !bytes.Contains(after, []byte("# Gates: pass")) {
			t.Errorf("room for %d: no verdict", room)
		}
	}
}

// TestCheckWriteError: a result that could not be written is no pass, and the
// other outputs are written all the same.
func TestCheckWriteError(t *testing.T) {
	const trace = "../../testdata/gen/comm_bound.json.gz"
	dir := filepath.Join(t.TempDir(), "out")
	for _, format := range []string{"text", "md", "json", "junit", "benchmark"} {
		var stderr bytes.Buffer
		got := run(env{strings.NewReader(""), failingWriter{}, &stderr}, []string{"check", trace, "--baseline", trace, "--format", format, "-o", dir})
		if got != exitTrouble || !strings.Contains(stderr.String(), "disk full") {
			t.Errorf("%s: exit status %d, %q", format, got, stderr.String())
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if want := []string{"benchmark-bigger.json", "benchmark.json", "check.json", "check.md", "junit.xml"}; !slices.Equal(names, want) {
		t.Errorf("files %s, want %s", names, want)
	}
}

// FuzzCheck tests that a check of any summary ends with a documented exit status, and that
// its JUnit file is valid XML.
func FuzzCheck(f *testing.F) {
	const trace = "../../testdata/gen/comm_bound.json.gz"
	var seed bytes.Buffer
	if run(env{strings.NewReader(""), &seed, io.Discard}, []string{"summary", trace, "--format", "json"}) != exitOK {
		f.Fatal("no seed")
	}
	f.Add(seed.Bytes())
	f.Add([]byte(`{"schema":"assay/summary/1","inputs":[{},{}],"devices":[{"input":1,"window_ns":9223372036854775807,"activity":[{"classes":[],"ns":9223372036854775807}]}],"steps":[{"wall_ns":1,"activity":[{"classes":["comm"],"ns":1}]}],"launches":[{"input":-9,"calls":-1,"per_step":[-1,9223372036854775807]}],"memory":[{"input":7,"peak_allocated":-1,"capacity":0}],"annotations":[{"input":9,"name":"\u0000<","count":-3,"cpu_total_ns":5}],"kernels":[{"name":"k","count":-1,"total_ns":-9223372036854775808}],"issues":[{"code":"\u001b","severity":"x","count":-1}]}`))
	f.Add([]byte(`{"schema":"assay/summary/1"}`))
	dir := f.TempDir()
	gates := filepath.Join(dir, "gates.yaml")
	const all = "phase.mean{phase=*}: {max: 1s, max_increase: 1%, if_measured: true}\nidle.share{owner=host-late}: {max: 1%, if_measured: true}\nmemory.peak_share: {max: 1%, max_increase: 1pp, if_measured: true}\nlaunches.per_step: {max: 1, max_increase: 1, if_measured: true}\nkernels.share{category=gemm}: {max: 1%, if_measured: true}\nstep.mean: {max: 1s, max_decrease: 5%, if_measured: true}\n"
	if err := os.WriteFile(gates, []byte(all), 0o666); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > fuzzSize {
			return
		}
		path := filepath.Join(t.TempDir(), "summary.json")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"check", path, "--baseline", path, "--gates", gates, "--format", "junit"})
		switch {
		case status != exitOK && status != exitGate && status != exitTrouble:
			t.Fatalf("exit status %d: %s", status, stderr.String())
		case stdout.Len() == 0 && status != exitTrouble:
			t.Fatalf("exit status %d and no result", status)
		case status != exitOK && stderr.Len() == 0:
			t.Fatalf("exit status %d and no reason", status)
		}
		dec := xml.NewDecoder(&stdout)
		for {
			if _, err := dec.Token(); err == io.EOF {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
}
