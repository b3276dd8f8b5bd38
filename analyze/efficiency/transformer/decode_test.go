package transformer

import (
	"math"
	"strings"
	"testing"
)

// The configurations have the members that these models publish.
const (
	llama3     = `{"model_type":"llama","torch_dtype":"bfloat16","hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,"num_key_value_heads":8,"num_hidden_layers":32,"vocab_size":128256}`
	qwenHalf   = `{"model_type":"qwen2","torch_dtype":"bfloat16","hidden_size":896,"intermediate_size":4864,"num_attention_heads":14,"num_key_value_heads":2,"num_hidden_layers":24,"vocab_size":151936,"sliding_window":32768,"max_window_layers":21,"use_sliding_window":false,"tie_word_embeddings":true}`
	mixtral8x7 = `{"model_type":"mixtral","torch_dtype":"bfloat16","hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,"num_key_value_heads":8,"num_hidden_layers":32,"vocab_size":32000,"num_local_experts":8,"num_experts_per_tok":2,"sliding_window":null}`
	deepseekV3 = `{"model_type":"deepseek_v3","torch_dtype":"bfloat16","hidden_size":7168,"intermediate_size":18432,"moe_intermediate_size":2048,"num_attention_heads":128,"num_key_value_heads":128,"num_hidden_layers":61,"vocab_size":129280,"n_routed_experts":256,"n_shared_experts":1,"num_experts_per_tok":8,"first_k_dense_replace":3,"moe_layer_freq":1,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"quantization_config":{"quant_method":"fp8","fmt":"e4m3","activation_scheme":"dynamic","weight_block_size":[128,128]}}`
	qwen30     = `{"model_type":"qwen3_moe","torch_dtype":"bfloat16","hidden_size":2048,"intermediate_size":6144,"moe_intermediate_size":768,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"num_hidden_layers":48,"vocab_size":151936,"num_experts":128,"num_experts_per_tok":8,"decoder_sparse_step":1,"mlp_only_layers":[],"sliding_window":null,"use_sliding_window":false}`
	gptOSS     = `{"model_type":"gpt_oss","hidden_size":2880,"intermediate_size":2880,"num_attention_heads":64,"num_key_value_heads":8,"head_dim":64,"num_hidden_layers":36,"vocab_size":201088,"num_local_experts":128,"num_experts_per_tok":4,"sliding_window":128,"quantization_config":{"quant_method":"mxfp4","modules_to_not_convert":["model.layers.*.self_attn","model.layers.*.mlp.router","model.embed_tokens","lm_head"]}}`
)

// hit is the number of distinct experts of count, active for each of some tokens: each expert is missed by a
// token with the probability 1 - active/count.
func hit(count, active, tokens float64) float64 {
	missed := 1.0
	for range int(tokens) {
		missed *= 1 - active/count
	}
	return count * (1 - missed)
}

