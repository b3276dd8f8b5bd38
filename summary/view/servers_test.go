package view

import (
	"fmt"
	"testing"

	"assay/summary"
)

// TestServers: the role of each server by its name, its requests, its model and the trainer; where several could be
// rollouts and differ, none is known. Servers of other roles, or of none, are no replicas of a rollout.
func TestServers(t *testing.T) {
	type server struct {
		path, model, task string
		output            float64 // tokens per second; -1 if not logged
	}
	generates := func(path, model string) server { return server{path, model, "", 900} }
	trained := []summary.Setting{{Input: 9, Producer: "veRL", Name: "train.model", Value: "Qwen/Qwen3-8B"}, {Input: 9, Producer: "veRL", Name: "reward.model", Value: "org/Skywork-RM-8B"}}
	same := []summary.Setting{{Input: 9, Producer: "veRL", Name: "train.model", Value: "Qwen/Qwen3-8B"}, {Input: 9, Producer: "veRL", Name: "reward.model", Value: "Qwen/Qwen3-8B"}}
	const rollout, reward, scores = summary.RoleRollout, summary.RoleReward, summary.RoleScores
	for _, tc := range []struct {
		name    string
		servers []server
		trainer []summary.Setting
		rl      bool // a trainer's steps have roles
		want    []string
		same    bool // the first two
	}{
		{"replicas of a service", []server{generates("server-0.log", ""), generates("server-1.log", "")}, nil, false, []string{rollout, rollout}, true},
		{"replicas with names that differ", []server{generates("left.log", ""), generates("right.log", "")}, nil, false, []string{"", ""}, true},
		{"the same beside a trainer", []server{generates("left.log", ""), generates("right.log", "")}, nil, true, []string{"", ""}, false},
		{"numbered pods beside a trainer", []server{generates("vllm-7f9c4-ab2d1.log", ""), generates("vllm-7f9c4-9zzk3.log", "")}, nil, true, []string{rollout, rollout}, true},
		{"a judge by its name", []server{generates("vllm.log", ""), generates("llm_judge0.log", "")}, nil, false, []string{rollout, reward}, false},
		{"a generative reward model", []server{generates("rollout.log", ""), generates("sglang-genrm.log", "")}, nil, true, []string{rollout, reward}, false},
		{"by folders", []server{generates("job/rollout/sglang.log", ""), generates("job/reward/sglang.log", "")}, nil, true, []string{rollout, reward}, false},
		{"a folder of the job", []server{generates("reward-study/sglang-1.log", ""), generates("reward-study/sglang-2.log", "")}, nil, true, []string{rollout, rollout}, true},
		{"a reference model", []server{generates("sglang.log", ""), generates("sglang-ref.log", "")}, nil, true, []string{rollout, scores}, false},
		{"a word within another", []server{generates("vllm-referral-1.log", ""), generates("vllm-referral-2.log", "")}, nil, true, []string{rollout, rollout}, true},
		{"by its model", []server{generates("a.log", "Qwen/Qwen3-8B"), generates("b.log", "models/Skywork-RM-8B")}, trained, true, []string{rollout, reward}, false},
		{"the trained model judges", []server{generates("a.log", "Qwen/Qwen3-8B"), generates("b.log", "Qwen/Qwen3-8B")}, same, true, []string{"", ""}, false},
		{"another model", []server{generates("vllm-1.log", "Qwen/Qwen3-8B"), generates("vllm-2.log", "org/other")}, nil, true, []string{"", ""}, false},
		{"one that never generates", []server{generates("a.log", ""), {"b.log", "", "", 0}}, nil, false, []string{rollout, scores}, false},
		{"one whose output is not logged", []server{generates("a-1.log", ""), {"a-2.log", "", "", -1}}, nil, false, []string{rollout, rollout}, true},
		{"one that embeds", []server{generates("a.log", ""), {"b.log", "", "embed", -1}}, nil, false, []string{rollout, scores}, false},
		{"one that may generate", []server{generates("a-1.log", ""), {"a-2.log", "", "auto", 40}}, nil, false, []string{rollout, rollout}, true},
	} {
		s := &summary.Summary{Inputs: make([]summary.Input, 10), Settings: tc.trainer}
		if tc.rl {
			s.RoleSteps = []summary.RoleStep{{Input: 9, Steps: 4}}
		}
		s.Inputs = s.Inputs[:len(tc.servers)]
		for i, v := range tc.servers {
			s.Inputs[i].Path = v.path
			row := func(metric string, most float64) {
				s.Series = append(s.Series, summary.Series{Input: i, Metric: metric, Producer: "vLLM", N: 40, Max: &most})
			}
			row("requests.running", 8)
			row("throughput.input_tokens", 5000)
			if v.output >= 0 {
				row("throughput.output_tokens", v.output)
			}
			if v.model != "" {
				s.Settings = append(s.Settings, summary.Setting{Input: i, Producer: "vLLM", Name: "engine.model", Value: v.model})
			}
			if v.task != "" {
				s.Settings = append(s.Settings, summary.Setting{Input: i, Producer: "vLLM", Name: "engine.pooling", Value: v.task})
			}
		}
		servers := ServersOf(s)
		var got []string
		for i := range tc.servers {
			got = append(got, servers.Role(i))
		}
		if fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s: roles %q, want %q", tc.name, got, tc.want)
		}
		if got := servers.Same(0, 1); got != tc.same {
			t.Errorf("%s: replicas %v, want %v", tc.name, got, tc.same)
		}
	}
	// A prefill server of a service with separate ones for decode does not generate, and sends its cache on.
	most := 9.0
	s := &summary.Summary{Inputs: []summary.Input{{Path: "prefill-0.log"}}}
	for _, metric := range []string{"requests.running", "throughput.input_tokens", "requests.inflight"} {
		s.Series = append(s.Series, summary.Series{Metric: metric, N: 40, Max: &most})
	}
	none := 0.0
	s.Series = append(s.Series, summary.Series{Metric: "throughput.output_tokens", N: 40, Max: &none})
	if got := ServersOf(s).Role(0); got != summary.RoleRollout {
		t.Errorf("the role of a prefill server is %q", got)
	}
}
