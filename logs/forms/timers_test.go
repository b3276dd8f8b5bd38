package forms

import (
	"strings"
	"testing"

	"assay/internal/diag"
)

// TestBlockOfTimers: a line that is not indented below indented rows is no row, and what is no time is no phase.
func TestBlockOfTimers(t *testing.T) {
	l := readText(t, Default(), `========================= Step 4/9 =========================
⏱️  Timing:
  • Total step time: 30.00s
  • exposed_generation: 12.00s (40.0%)
  • samples_per_sec_per_gpu: 210.00s (700.0%)
(OtherWorker pid=7) summary={'kl': 0.5, 'reward': 0.25}
  • policy_training: 15.00s (50.0%)
`)
	got := map[string]float64{}
	for _, s := range l.Series {
		got[s.Metric.Name+" "+s.As+" "+s.Metric.Unit] = s.Sum
	}
	want := map[string]float64{"step.time Total step time ns": 30e9, "step.phase exposed_generation ns": 12e9, "step.phase policy_training ns": 15e9, "samples_per_sec_per_gpu samples_per_sec_per_gpu ": 210}
	if len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %v, want %v", k, got[k], v)
		}
	}
}

// TestNearestTimer: a timer that the input lacks is no timer around others; the next one is.
func TestNearestTimer(t *testing.T) {
	text := "x skyrl.train.utils.tracking:log:1 - Step 1:\n{'timing/policy_train': '5.0',\n 'timing/step': '9.0',\n 'trainer/global_step': 1}\n"
	for _, s := range readText(t, Default(), text).Series {
		if s.Inside != "" {
			t.Errorf("%s is inside of %s, which the log does not have", s.As, s.Inside)
		}
	}
}

// TestForeignKeys: numbers under keys that the form of a server does not have are counted once each, whatever the number
// of lines. The keys of trainers are free, so theirs are not.
func TestForeignKeys(t *testing.T) {
	decode := func(more string) string {
		return "[2026-01-09 11:00:00 TP0] Decode batch, #running-req: 5, #token: 900, token usage: 0.20, " + more + "gen throughput (token/s): 88.10, #queue-req: 1\n"
	}
	vllm := func(more string) string {
		return "INFO 01-09 11:00:00 [loggers.py:259] Engine 000: Avg prompt throughput: 3.5 tokens/s, Avg generation throughput: 9.5 tokens/s, Running: 2 reqs, Waiting: 1 reqs, GPU KV cache usage: 4.0%" + more + "\n"
	}
	for _, tt := range []struct {
		name, text  string
		count, line int
		keys        string
	}{
		{"SGLang", decode("") + decode("lora pool: 0.70, #paused-req: 3, ") + decode("lora pool: 0.75, #paused-req: 4, "), 2, 2, "such as lora pool, #paused-req. "},
		{"vLLM", vllm(", Encoder cache usage: 12.0%") + vllm(", Encoder cache usage: 13.0%"), 1, 1, "such as Encoder cache usage. "},
		{"known keys", decode("swa token usage: 0.30, xpu graph: True, ") + vllm(", Preemptions: 2, Deferred: 1 reqs"), 0, 0, ""},
		{"a key without a number", decode("policy: fcfs, "), 0, 0, ""},
		{"a trainer", "step:1 - actor/my_loss:0.5 - my/metric:3 - timing_s/step:8.5\n", 0, 0, ""},
	} {
		var found diag.Issue
		for _, is := range readText(t, Default(), tt.text).Issues {
			if is.Code == "log-keys-unknown" {
				found = is
			}
		}
		if found.Count != int64(tt.count) || found.First.Line != tt.line || !strings.Contains(found.Help, tt.keys) {
			t.Errorf("%s: %+v, want %d keys from line %d: %s", tt.name, found, tt.count, tt.line, tt.keys)
		}
	}
}