// TestDecodeBytes compares bytes of weights and of the cache with arithmetic over the published sizes. All
// requests have 1,000 tokens in the cache.
func TestDecodeBytes(t *testing.T) {
	const fp8 = 1 + 4./(128*128) // a scale of 4 bytes for a block
	const mxfp4 = 17. / 32       // 16 bytes and a scale of 1 for 32 elements
	deepseek := func(batch, tp float64) float64 {
		whole := 7168*1536. + 7168*(512+64.)
		split := 1536*128*(128+64.) + 512*128*(128+128.) + 128*128*7168.
		expert := 3 * 7168 * 2048.
		return fp8*(61*(whole+split/tp)+3*3*7168*18432/tp+58*(expert/tp+hit(256, 8, batch)*expert/tp)) +
			2*(58*7168*256.+7168*129280/tp)
	}
	oss := func(batch, tp float64) float64 {
		attention := 2880*64*(2*64/tp+2*max(1, 8/tp)) + 0.
		return 2*36*attention + 2*36*2880*128. + 36*hit(128, 4, batch)*3*2880*2880*mxfp4/tp + 2*2880*201088/tp
	}
	cases := []struct {
		name, config   string
		batch          int64
		tp             int64
		weights, cache float64
	}{
		{"Llama 3 8B", llama3, 1, 1, 2 * (32*(4096*4096*2+4096*1024*2+3*4096*14336.) + 4096*128256), 32 * 2 * 8 * 128 * 2 * 1001},
		{"Llama 3 8B", llama3, 64, 1, 2 * (32*(4096*4096*2+4096*1024*2+3*4096*14336.) + 4096*128256), 64 * 32 * 2 * 8 * 128 * 2 * 1001},
		{"Llama 3 8B", llama3, 64, 8, 2 * (32*(4096*4096*2+4096*1024*2+3*4096*14336.) + 4096*128256) / 8, 64 * 32 * 2 * 1 * 128 * 2 * 1001},
		{"Qwen2.5 0.5B", qwenHalf, 1, 1, 2 * (24*(896*896*2+896*128*2+3*896*4864.) + 896*151936), 24 * 2 * 2 * 64 * 2 * 1001},
		{"Qwen2.5 0.5B", qwenHalf, 32, 1, 2 * (24*(896*896*2+896*128*2+3*896*4864.) + 896*151936), 32 * 24 * 2 * 2 * 64 * 2 * 1001},
		{"Mixtral 8x7B", mixtral8x7, 1, 1, 2 * (32*(41_943_040+2*3*4096*14336.+8*4096) + 4096*32000), 32 * 2 * 8 * 128 * 2 * 1001},
		// 6.2 of 8 experts: 8 × (1 - 0.75^5)
		{"Mixtral 8x7B", mixtral8x7, 5, 1, 2 * (32*(41_943_040+8*(1-0.2373046875)*3*4096*14336.+8*4096) + 4096*32000), 5 * 32 * 2 * 8 * 128 * 2 * 1001},
		{"DeepSeek V3", deepseekV3, 1, 8, deepseek(1, 8), 61 * (512 + 64) * 2 * 1001},
		{"DeepSeek V3", deepseekV3, 128, 8, deepseek(128, 8), 128 * 61 * (512 + 64) * 2 * 1001},
		{"Qwen3 30B A3B", qwen30, 1, 1, 2 * (48*(2048*128*(32+4)*2.+2048*128+8*3*2048*768) + 2048*151936), 48 * 2 * 4 * 128 * 2 * 1001},
		{"Qwen3 30B A3B", qwen30, 16, 1, 2 * (48*(2048*128*(32+4)*2.+2048*128+hit(128, 8, 16)*3*2048*768) + 2048*151936), 16 * 48 * 2 * 4 * 128 * 2 * 1001},
		// The cache has a window of 128 in every other layer.
		{"gpt-oss 120B", gptOSS, 1, 1, oss(1, 1), (18*1000 + 18*128 + 36) * 2 * 8 * 64 * 2},
		{"gpt-oss 120B", gptOSS, 64, 8, oss(64, 8), 64 * (18*1000 + 18*128 + 36) * 2 * 1 * 64 * 2},
	}
	for _, tc := range cases {
		m, st := read(t, tc.config)
		parts, err := m.Decode(st, Step{tc.batch, tc.batch, 1000 * tc.batch}, Parallel{tc.tp, 1, 1})
		if err != nil {
			t.Fatal(err)
		}
		weights, cache := 0.0, 0.0
		for _, p := range parts {
			if p.Name == CachePart {
				cache += p.Bytes
			} else {
				weights += p.Bytes
			}
		}
		if !near(weights, tc.weights) || !near(cache, tc.cache) {
			t.Errorf("%s, batch %d on %d: %.0f bytes of weights and %.0f of the cache, want %.0f and %.0f", tc.name, tc.batch, tc.tp, weights, cache, tc.weights, tc.cache)
		}
	}
}

