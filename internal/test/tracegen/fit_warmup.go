package tracegen

// A WarmUp is a program of several steps, made twice: with work in its first step that
// programs do only once, and without.
type WarmUp struct {
	Name          string
	With, Without []Story
}

// WarmUps returns each of several programs with each of several warm-ups.
func WarmUps() (out []WarmUp) {
	programs := []struct {
		name string
		step func(p *plant)
	}{
		{"busy", func(p *plant) { p.compute(8 * ms) }},
		{"communicates", func(p *plant) { p.compute(6 * ms); p.exposed(2 * ms) }},
		{"copies", func(p *plant) { p.compute(7 * ms); p.copyAfter(hostToDevicePinned, ms, 20<<20) }},
		{"collates", func(p *plant) { p.pause(InPython, "demo/train.py(88): collate", 3*ms); p.compute(5 * ms) }},
		{"loads", func(p *plant) { p.pause(DataLoading, nextBatch, 3*ms); p.compute(5 * ms) }},
		{"launches_slowly", func(p *plant) {
			for range 60 {
				p.compute(80 * us)
				p.finalize()
				p.wait(p.t, InPython, "", 0)
				p.pause(InPython, "demo/model.py(12): forward", 40*us)
			}
		}},
	}
	warmUps := []struct {
		name string
		once func(p *plant)
	}{
		{"compiles_for_long", func(p *plant) { p.pause(InPython, "torch/_dynamo/convert_frame.py(500): _compile", 60*ms) }},
		{"compiles", func(p *plant) { p.pause(InPython, "torch/_dynamo/convert_frame.py(500): _compile", 16*ms) }},
		{"allocates", func(p *plant) { p.pause(Allocating, "cudaMalloc", 16*ms) }},
		{"allocates_for_long", func(p *plant) { p.pause(Allocating, "cudaMalloc", 700*ms) }},
		{"captures_a_graph", func(p *plant) { p.pause(InPython, "torch/cuda/graphs.py(250): capture_end", 16*ms) }},
		{"waits", func(p *plant) { p.late(p.t, Synchronizing, "cudaDeviceSynchronize", 16*ms) }},
		{"tries_convolutions", func(p *plant) {
			for i := range 8 {
				p.launch([]string{"implicit_convolve_sgemm", "cudnn::winograd_nonfused", "fft2d_r2c_32x32"}[i%3], 3*ms)
			}
		}},
	}
	for _, program := range programs {
		for _, w := range warmUps {
			run := func(name string, once func(p *plant)) []Story {
				return oneRank(name, func(p *plant) {
					for i := range 8 {
						p.step(func() {
							if i == 0 {
								p.launch(p.add, 20*us)
								p.finalize()
								once(p)
							}
							program.step(p)
						})
					}
				})
			}
			name := program.name + "_and_" + w.name
			out = append(out, WarmUp{name, run(name, w.once), run(name+"_not", func(*plant) {})})
		}
	}
	return out
}
