package ingest

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	recordsOfCorpus = map[string]bool{"dcgm": true, "gpu_metrics": true, "mlperf": true, "nvidia_smi": true, "sglang_metrics": true, "sysmon": true, "tfevents": true}
	besides         = []string{"nvidia-smi", "NCCL", "SGLang bench_serving"}
)

// TestSeriesCorpus: each real log is read as one of its program, and no other file of the
// folder is taken for a log.
func TestSeriesCorpus(t *testing.T) {
	corpus := filepath.Join(cmp.Or(os.Getenv("ASSAY_CORPUS"), filepath.Join("..", "..", "..", "shared", "corpus")), "series")
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("no corpus")
	}
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
