package goodput_test

import (
	"math"
	"testing"

	"assay/summary"
	"assay/summary/view/goodput"
)

// TestGPUs: a job of an hour on 64 GPUs at 2 an hour costs 128 and takes 64 × 600 Wh, also if a monitor ran on one node of
// eight. A monitor of more GPUs than the settings state is right, and --gpus is right always.
func TestGPUs(t *testing.T) {
	for _, tc := range []struct {
		name            string
		given, sampled  int64
		world           string
		gpus            int64
		cost, wattHours float64
	}{
		{"a monitor of one node", 0, 8, "64", 64, 128, 38400},
		{"a monitor of all nodes", 0, 64, "64", 64, 128, 38400},
		{"settings of one node", 0, 16, "8", 16, 32, 9600},
		{"no settings", 0, 8, "", 8, 16, 4800},
		{"no monitor", 0, 0, "64", 64, 128, 0},
		{"the number is stated", 32, 8, "64", 32, 64, 19200},
	} {
		from, to := int64(0), int64(3600e9)
		a := summary.Attempt{Job: 1, StartNS: &from, EndNS: &to}
		if tc.sampled > 0 {
			a.Power = &summary.AttemptPower{GPUs: tc.sampled, Watts: 600, NS: to}
		}
		s := &summary.Summary{Attempts: []summary.Attempt{a}, Price: &summary.Price{GPUHour: 2, GPUs: tc.given},
			JobTimes: []summary.JobTime{{Job: "1", Part: summary.PartSteps, NS: to, Steps: 10}}}
		if tc.world != "" {
			s.Settings = []summary.Setting{{Name: "train.world", Value: tc.world}}
		}
		j := goodput.Of(s)[0]
		cost, _ := j.Cost(j.WallNS)
		joules, _ := j.Energy(j.RunNS())
		if j.GPUs != tc.gpus || j.Sampled != tc.sampled || math.Abs(cost-tc.cost) > 1e-9 || math.Abs(joules/3600-tc.wattHours) > 1e-6 {
			t.Errorf("%s: %d GPUs (%d measured), cost %v, %v Wh; want %d, %v, %v", tc.name, j.GPUs, j.Sampled, cost, joules/3600, tc.gpus, tc.cost, tc.wattHours)
		}
	}
}
