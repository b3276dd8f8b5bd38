package forms

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/internal/test"

	"assay/logs"
)

// A numbers is what another program computed of the values of one key.
type numbers struct {
	N                           int
	Median, Mean, Min, Max, Sum float64
}

func readFile(t testing.TB, path string) *logs.Log {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := Read(f, filepath.Base(path), Default(), logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// near reports whether two numbers differ by 0.1 % at most. What is expected has four
// decimals.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b)+5.1e-5 }

// check compares the values of all series that choose selects, pooled, with what is
// expected of them. Scale is what the base unit is multiplied by in the file.
func check(t *testing.T, file, what string, log *logs.Log, scale float64, want numbers, choose func(*logs.Series) bool) {
	t.Helper()
	var values []float64
	for i := range log.Series {
		if s := &log.Series[i]; choose(s) {
			for _, v := range s.Points.Value {
				values = append(values, v*scale)
			}
		}
	}
	if len(values) != want.N {
		t.Errorf("%s: %s has %d values, want %d", file, what, len(values), want.N)
		return
	}
	if want.N == 0 {
		return
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	median := (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	got := numbers{len(values), median, sum / float64(len(values)), values[0], values[len(values)-1], sum}
	if !near(got.Median, want.Median) || !near(got.Mean, want.Mean) || !near(got.Min, want.Min) || !near(got.Max, want.Max) || !near(got.Sum, want.Sum) {
		t.Errorf("%s: %s is %+v, want %+v", file, what, got, want)
	}
}

// TestServerLogs: what is read of the logs of real servers equals what another program
// reads of them.
func TestServerLogs(t *testing.T) {
	dir := test.Corpus(t, "series")
	n := 0
	for file, raw := range test.Expected(t, "null") {
		switch kind, _, _ := strings.Cut(file, "/"); kind {
		case "sglang_server":
			n++
			var want struct{ Decode, Prefill map[string]numbers }
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			log := readFile(t, filepath.Join(dir, file))
			for phase, keys := range map[string]map[string]numbers{"decode": want.Decode, "prefill": want.Prefill} {
				for key, want := range keys {
					if key == "timestamp" {
						continue
					}
					check(t, file, phase+" "+key, log, 1, want, func(s *logs.Series) bool { return s.As == key && s.Label("phase") == phase })
				}
			}
		case "vllm_server":
			n++
			want := map[string]json.RawMessage{}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			log := readFile(t, filepath.Join(dir, file))
			for key, as := range map[string]string{"prompt_tps": "throughput.input_tokens", "gen_tps": "throughput.output_tokens", "running": "requests.running", "waiting": "requests.queued", "kv_pct": "kv_cache.usage"} {
				var q numbers
				if err := json.Unmarshal(want[key], &q); err != nil {
					t.Fatal(err)
				}
				scale := 1.0
				if key == "kv_pct" {
					scale = 100
				}
				check(t, file, key, log, scale, q, func(s *logs.Series) bool { return s.Metric.Name == as })
			}
		case "verl":
			n++
			var want struct {
				Keys        map[string]numbers
				Distinct    int
				First, Last int64
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			log := readFile(t, filepath.Join(dir, file))
			for key, q := range want.Keys {
				scale := 1.0
				switch {
				case strings.HasPrefix(key, "timing/") || strings.HasPrefix(key, "timing_s/"):
					scale = 1e-9
				case strings.HasSuffix(key, "_gb"):
					scale = 1.0 / (1 << 30)
				case strings.HasPrefix(key, "timing_per_token_ms"), key == "perf/time_per_step", key == "perf/mfu/actor":
					continue
				}
				check(t, file, key, log, scale, q, func(s *logs.Series) bool { return s.As == key })
			}
			steps := map[int64]bool{}
			for i := range log.Series {
				for _, step := range log.Series[i].Points.Step {
					steps[step] = true
				}
			}
			if len(steps) != want.Distinct || !steps[want.First] || !steps[want.Last] {
				t.Errorf("%s: %d steps, want %d", file, len(steps), want.Distinct)
			}
		}
	}
	if n != 14 {
		t.Errorf("%d files, want 14", n)
	}
}

// TestTrainerLogs is TestServerLogs for the logs of trainers other than veRL.
func TestTrainerLogs(t *testing.T) {
	dir := test.Corpus(t, "series")
	n := 0
	for file, raw := range test.Expected(t, "null") {
		kind, _, _ := strings.Cut(file, "/")
		var want struct {
			Timing, Finished           map[string]numbers
			TimingS                    map[string]numbers `json:"timing_s"`
			E2E                        numbers            `json:"e2e_tps_gpu"`
			MS                         numbers
			TFLOPs                     numbers `json:"tflops_per_gpu"`
			TPS                        numbers
			MFU                        numbers `json:"mfu_pct"`
			Memory                     numbers `json:"memory_gib"`
			GradInf                    int64   `json:"grad_inf"`
			LastLoss                   string  `json:"last_loss"`
			Steps, First, Last, Global any
		}
		if !slices.Contains([]string{"skyrl", "nemo_rl", "megatron", "torchtitan"}, kind) {
			continue
		}
		n++
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		log := readFile(t, filepath.Join(dir, file))
		of := func(name string) func(*logs.Series) bool {
			return func(s *logs.Series) bool { return s.Metric.Name == name }
		}
		as := func(name string) func(*logs.Series) bool {
			return func(s *logs.Series) bool { return s.As == name }
		}
		switch kind {
		case "skyrl":
			for key, q := range want.Timing {
				check(t, file, key, log, 1e-9, q, as(key))
			}
		case "nemo_rl":
			for key, q := range want.TimingS {
				check(t, file, key, log, 1e-9, q, as(key))
			}
			check(t, file, "tokens per GPU", log, 1, want.E2E, of("throughput.tokens_per_gpu"))
		case "megatron":
			check(t, file, "step.time", log, 1e-6, want.MS, of("step.time"))
			check(t, file, "TFLOP/s", log, 1e-12, want.TFLOPs, func(s *logs.Series) bool { return strings.Contains(s.As, "TFLOP/s/GPU") })
		case "torchtitan":
			check(t, file, "tps", log, 1, want.TPS, of("throughput.tokens_per_gpu"))
			check(t, file, "mfu", log, 100, want.MFU, of("gpu.mfu"))
			check(t, file, "memory", log, 1.0/(1<<30), want.Memory, of("memory.peak_reserved"))
			for _, s := range log.Series {
				if s.Metric.Name == "train.grad_norm" && s.Inf != want.GradInf {
					t.Errorf("%s: %d infinite norms, want %d", file, s.Inf, want.GradInf)
				}
			}
		}
	}
	if n != 13 {
		t.Errorf("%d files, want 13", n)
	}
}

// TestDocuments compares states of trainers, and a table of metrics, whose numbers are
// counted from its text.
func TestDocuments(t *testing.T) {
	dir := test.Corpus(t, "series")
	n := 0
	for file, raw := range test.Expected(t, "null") {
		if !strings.HasSuffix(file, "trainer_state.json") {
			continue
		}
		n++
		var want struct {
			History int64 `json:"log_history"`
			Global  int64 `json:"global_step"`
			Last    struct{ Epoch, Loss, Reward float64 }
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		log, err := ReadTrainerState(f, file, logs.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		for name, last := range map[string]float64{"train.epoch": want.Last.Epoch, "train.loss": want.Last.Loss, "train.reward": want.Last.Reward} {
			for _, s := range log.Series {
				if k := s.Points.Len(); s.Metric.Name == name && (s.N != want.History || s.Points.Step[k-1] != want.Global || !near(s.Points.Value[k-1], last)) {
					t.Errorf("%s: %s has %d values, the last is %v of step %d; want %d, %v, %d", file, name, s.N, s.Points.Value[k-1], s.Points.Step[k-1], want.History, last, want.Global)
				}
			}
			if got, ok := lastOf(log, name); !ok || !near(got, last) {
				t.Errorf("%s: %s is %v, %v", file, name, got, ok)
			}
		}
	}
	if n != 2 {
		t.Errorf("%d states, want 2", n)
	}
	files := test.Files(t, filepath.Join(dir, "lightning", "*", "*.csv"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	sum := 0.0
	for _, row := range rows {
		v, err := strconv.ParseFloat(strings.Split(row, ",")[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	log, err := ReadMetricsCSV(strings.NewReader(string(text)), "metrics.csv", logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range log.Series {
		if s.Metric.Name == "train.loss" && (s.N != int64(len(rows)) || !near(s.Sum, sum) || s.Points.Step[0] != 49) {
			t.Errorf("loss: %d values with the sum %v, want %d, %v", s.N, s.Sum, len(rows), sum)
		}
	}
	if _, ok := lastOf(log, "train.loss"); !ok {
		t.Error("no loss")
	}
}
