package forms

import "testing"

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
