package floor

import (
	"math"
	"testing"

	"assay/analyze/efficiency/transformer"
	"assay/summary"
)

// config is a dense model of 4 layers.
const config = `{"model_type":"gpt_neox","torch_dtype":"bfloat16","hidden_size":1024,"intermediate_size":4096,"num_attention_heads":8,"num_hidden_layers":4,"vocab_size":1000}`

// weights of the model in bytes: four matrices of 1024 × 1024 and two of 1024 × 4096 in each layer, and the output layer.
const weights = 2 * (4*(4*1024*1024+2*1024*4096) + 1024*1000)

// run is a capture of one GPU with a bandwidth of 100 GB/s and a rate of 10 TFLOP/s, and one step of 4 ms whose layers
// each run some kernels once.
func run() *summary.Summary {
	hbm := 100.
	return &summary.Summary{
		Inputs:  []summary.Input{{}},
		Devices: []summary.Device{{Activity: busy(4_000_000)}},
		Steps:   []summary.Step{{Name: "s", WallNS: 4_000_000, Activity: busy(4_000_000)}},
		Kernels: []summary.Kernel{{Name: "gemm", Count: 16}, {Name: "attention", Count: 4}, {Name: "embedding", Count: 1}},
		Efficiency: summary.Efficiency{
			Devices: []summary.EfficiencyDevice{{HBMGBPS: &hbm, PeakTFLOPS: map[string]float64{"bf16": 10}}},
			Decode:  []summary.EfficiencyDecode{{Name: "s", Batch: 2, Tokens: 2, Keys: 300, WallNS: 4_000_000, GPUNS: 4_000_000}},
		},
	}
}

func busy(ns int64) (a summary.Activity) {
	a[summary.ClassCompute] = ns
	return a
}

func settings(t *testing.T) Settings {
	t.Helper()
	m, err := transformer.Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	st, err := transformer.StoredOf([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	return Settings{Model: m, Stored: st}
}

// TestFill: the floor is that of the bytes, by hand.
func TestFill(t *testing.T) {
	s := run()
	Fill(s, settings(t))
	d := s.Efficiency.Decode[0]
	const cache = (300 + 2) * 4 * 2 * 1024 * 2
	if d.Model.Unknown != "" || *d.Model.WeightBytes != weights || *d.Model.CacheBytes != cache || d.Model.ParallelFrom != summary.FromAlone {
		t.Fatalf("%+v", d.Model)
	}
	if want := int64(math.Ceil((weights + cache) / 100.)); *d.FloorNS != want || d.FloorFrom != summary.FloorOfModel {
		t.Errorf("floor %d from %s, want %d", *d.FloorNS, d.FloorFrom, want)
	}
	if want := (weights + cache) / 100. / 4e6; math.Abs(*d.MBU-want) > 1e-12 {
		t.Errorf("MBU %v, want %v", *d.MBU, want)
	}
	// 2 FLOPs for each weight and token, and 4 × heads × head size for each key, at 10 FLOPs in a picosecond.
	if want := (2*weights/2*2 + 4*1024*4*300.) / 10e3 / 4e6; math.Abs(*d.MFU-want) > 1e-12 {
		t.Errorf("MFU %v, want %v", *d.MFU, want)
	}
	if parts := d.Model.Parts; len(parts) != 4 {
		t.Errorf("parts %+v", parts)
	}
}

// TestUnknown: why there is no floor. Nothing is stated that would not hold.
func TestUnknown(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*summary.Summary, *Settings)
		want   string
	}{
		"faster than the floor": {func(s *summary.Summary, _ *Settings) { s.Efficiency.Decode[0].WallNS = 900_000 }, summary.FloorOver},
		"work that is not recorded": {func(s *summary.Summary, _ *Settings) {
			s.Efficiency.Decode[0].WallNS, s.Efficiency.Decode[0].GPUNS = 4_000_000, 900_000
		}, summary.FloorLittleWork},
		"half idle": {func(s *summary.Summary, _ *Settings) {
			s.Efficiency.Decode[0].WallNS, s.Efficiency.Decode[0].GPUNS = 4_000_000, 2_000_000
		}, ""},
		"just slower": {func(s *summary.Summary, _ *Settings) { s.Efficiency.Decode[0].WallNS = 1_200_000 }, ""},
		"no batch": {func(s *summary.Summary, _ *Settings) {
			s.Efficiency.Decode[0].Batch, s.Efficiency.Decode[0].Tokens = 0, 0
		}, summary.FloorNoRequests},
		"a batch of the user": {func(s *summary.Summary, set *Settings) {
			s.Efficiency.Decode[0].Batch, s.Efficiency.Decode[0].Tokens, set.Requests = 0, 0, 8
		}, ""},
		"a batch of the user, and three passes in the step": {func(s *summary.Summary, set *Settings) {
			s.Efficiency.Decode[0].Batch, s.Efficiency.Decode[0].Tokens, set.Requests = 0, 0, 8
			s.Layers = []summary.Layer{{Step: "s", Count: 4}, {Step: "s", Count: 4}, {Step: "s", Count: 4}}
		}, summary.FloorPasses},
		"a batch of the user, and three passes in other steps": {func(s *summary.Summary, set *Settings) {
			s.Efficiency.Decode[0].Batch, s.Efficiency.Decode[0].Tokens, set.Requests = 0, 0, 8
			s.Layers = []summary.Layer{{Step: "r", Count: 4}, {Step: "t", Count: 8}, {Step: "t", Count: 4}}
		}, summary.FloorPasses},
		"a batch of the user, and one pass": {func(s *summary.Summary, set *Settings) {
			s.Efficiency.Decode[0].Batch, s.Efficiency.Decode[0].Tokens, set.Requests = 0, 0, 8
			s.Layers = []summary.Layer{{Step: "s", Count: 3}, {Step: "s", Count: 1}, {Step: "t", Count: 8}}
		}, ""},
		"three passes in a step that states its batch": {func(s *summary.Summary, _ *Settings) { // speculation
			s.Layers = []summary.Layer{{Step: "s", Count: 12}}
		}, ""},
		"no bandwidth":        {func(s *summary.Summary, _ *Settings) { s.Efficiency.Devices[0].HBMGBPS = nil }, summary.FloorNoPeak},
		"several ranks":       {func(s *summary.Summary, _ *Settings) { s.Inputs[0].WorldSize = 8 }, summary.FloorNoParallel},
		"communication":       {func(s *summary.Summary, _ *Settings) { s.Devices[0].Activity[summary.ClassComm] = 1 }, summary.FloorNoParallel},
		"heads do not divide": {func(_ *summary.Summary, set *Settings) { set.Parallel.Tensor = 3 }, "8 heads of attention cannot be divided by 3 GPUs"},
		"another model": {func(s *summary.Summary, _ *Settings) {
			s.Efficiency.Decode[0].WeightBytes = ref(int64(weights * 12 / 10))
		}, summary.FloorOther},
		"norms in the weights": {func(s *summary.Summary, _ *Settings) {
			s.Efficiency.Decode[0].WeightBytes = ref(int64(weights * 102 / 100))
		}, ""},
		"other layers": {func(s *summary.Summary, _ *Settings) {
			s.Kernels = []summary.Kernel{{Name: "gemm", Count: 24}, {Name: "attention", Count: 6}, {Name: "embedding", Count: 1}}
		}, summary.FloorLayers},
		"layers of a part of the capture": {func(s *summary.Summary, _ *Settings) {
			s.Kernels = []summary.Kernel{{Name: "gemm", Count: 25}, {Name: "attention", Count: 6}}
			s.Devices[0].Activity = busy(9_000_000)
		}, ""},
		"twice in each layer": {func(s *summary.Summary, _ *Settings) { s.Kernels = []summary.Kernel{{Name: "norm", Count: 8}} }, ""},
	} {
		s, set := run(), settings(t)
		tc.change(s, &set)
		Fill(s, set)
		d := &s.Efficiency.Decode[0]
		if d.Model.Unknown != tc.want {
			t.Errorf("%s: %q, want %q", name, d.Model.Unknown, tc.want)
		}
		if known := d.MBU != nil && d.FloorNS != nil; known != (tc.want == "") {
			t.Errorf("%s: MBU %v, floor %v", name, d.MBU, d.FloorNS)
		}
	}
}