// TestDecodeFLOPs: a step of one token computes what a forward pass adds for it: each element of the
// matrices of a token, and attention over its keys.
func TestDecodeFLOPs(t *testing.T) {
	for _, config := range []string{llama3, qwenHalf, mixtral8x7, qwen30} {
		m, st := read(t, config)
		parts, err := m.Decode(st, Step{3, 3, 3000}, Parallel{1, 1, 1})
		got := 0.0
		for _, p := range parts {
			got += p.FLOPs
		}
		want := 3 * (2*m.Matrices() + 4*float64(m.Layers*m.Heads*m.HeadDim)*1000)
		if err != nil || !near(got, want) {
			t.Errorf("%s: %.0f FLOPs, %v, want %.0f", m.Type, got, err, want)
		}
	}
	// Two replicas of attention share the experts: the experts of a GPU compute what half of all tokens need.
	m, st := read(t, mixtral8x7)
	parts, err := m.Decode(st, Step{4, 4, 0}, Parallel{1, 2, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		expert := 3 * 4096 * 14336.
		if bytes, flops := 2*32*hit(8, 2, 8)/2*expert, 2*32*8*2*expert/2; p.Name == "experts" && (!near(p.Bytes, bytes) || !near(p.FLOPs, flops)) {
			t.Errorf("%.0f bytes and %.0f FLOPs of experts, want %.0f and %.0f", p.Bytes, p.FLOPs, bytes, flops)
		}
	}
}

// TestStored: bytes of a weight by hand.
func TestStored(t *testing.T) {
	with := func(q string) string { return strings.TrimSuffix(llama3, "}") + `,"quantization_config":` + q + "}" }
	for config, want := range map[string]Stored{
		llama3: {2, 2, 2, 2, 2, "bf16", ""},
		strings.Replace(llama3, "bfloat16", "float16", 1): {2, 2, 2, 2, 2, "fp16", ""},
		with(`{"quant_method":"fp8"}`):                    {2, 1, 1, 1, 2, "bf16", "fp8"},
		// A scale of 2 bytes and a zero of half a byte for 128 weights.
		with(`{"quant_method":"awq","bits":4,"group_size":128,"zero_point":true}`): {2, 0.5 + 2.5/128, 0.5 + 2.5/128, 0.5 + 2.5/128, 2, "bf16", "int4"},
		with(`{"quant_method":"gptq","bits":4,"group_size":-1}`):                   {2, 0.5, 0.5, 0.5, 2, "bf16", "int4"},
		with(`{"quant_method":"compressed-tensors","ignore":["lm_head","re:.*self_attn.*"],"kv_cache_scheme":{"num_bits":8,"type":"float"},"config_groups":{"group_0":{"weights":{"num_bits":8,"type":"float","group_size":null}}}}`): {2, 2, 1, 1, 1, "bf16", "fp8"},
		// That a module of the first layer is left as it was does not count.
		with(`{"quant_method":"modelopt","quant_algo":"NVFP4","exclude_modules":["model.layers.0.self_attn.q_proj"]}`): {2, 0.5625, 0.5625, 0.5625, 2, "bf16", "nvfp4"},
		gptOSS: {2, 2, 2, 0.53125, 2, "bf16", "mxfp4"},
	} {
		got, err := StoredOf([]byte(config))
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", config, got, err, want)
		}
	}
	for config, want := range map[string]string{
		strings.Replace(llama3, "bfloat16", "float32", 1): "which servers convert",
		with(`{"quant_method":"exl2"}`):                   `quant_method "exl2"`,
		with(`{"quant_method":"gptq","bits":3}`):          `quant_method "gptq"`,
		with(`{"quant_method":"compressed-tensors"}`):     "no config_groups",
		with(`[]`): "another form",
	} {
		if _, err := StoredOf([]byte(config)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
}

// TestDivides: a division that no server makes has no floor.
func TestDivides(t *testing.T) {
	for _, tc := range []struct {
		config string
		p      Parallel
		want   string
	}{
		{qwenHalf, Parallel{4, 1, 1}, "14 heads of attention cannot be divided by 4 GPUs"},
		{llama3, Parallel{1, 8, 1}, "no experts"},
		{mixtral8x7, Parallel{1, 3, 1}, "8 experts cannot be divided by 3 GPUs"},
		{llama3, Parallel{1, 1, 64}, "32 layers"},
		{llama3, Parallel{0, 1, 1}, "not positive"},
		{llama3, Parallel{8, 1, 2}, ""},
	} {
		m, st := read(t, tc.config)
		_, err := m.Decode(st, Step{1, 1, 0}, tc.p)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v of %s: %v, want %q", tc.p, m.Type, err, tc.want)
		}
	}
}

func read(t *testing.T, config string) (Model, Stored) {
	t.Helper()
	m, err := Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	st, err := StoredOf([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	return m, st
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(a, b) }
