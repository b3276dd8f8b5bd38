package ingest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/logs"
	"assay/trace"
)

// logsOfCorpus has, for folders of real files, the programs whose records are found in
// each of their files.
var logsOfCorpus = map[string][]string{
	"sglang_server": {"SGLang"}, "vllm_server": {"vLLM"}, "verl": {"veRL"}, "skyrl": {"SkyRL"}, "nemo_rl": {"NeMo RL"}, "megatron": {"Megatron-LM", "DeepSpeed"},
	"deepspeed": {"DeepSpeed", "DeepSpeed-Chat"}, "torchtitan": {"torchtitan"}, "trl_hf": {"Hugging Face Trainer"}, "lightning": {"metrics.csv"},
}

// recordsOfCorpus are the folders of other records, and besides the programs whose
// records logs of trainers and servers have besides their own.
var (
	recordsOfCorpus = map[string]bool{"loadgen": true, "dcgm": true, "gpu_metrics": true, "mlperf": true, "nvidia_smi": true, "sglang_metrics": true, "sysmon": true, "tfevents": true}
	besides         = []string{"nvidia-smi", "NCCL", "SGLang bench_serving"}
)

// TestSeriesCorpus: each real log is read as one of its program, and no other file of the
// folder is taken for a log.
func TestSeriesCorpus(t *testing.T) {
	corpus := test.Corpus(t, "series")
	read := map[string]int{}
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(corpus, path)
		folder, _, inFolder := strings.Cut(filepath.ToSlash(rel), "/")
		if err != nil || d.IsDir() || !inFolder {
			return err
		}
		want := logsOfCorpus[folder]
		in, err := loadPath(t, path)
		switch {
		case d.Name() == "test_vlm_gdn_warmup.log": // a server that processed nothing
			if err == nil || !strings.Contains(err.Error(), "without a record that has values") {
				t.Errorf("%s: %+v, %v", rel, in, err)
			}
		case folder == "grpo_custom":
			if err == nil || !strings.Contains(err.Error(), `anchor: ["reward_mean="]`) {
				t.Errorf("%s: %+v, %v; want the form to write", rel, in, err)
			}
		case want == nil && recordsOfCorpus[folder]: // see the tests of packages bench, comm and monitor
		case want == nil && err == nil && in.Series != nil && len(in.Series.Series) > 0:
			t.Errorf("%s is read as a log of %+v", rel, in.Series.Producers)
		case want == nil:
		case err != nil || in.Series == nil:
			t.Errorf("%s: %+v, %v; want a log of %s", rel, in, err, want)
		default:
			read[folder]++
			if !in.Series.Complete {
				t.Errorf("%s is not complete: %+v", rel, in.Series.Issues)
			}
			for _, p := range in.Series.Producers {
				if !slices.Contains(want, p.Name) && !slices.Contains(besides, p.Name) {
					t.Errorf("%s has records of %s, want %s", rel, p.Name, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder := range logsOfCorpus {
		if read[folder] == 0 {
			t.Errorf("no file of %s was read", folder)
		}
	}
}

// TestCorpusFiles: each real file is what testdata/corpus.txt says, by hand, that it is.
func TestCorpusFiles(t *testing.T) {
	top := filepath.Dir(test.Corpus(t, "series"))
	list, err := os.ReadFile(filepath.Join("testdata", "corpus.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "#") || len(f) != 3 {
			continue
		}
		n++
		in, err := loadPath(t, filepath.Join(top, filepath.FromSlash(f[0])))
		switch {
		case f[1] == "!":
			if err == nil || !strings.Contains(err.Error(), f[2]) {
				t.Errorf("%s: %v, want %q", f[0], err, f[2])
			}
		case f[2] == "-" && err == nil && in.Format == f[1]: // no log
		case err != nil || in.Series == nil:
			t.Errorf("%s: %v, want %s", f[0], err, f[2])
		case in.Format != f[1] || producersOf(in) != f[2]:
			t.Errorf("%s is read as %s of %q, want %s of %q", f[0], in.Format, producersOf(in), f[1], f[2])
		}
	}
	if n < 176 {
		t.Errorf("%d files", n)
	}
}

// TestCorpusNumbers: what a script with patterns of its own reads of real files equals what is
// read here.
func TestCorpusNumbers(t *testing.T) {
	top := filepath.Dir(test.Corpus(t, "series"))
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	out, err := exec.Command(python, filepath.Join("testdata", "numbers.py"), top).Output()
	if err != nil {
		t.Fatal(err)
	}
	var files map[string]map[string][2]float64
	if err := json.Unmarshal(out, &files); err != nil {
		t.Fatal(err)
	}
	n := 0
	for file, numbers := range files {
		in, err := loadPath(t, filepath.Join(top, filepath.FromSlash(file)))
		if err != nil || in.Series == nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for key, want := range numbers {
			n++
			count, sum := countAndSum(in.Series, key)
			if float64(count) != want[0] || math.Abs(sum-want[1]) > 1e-3*math.Abs(want[1]) {
				t.Errorf("%s: %s has %d values with the sum %v, want %v", file, key, count, sum, want)
			}
		}
	}
	if len(files) < 18 || n < 30 {
		t.Errorf("%d numbers of %d files", n, len(files))
	}
}

// countAndSum returns how many values a key has: "METRIC@NAME" of series, "B METRIC STAT" of
// results.
func countAndSum(log *logs.Log, key string) (n int64, sum float64) {
	if of, ok := strings.CutPrefix(key, "B "); ok {
		metric, stat, _ := strings.Cut(of, " ")
		for i := range log.Benchmarks {
			if v, ok := log.Benchmarks[i].Figure(metric, stat); ok {
				n, sum = n+1, sum+v
			}
		}
		return n, sum
	}
	metric, as, _ := strings.Cut(key, "@")
	for i := range log.Series {
		if s := &log.Series[i]; s.Metric.Name == metric && s.As == as {
			n, sum = n+s.N, sum+s.Sum
		}
	}
	return n, sum
}

// producersOf returns the programs whose records an input has.
func producersOf(in *Input) string {
	found := map[string]bool{}
	for _, s := range in.Series.Series {
		found[s.Producer] = true
	}
	for _, b := range in.Series.Benchmarks {
		found[b.Producer] = true
	}
	for _, g := range in.Series.Groups {
		found[g.Source] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), ", ")
}

// TestSeriesPacked: logs are read through compression, and an end that is cut off is an
// issue.
func TestSeriesPacked(t *testing.T) {
	text := strings.Repeat("(TaskRunner pid=7) step:3 - timing_s/gen:5.5 - timing_s/step:9.0\n", 2000)
	packed := string(gz(t, text))
	in, err := loadNamed(t, "train.log.gz", packed)
	if err != nil || in.Series == nil || in.Compression != "gzip" || in.Series.Records != 2000 || in.Format != "log" {
		t.Fatalf("%+v, %v", in, err)
	}
	in, err = loadNamed(t, "train.log.gz", packed[:len(packed)-20])
	if err != nil || in.Series == nil || in.Series.Complete || in.Series.Issues[0].Code != "input-truncated" {
		t.Fatalf("%+v, %v", in, err)
	}
	// Tables of a profiler and values in one log.
	in, err = loadNamed(t, "run.log", text+logged(5)+nsysTable)
	if err != nil || in.Series == nil || in.Tables == nil || len(in.Tables.List) != 1 {
		t.Fatalf("%+v, %v", in, err)
	}
}

// TestWideMetrics: objects of metrics may be longer than what decides about the format. The
// truth is what was written.
func TestWideMetrics(t *testing.T) {
	for _, keys := range []int{10, 300, 8000} {
		var text strings.Builder
		for step := range 3 {
			fmt.Fprintf(&text, `{"step": %d, "loss": %d.5`, step, step)
			for k := range keys {
				fmt.Fprintf(&text, `, "layer/%d/norm": %d`, k, k)
			}
			text.WriteString("}\n")
		}
		path := filepath.Join(t.TempDir(), "metrics.jsonl")
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := Load(f, trace.SelectAll())
		f.Close()
		if err != nil {
			t.Errorf("%d keys: %v", keys, err)
			continue
		}
		for _, s := range in.Series.Series {
			if s.As == "loss" && (s.N != 3 || s.Sum != 4.5) {
				t.Errorf("%d keys: %+v", keys, s)
			}
		}
		if in.Format != "metrics-jsonl" || len(in.Series.Series) < min(keys, 1000) {
			t.Errorf("%d keys: %s with %d series", keys, in.Format, len(in.Series.Series))
		}
	}
}

// TestPrintedMetrics: a log that has nothing but the dictionaries that a trainer prints is a log, and other
// printed objects are refused.
func TestPrintedMetrics(t *testing.T) {
	read := func(text string) (*Input, error) {
		f, err := Open(Stdin, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return Load(f, trace.SelectAll())
	}
	in, err := read("{'loss': 0.5, 'grad_norm': 1.5, 'epoch': 0.1}\n{'loss': 0.25, 'grad_norm': 1.5, 'epoch': 0.2}\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range in.Series.Series {
		if s.As == "loss" && (s.N != 2 || s.Sum != 0.75) {
			t.Errorf("%+v", s)
		}
	}
	if _, err := read("{'name': 'kernel', 'dur': 5}\n{'name': 'kernel', 'dur': 6}\n"); err == nil {
		t.Error("a printed object is read")
	}
}