// TestParallel: where the number of GPUs is from, the user's first.
func TestParallel(t *testing.T) {
	log := summary.Setting{Producer: "vLLM", Name: "engine.tensor_parallel", Value: "4"}
	groups := []summary.ProcessGroup{{Description: "tp:0", Size: 2}, {Description: "dp:0", Size: 4}, {Description: "pp:0", Size: 1}}
	for _, tc := range []struct {
		name   string
		user   int64
		log    []summary.Setting
		groups []summary.ProcessGroup
		want   int64
		from   string
	}{
		{"user", 8, []summary.Setting{log}, groups, 8, summary.FromUser},
		{"log", 0, []summary.Setting{log}, groups, 4, summary.FromLog},
		{"two logs that differ", 0, []summary.Setting{log, {Name: log.Name, Value: "2"}}, groups, 2, summary.FromGroups},
		{"groups", 0, nil, groups, 2, summary.FromGroups},
		{"groups of another kind", 0, nil, groups[1:2], 1, ""},
	} {
		s, set := run(), settings(t)
		s.Inputs[0].WorldSize = 8
		s.Settings, s.Inputs[0].ProcessGroups, set.Parallel.Tensor = tc.log, tc.groups, tc.user
		p, from := set.parallel(s, &s.Efficiency.Decode[0])
		if p.Tensor != tc.want || from != tc.from {
			t.Errorf("%s: %d from %q, want %d from %q", tc.name, p.Tensor, from, tc.want, tc.from)
		}
	}
}

// TestUnmarked: with a batch of the user, steps that state no kind are decode steps; one that does shows that
// the others are none.
func TestUnmarked(t *testing.T) {
	s, set := run(), settings(t)
	s.Efficiency.Decode, set.Requests = nil, 1
	Fill(s, set)
	if d := s.Efficiency.Decode; len(d) != 1 || d[0].MBU == nil || d[0].Model.RequestsFrom != summary.FromUser || d[0].Model.CacheBytes != nil {
		t.Errorf("%+v", d)
	}
	s = run()
	s.Efficiency.Decode = nil
	s.Steps = append(s.Steps, summary.Step{Name: "p", Kind: "prefill", WallNS: 1, Activity: busy(1)})
	if Fill(s, set); len(s.Efficiency.Decode) != 0 {
		t.Errorf("%+v", s.Efficiency.Decode)
	}
}

// TestOperatorsFirst: bytes of recorded shapes are more exact than those of the model.
func TestOperatorsFirst(t *testing.T) {
	s := run()
	d := &s.Efficiency.Decode[0]
	d.MBU, d.FloorNS, d.FloorFrom = ref(0.5), ref(int64(2_000_000)), summary.FloorOfOperators
	Fill(s, settings(t))
	if *d.MBU != 0.5 || *d.FloorNS != 2_000_000 || d.Model.Unknown != "" || d.MFU == nil {
		t.Errorf("%+v", d)
	}
}
