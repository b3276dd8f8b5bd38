package bench

import (
	"fmt"
	"testing"

	"assay/summary"
)

func TestGPUsOf(t *testing.T) {
	for path, want := range map[string]int64{
		"a/gpus_16.txt": 16, "2gpu.log": 2, "run-4-gpus.jsonl": 4, "n_gpu=8/train.log": 8, "world_size_32.log": 32, "llama-8xGPU.log": 8,
		"gpu.log": 0, "a100.log": 0, "gpus_2_ngpu4.log": 0, "step_200.log": 0, "mygpus.log": 0, "7b_gpus_2.log": 2,
	} {
		if got := GPUsOf(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

// TestScaling: 10, 18 and 32 samples a second on 1, 2 and 4 GPUs are 10, 9 and 8 on each.
func TestScaling(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values map[string]float64
		order  []string
		want   string
	}{
		{"four GPUs first", map[string]float64{"r-4gpu.log": 32, "r-1gpu.log": 10, "r-2gpu.log": 18}, []string{"r-4gpu.log", "r-1gpu.log", "r-2gpu.log"}, "[1 0.9 0.8]"},
		{"from two GPUs", map[string]float64{"gpus-2": 18, "gpus-8": 54}, []string{"gpus-2", "gpus-8"}, "[1 0.75]"},
		{"perhaps samples of each GPU", map[string]float64{"gpus-1": 10, "gpus-8": 10.4}, []string{"gpus-1", "gpus-8"}, "[]"},
		{"another model", map[string]float64{"7b-gpus-1": 10, "13b-gpus-2": 12}, []string{"7b-gpus-1", "13b-gpus-2"}, "[]"},
		{"one name without a number", map[string]float64{"gpus-1": 10, "base": 19}, []string{"gpus-1", "base"}, "[]"},
		{"equal numbers", map[string]float64{"a/gpus-2": 10, "b/gpus-2": 19}, []string{"a/gpus-2", "b/gpus-2"}, "[]"},
	} {
		s := &summary.Summary{}
		for i, name := range tt.order {
			v := tt.values[name]
			s.Inputs = append(s.Inputs, summary.Input{Path: name})
			s.Series = append(s.Series, summary.Series{Input: i, Metric: "throughput.samples", Producer: "p", N: 1, Median: &v})
		}
		if got := fmt.Sprint(Efficiencies(Scaling(s))); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
