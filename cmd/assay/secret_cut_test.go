package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/redact"
	"assay/internal/test"
	"assay/internal/test/nsysgen"
)

// cutNames returns names with a secret that the limit of the length of names cuts in the
// last third, and the part of each that a shortened name would show.
func cutNames(rnd *rand.Rand) (all []planted) {
	const most = 64 << 10
	add := func(before, secret string) {
		seen := len(secret) * 2 / 3
		pad := strings.Repeat("x", most-seen-len(before)-1)
		all = append(all, planted{pad + " " + before + secret + " tail", secret[:seen]})
	}
	formats := redact.Formats()
	for i := 0; i < len(formats); i += 6 {
		add("", formats[i].Example(rnd))
	}
	value := valueOf(rnd, "") + valueOf(rnd, "")
	add("https://bob:", value+"@h/x")
	add("", "github_pat_"+value+value)
	add("", escaped("%%%02X", "HF_TOKEN="+value))
	add("", strings.TrimRight(encodedName(value), "="))
	return all
}

// encodedName returns a setting as base64.
func encodedName(value string) string {
	b, err := json.Marshal([]byte("PATH=/bin HF_TOKEN=" + value))
	if err != nil {
		panic(err) // it is text
	}
	return strings.Trim(string(b), `"`)
}

// TestNoSecretIsCut: a secret that the limit of the length of a name cuts is not shown in
// part.
func TestNoSecretIsCut(t *testing.T) {
	seed := test.Seed(t)
	all := cutNames(rand.New(rand.NewPCG(seed, 3)))
	s := newSearch(t, all)
	dir := t.TempDir()
	type object = map[string]any
	var events []object
	for i, p := range all {
		kernel, op, span := "gemm", "aten::mm", "step"
		for k, name := range []*string{&kernel, &op, &span} {
			if i%3 == k {
				*name = p.text
			}
		}
		ts := 100 * i
		events = append(events,
			object{"ph": "X", "cat": "cpu_op", "name": op, "pid": 1, "tid": 1, "ts": ts, "dur": 90, "args": object{"External id": i}},
			object{"ph": "X", "cat": "user_annotation", "name": span, "pid": 1, "tid": 2, "ts": ts, "dur": 95},
			object{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts + 1, "dur": 1, "args": object{"correlation": i + 1, "External id": i}},
			object{"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": ts + 5, "dur": 80, "args": object{"device": 0, "stream": 7, "correlation": i + 1, "External id": i}})
	}
	text, err := json.Marshal(object{"schemaVersion": 1, "traceEvents": events})
	if err != nil {
		t.Fatal(err)
	}
	trace, export := filepath.Join(dir, "trace.json"), filepath.Join(dir, "run.sqlite")
	if err := os.WriteFile(trace, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := nsysgen.Write(export, nsysgen.Plan{Kernels: 2000, Calls: true, Ranges: 3}); err != nil {
		t.Fatal(err)
	}
	var update strings.Builder
	for i, p := range all {
		fmt.Fprintf(&update, " WHEN %d THEN '%s'", i, p.text)
	}
	if _, err := nsysgen.Change(export, fmt.Sprintf("UPDATE StringIds SET value = CASE id %% %d%s END", len(all), update.String())); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{trace, export} {
		for _, args := range [][]string{
			{"summary", path, "--format", "json"}, {"report", path, "-o", filepath.Join(dir, "out")}, {"convert", path, "--to", "folded"},
			{"summary", path, "--table", "cuda_gpu_kern_sum,nvtx_sum", "--format", "csv"},
		} {
			status, out := s.run(args...)
			if status != exitOK {
				t.Errorf("%q: exit status %d", args, status)
			}
			if args[0] == "summary" && args[2] == "--format" && !strings.Contains(out, strings.Repeat("x", 60000)) {
				t.Errorf("no long name of %s is shown, so nothing was tried", filepath.Base(path))
			}
		}
	}
	s.files(dir, trace, export)
}
