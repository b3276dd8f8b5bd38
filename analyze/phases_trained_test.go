package analyze_test

import (
	"fmt"
	"testing"
)

// TestTrainingBesideGeneration: a range "train" beside one that generates is a phase of the step around both. Without
// generation, or around it, it marks the steps.
func TestTrainingBesideGeneration(t *testing.T) {
	for _, tt := range []struct {
		name   string
		ranges []string // of a step of 100 µs: name, begin, end
		want   int64    // µs of the phase per step; 0: no such phase
	}{
		{"beside", []string{"rollout 5 45", "train 50 90"}, 40},
		{"before", []string{"training 5 30", "generate_sequences 40 80"}, 25},
		{"around", []string{"train 5 95", "generate_sequences 40 80"}, 0},
		{"alone", []string{"forward 5 45", "train 50 90"}, 0},
	} {
		var events []string
		for i := range 3 {
			at := 1000 + i*100
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,"ts":%d,"dur":100}`, i, at))
			for _, r := range tt.ranges {
				var name string
				var from, to int
				if _, err := fmt.Sscan(r, &name, &from, &to); err != nil {
					t.Fatal(err)
				}
				events = append(events, fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":1,"ts":%d,"dur":%d}`, name, at+from, to-from))
			}
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, at+20, i+1),
				fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":5,"args":{"correlation":%d,"device":0,"stream":7}}`, at+22, i+1))
		}
		got := int64(0)
		for _, p := range measured(t, list(events...)).Phases {
			if p.Path == "training" {
				got += p.HostNS
			}
		}
		if got != 3*tt.want*1000 {
			t.Errorf("%s: %d ns of training, want %d µs in each of 3 steps", tt.name, got, tt.want)
		}
	}
}
