package transformer

import "testing"

// TestLayer: what one layer reads and computes, by hand from the published sizes. All requests have 1,000 tokens in the cache.
func TestLayer(t *testing.T) {
	type sizes struct{ weights, cache, pairs float64 } // of attention; pairs: FLOPs of a token for one key
	llama := sizes{2 * 2 * 4096 * 128 * (32 + 8.), 2 * 8 * 128 * 2, 4 * 32 * 128}
	qwen := sizes{2 * 2 * 896 * 64 * (14 + 2.), 2 * 2 * 64 * 2, 4 * 14 * 64}
	moe := sizes{2 * 2 * 2048 * 128 * (32 + 4.), 2 * 4 * 128 * 2, 4 * 32 * 128}
	const fp8 = 1 + 4./(128*128)
	latent := sizes{fp8 * (7168*1536 + 7168*(512+64.) + (1536*128*(128+64.)+512*128*(128+128.)+128*128*7168)/8), (512 + 64) * 2, 2 * (2*512 + 64) * 128 / 8.}
	oss := sizes{2 * 2 * 2880 * 64 * (64/8 + 8/8.), 0, 0}
	for _, tc := range []struct {
		name, config string
		tp           int64
		batch        []int64
		at           sizes
		perElement   float64 // FLOPs of a token for a byte of the weights of attention
		mlp          float64 // bytes of layers without experts
		moe          func(batch float64) float64
		head, hidden float64
	}{
		{"Llama 3 8B", llama3, 1, []int64{1, 64}, llama, 1, 2 * 3 * 4096 * 14336, nil, 2 * 4096 * 128256, 0},
		{"Qwen2.5 0.5B", qwenHalf, 1, []int64{1, 32}, qwen, 1, 2 * 3 * 896 * 4864, nil, 2 * 896 * 151936, 0},
		{"Mixtral 8x7B", mixtral8x7, 1, []int64{1, 5}, llama, 1, 0,
			func(b float64) float64 { return 2 * (hit(8, 2, b)*3*4096*14336 + 8*4096) }, 2 * 4096 * 32000, 0},
		{"Qwen3 30B A3B", qwen30, 1, []int64{1, 16}, moe, 1, 0,
			func(b float64) float64 { return 2 * (hit(128, 8, b)*3*2048*768 + 2048*128) }, 2 * 2048 * 151936, 0},
		{"DeepSeek V3 on 8 GPUs", deepseekV3, 8, []int64{1, 128}, latent, 2 / fp8, fp8 * 3 * 7168 * 18432 / 8,
			func(b float64) float64 { return fp8*(1+hit(256, 8, b))*3*7168*2048/8 + 2*256*7168 }, 2 * 7168 * 129280 / 8, 7168},
		{"gpt-oss 120B on 8 GPUs", gptOSS, 8, []int64{1, 64}, oss, 1, 0,
			func(b float64) float64 { return 17./32*hit(128, 4, b)*3*2880*2880/8 + 2*2880*128 }, 2 * 2880 * 201088 / 8, 2880},
	} {
		for _, batch := range tc.batch {
			m, st := read(t, tc.config)
			got, err := m.Layer(st, Step{batch, batch, 1000 * batch}, Parallel{tc.tp, 1, 1})
			if err != nil {
				t.Fatal(err)
			}
			b := float64(batch)
			want := map[string]float64{"attention": tc.at.weights + 1001*b*tc.at.cache, "head": tc.head}
			if tc.mlp > 0 {
				want["mlp"] = tc.mlp
			}
			if tc.moe != nil {
				want["moe"] = tc.moe(b)
			}
			if tc.hidden > 0 {
				want["communication"] = 2 * 2 * b * tc.hidden
			}
			flops := b * (tc.at.weights*tc.perElement + 1000*tc.at.pairs)
			for _, p := range got {
				if !near(p.Bytes, want[p.Name]) {
					t.Errorf("%s, batch %d: %.0f bytes of %s, want %.0f", tc.name, batch, p.Bytes, p.Name, want[p.Name])
				}
				if p.Name == "attention" && !near(p.FLOPs, flops) {
					t.Errorf("%s, batch %d: %.0f FLOPs of attention, want %.0f", tc.name, batch, p.FLOPs, flops)
				}
				if p.Name == "head" && !near(p.FLOPs, b*tc.head) {
					t.Errorf("%s, batch %d: %.0f FLOPs of the head, want %.0f", tc.name, batch, p.FLOPs, b*tc.head)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%s: %+v, want %d parts", tc.name, got, len(want))
			}
		}
	}
}
