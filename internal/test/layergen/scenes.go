package layergen

// A Scene is a capture with a name, for tests and for files.
type Scene struct {
	Name   string
	Config Config
}

// Scenes returns captures of models with layers.
func Scenes(seed uint64) (out []Scene) {
	add := func(name string, c Config) {
		if c.Steps == 0 {
			c.Steps = 3
		}
		c.Seed = seed + uint64(len(out))
		out = append(out, Scene{name, c})
	}
	one := func(p Program) []Program { return []Program{p} }
	for _, m := range []struct {
		name string
		p    Program
		amd  bool
	}{
		{"vllm", Llama(36), false}, {"tensor-parallel", TensorParallel(28, false), false}, {"nccl", TensorParallel(17, true), false},
		{"moe", Mixture(3, 24, true, false), false}, {"moe-no-dense", Mixture(0, 48, false, false), false}, {"moe-parallel", Mixture(1, 26, true, true), false},
		{"sglang", SGLang(28), false}, {"tensorrt", TensorRT(32), false}, {"rocm", ROCm(40), true}, {"hybrid", Hybrid(30), false},
		{"sliding", Sliding(34), false}, {"stage", Stage(10), false}, {"speculative", Speculative(3, 4, 32), false}, {"gpt", GPT(12), false},
		{"huggingface", HuggingFace(16), false}, {"compiled", Compiled(24), false}, {"encoder-decoder", EncoderDecoder(8), false}, {"dit", DiT(28), false},
		{"three-layers", Llama(3), false}, {"latent", Latent(3, 23), false}, {"pruned", Pruned(22), false}, {"two-streams", TwoStreams(26), false},
		{"vision", Vision(24, 28), false},
	} {
		add(m.name+"/eager", Config{Programs: one(m.p), AMD: m.amd, Jitter: 3})
		add(m.name+"/modules", Config{Programs: one(m.p), AMD: m.amd, Modules: true})
		add(m.name+"/graphs", Config{Programs: one(m.p), AMD: m.amd, Graphs: true, Jitter: 8})
	}
	add("training", Config{Programs: one(Training(12, false)), Jitter: 5})
	add("training/modules", Config{Programs: one(Training(12, false)), Modules: true})
	add("recompute/modules", Config{Programs: one(Training(9, true)), Modules: true})
	add("slow-layer", Config{Programs: one(Mixture(0, 36, false, false)), Graphs: true, Jitter: 2, Slow: []int{17}, SlowPart: "moe", SlowTimes: 180})
	add("variants", Config{Programs: one(Llama(32)), Graphs: true, Jitter: 5, SplitEvery: 5})
	add("memsets", Config{Programs: one(TensorRT(30)), Graphs: true, MemsetOf: 3})
	add("jitter", Config{Programs: one(SGLang(36)), Graphs: true, Jitter: 40, Steps: 5})
	add("mixed", Config{Programs: []Program{Llama(36), Compiled(36)}, Steps: 6, Jitter: 3})
	add("accumulation", Config{Programs: one(Repeated(Training(6, false), 3)), Modules: true, Jitter: 2})
	add("time-steps/graphs", Config{Programs: one(Repeated(DiT(12), 5)), Graphs: true, Jitter: 3})
	add("alternating", Config{Programs: one(Alternating(20)), Graphs: true, Jitter: 4})
	add("beside", Config{Programs: one(Beside(18)), Graphs: true, Jitter: 4})
	add("slow-host", Config{Programs: one(GPT(10)), GapNS: 90 * us, Jitter: 4})
	add("unmarked", Config{Programs: one(ROCm(20)), AMD: true, Unmarked: true, Graphs: true, Steps: 4})
	return out
}

// NearMisses returns captures without layers.
func NearMisses(seed uint64) []Scene {
	return []Scene{
		{"random", Config{Seed: seed, Programs: []Program{Random(seed, 700), Random(seed+1, 650), Random(seed+2, 720)}, Steps: 3}},
		{"random/graphs", Config{Seed: seed, Programs: []Program{Random(seed+3, 900)}, Steps: 2, Graphs: true}},
		{"single", Config{Seed: seed, Programs: []Program{Single()}, Steps: 4}},
		{"loop", Config{Seed: seed, Programs: []Program{Loop(400, 1)}, Steps: 3}},
		{"loop-of-two", Config{Seed: seed, Programs: []Program{Loop(200, 2)}, Steps: 3, Graphs: true}},
		{"unet", Config{Seed: seed, Programs: []Program{UNet()}, Steps: 4, Jitter: 5}},
		{"two-models-of-one-layer", Config{Seed: seed, Programs: []Program{Single(), {Passes: []Pass{{Name: "forward", Before: GPT(1).Passes[0].Layers[0].Kernels}}}}, Steps: 6}},
	}
}
