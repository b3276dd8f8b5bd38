package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
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

// aRunOfTokens is longer than the texts that readers keep, so a cut anywhere is within a token, or behind an email address.
func aRunOfTokens() string {
	var b strings.Builder
	for i := range 16 {
		fmt.Fprintf(&b, " ghp_%036d alice.%d.of.the.long.name@corp.example.com", 1e9+i, i)
	}
	return strings.ReplaceAll(b.String(), "_000", "_aB3")
}

// TestNoTextIsCutBeforeItIsMasked: every value of inputs in text, and every text of inputs in JSON, has a run of tokens
// behind it. Whatever a reader cuts, no part of a token is shown, and with --redact no part of an address.
func TestNoTextIsCutBeforeItIsMasked(t *testing.T) {
	run, dir := aRunOfTokens(), t.TempDir()
	files := test.Files(t, "../../testdata/guides/*.*", "../../testdata/guides/*/*", "../../logs/bench/testdata/*", "../../logs/monitor/testdata/*.txt",
		"../../logs/monitor/testdata/*.json", "../../testdata/torchprof/*.txt")
	lines := filepath.Join(dir, "lines.log")
	if err := os.WriteFile(lines, []byte(`step:1 - timing_s/gen:1.0 - timing_s/step:2.0
[rank5]: ValueError: cannot open a file
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
Nov 12 03:04:05 node-7 kernel: [12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid=4, GPU has fallen off the bus.
Nov 12 03:04:06 node-7 kernel: [12.3] NVRM: Xid (PCI:0000:3b:00): 200, something is wrong
slurmstepd: error: *** JOB 12 ON node-3 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***
saved checkpoint to /data/run/
step:2 - timing_s/gen:1.0 - timing_s/step:2.0
`), 0o666); err != nil {
		t.Fatal(err)
	}
	flight, events := filepath.Join(dir, "flight.json"), filepath.Join(dir, "et.json")
	if err := os.WriteFile(flight, []byte(`{"version": "2.5", "rank": 0, "pg_config": {"0": {"name": "0", "desc": "default", "ranks": "[0, 1]"}},
 "pg_status": {"0": {"last_enqueued_collective": 2, "last_completed_collective": 1}},
 "entries": [{"process_group": ["0", "default"], "collective_seq_id": 2, "profiling_name": "nccl:all_reduce", "state": "started", "frames": []}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(events, []byte(`{"schema": "1.1.0-chakra.0.0.4", "pid": 1, "time": "t", "nodes": [
 {"id": 2, "name": "record_param_comms", "ctrl_deps": 1, "inputs": {"values": ["all_reduce"], "shapes": [[8]], "types": ["Tensor(float)"]}, "attrs": [{"name": "dtype", "type": "string", "value": "float"}]}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	part := regexp.MustCompile(`ghp_[0-9A-Za-z]{3,}|alice\.[0-9.]+[a-z]+`)
	planted, texts := 0, regexp.MustCompile(`(:\s*"(?:[^"\\]|\\.)*)"`)
	for _, file := range append(files, lines, flight, events) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		with := strings.ReplaceAll(string(text), "\n", run+"\n")
		if strings.Contains(filepath.Ext(file), ".json") {
			with = texts.ReplaceAllString(string(text), "${1}"+run+`"`)
		}
		path := filepath.Join(dir, "with-"+filepath.Base(file))
		if err := os.WriteFile(path, []byte(with), 0o666); err != nil {
			t.Fatal(err)
		}
		s := newSearch(t, nil)
		for _, args := range [][]string{{"summary", path, "-f", "json", "--full", "--redact"}, {"summary", path, "--redact"}} {
			_, out, talk := s.said(args...)
			planted += strings.Count(out, "[github]")
			if found := part.FindString(out + talk); found != "" {
				t.Errorf("%s: %q is shown", filepath.Base(file), found)
			}
		}
	}
	if planted < 40 {
		t.Errorf("only %d tokens were masked, so little was tried", planted)
	}
}
