package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"assay/ingest"
	"assay/internal/test"
	"assay/judge/finding"
	"assay/judge/rule"
)

// fakeSecrets are made up here, so that no scanner of repositories takes a fixture
// for a leak.
func fakeSecrets() []string {
	letters := strings.Repeat("aB3dE6gH9jK2mN5p", 3)
	return []string{"hf_" + letters[:34], "sk-" + letters[:40], "hunter-" + letters[:9]}
}

// writeSecrets writes a trace with secrets in its metadata, in the name of a
// process and in annotations, and with the name of a user in paths: "secrets FILE".
func writeSecrets(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: secrets file")
	}
	s := fakeSecrets()
	text := fmt.Sprintf(`{"schemaVersion":1,"env":{"HF_TOKEN":%q,"OPENAI_API_KEY":%q},"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"python /home/alicia/train.py --key %[2]s"}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":100,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":0,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"user_annotation","name":"push to https://bob:%[3]s@hub.example by %[1]s","pid":1,"tid":1,"ts":0,"dur":90},
{"ph":"X","cat":"python_function","name":"/home/alicia/proj/model.py(12): forward","pid":1,"tid":1,"ts":0,"dur":95}]}`, s[0], s[1], s[2])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

// hidesSecrets checks that nothing of the trace's secrets is in what the last
// command printed, or in a file: "hides stdout|stderr|FILE...".
func hidesSecrets(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: hides stdout|stderr|file...")
	}
	for _, name := range args {
		text := ts.ReadFile(name)
		for _, s := range fakeSecrets() {
			if strings.Contains(text, s) {
				ts.Fatalf("%s has a secret of kind %s", name, s[:3])
			}
		}
	}
}

// TestStacksOfCorpus: real traces show the software that made them, and no other
// of its kind.
func TestStacksOfCorpus(t *testing.T) {
	dir := test.Corpus(t)
	for path, want := range map[string]string{
		"kineto/tracelens/inference/vllm_decode_full/graph_execution.json.gz":        "torch vllm compile",
		"kineto/tracelens/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz":    "torch sglang",
		"kineto/tracelens/mi300/resnet_act_checkpoint.json.gz":                       "torch ddp",
		"kineto/hta/timeline_analysis/sampled_rank-0.json.gz":                        "torch ddp",
		"kineto/tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz":              "torch",
		"formats/chrome_other/bazel_4.2.3_command.profile.gz":                        "",
		"nsight/hpcgroup_pipit/saxpy-mpi-cuda_nsys_perlmutter0.sqlite":               "",
		"kineto/tracelens/perf_model/normalization/normalization_layer_test.json.gz": "torch",
	} {
		var m measure
		m.maxMemory.text = "8GiB"
		v, err := m.load(env{strings.NewReader(""), io.Discard, io.Discard}, summaryCommand(), []string{filepath.Join(dir, path)})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var got []string
		for _, s := range v.result.Stacks {
			got = append(got, s.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", path, v.result.Stacks, want)
		}
		for _, f := range v.result.Findings {
			if slices.ContainsFunc(f.Next, func(s finding.Step) bool { return rule.Text(s) == "" || rule.SourceOf(s) == rule.Source{} }) || f.Confidence == "" {
				t.Errorf("%s: %s: %s, steps %+v", path, f.Rule, f.Confidence, f.Next)
			}
		}
	}
}

// TestTapSeesAll: what searches an input for secrets is shown all of it, however it
// is packed.
func TestTapSeesAll(t *testing.T) {
	f, err := ingest.Open(filepath.Join("..", "..", "testdata", "gen", "comm_bound.json.gz"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var seen bytes.Buffer
	f.Tap = &seen
	if _, err := f.Peek(); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(f)
	if err != nil || len(all) == 0 || !bytes.Equal(all, seen.Bytes()) {
		t.Errorf("%d bytes read, %d seen, %v", len(all), seen.Len(), err)
	}
}
