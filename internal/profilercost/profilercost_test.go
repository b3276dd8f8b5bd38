package profilercost

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestMeasured: what each option cost an event of two programs on an H200 is the cost that is assumed for it, or differs
// from it by a quarter at most. Both programs were timed twice without a profiler. Of all that was recorded, about a ninth
// (135 of 1218 events, 191 of 1780) was GPU work, which costs the host nothing more than its call.
func TestMeasured(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "h200", "profiler_cost", "profiler_cost.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Step    string
		Options json.RawMessage
		Median  float64 `json:"median_us"`
		Events  float64 `json:"events_per_step"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	none, work := map[string][2]float64{}, map[string]float64{"decode": 135, "train": 191}
	for _, r := range rows {
		if text := string(r.Options); text == `"none"` {
			none[r.Step] = [2]float64{r.Median, r.Median}
		} else if text == `"none again"` {
			none[r.Step] = [2]float64{min(none[r.Step][0], r.Median), max(none[r.Step][1], r.Median)}
		}
	}
	n := 0
	for _, r := range rows {
		var on struct {
			Shapes bool `json:"record_shapes"`
			Memory bool `json:"profile_memory"`
			Stacks bool `json:"with_stack"`
			FLOPs  bool `json:"with_flops"`
		}
		if json.Unmarshal(r.Options, &on) != nil || on.Shapes && on.Stacks { // all together cost less than each: 1.6 µs of the decoder
			continue
		}
		n++
		events := r.Events - work[r.Step]
		low, high := 1000*(r.Median-none[r.Step][1])/events, 1000*(r.Median-none[r.Step][0])/events
		c := Of(Options{Shapes: on.Shapes || on.FLOPs, Memory: on.Memory, Stacks: on.Stacks, Plain: true})
		t.Logf("%s %s: %.0f to %.0f ns an event, assumed %d to %d", r.Step, r.Options, low, high, c.Least, c.Most)
		if low > 1.25*float64(c.Most) || high < float64(c.Least)/1.25 {
			t.Errorf("%s %s: %.0f to %.0f ns an event, assumed %+v", r.Step, r.Options, low, high, c)
		}
	}
	if n != 10 {
		t.Errorf("%d measurements", n)
	}
}

func TestOptions(t *testing.T) {
	for _, tc := range []struct {
		settings map[string]string
		want     Cost
	}{
		{nil, shapes},
		{map[string]string{"cupti_version": "22"}, shapes}, // the options are not known
		{map[string]string{"record_shapes": "1"}, shapes},
		{map[string]string{"with_flops": "1"}, shapes},
		{map[string]string{"record_shapes": "1", "with_stack": "1"}, stacks},
		{map[string]string{"profile_memory": "1", "with_stack": "0"}, memory},
	} {
		if got := Of(OptionsOf(tc.settings)); got != tc.want {
			t.Errorf("%v: %+v, want %+v", tc.settings, got, tc.want)
		}
	}
	if got := Of(Options{Plain: true}); got != plain {
		t.Errorf("plain: %+v", got)
	}
}
