package transformer

import (
	"fmt"
	"strings"
	"testing"
)

// The configurations have the members that models of these names publish.
const (
	qwen    = `{"model_type":"qwen2","hidden_size":1024,"intermediate_size":2816,"num_attention_heads":16,"num_key_value_heads":16,"num_hidden_layers":24,"vocab_size":151936,"sliding_window":32768,"use_sliding_window":false,"rope_theta":1000000.0}`
	llama   = `{"model_type":"llama","hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,"num_key_value_heads":8,"num_hidden_layers":32,"vocab_size":128256}`
	mixtral = `{"model_type":"mixtral","hidden_size":4096,"intermediate_size":14336,"num_attention_heads":32,"num_key_value_heads":8,"num_hidden_layers":32,"vocab_size":32000,"num_local_experts":8,"num_experts_per_tok":%d,"sliding_window":null}`
	qwenMoE = `{"model_type":"qwen3_moe","hidden_size":2048,"intermediate_size":6144,"moe_intermediate_size":768,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"num_hidden_layers":48,"vocab_size":151936,"num_experts":128,"num_experts_per_tok":%d,"decoder_sparse_step":1,"mlp_only_layers":[]}`
)

// TestParameters: the matrices, with the table of embeddings, norms and biases, are the published
// numbers of parameters. Of mixtures these are with all experts.
func TestParameters(t *testing.T) {
	for _, tc := range []struct {
		name, config string
		rest         float64 // embeddings that are not the output layer, norms, biases
		want         float64
	}{
		{"Qwen1.5-0.5B, whose embeddings are the output layer", qwen, 24*(3+2)*1024 + 1024, 463_987_712},
		{"Llama 3 8B", llama, 128256*4096 + 65*4096, 8_030_261_248},
		{"Mixtral 8x7B", fmt.Sprintf(mixtral, 8), 32000*4096 + 65*4096, 46_702_792_704},
		{"Qwen3-30B-A3B", fmt.Sprintf(qwenMoE, 128), 151936*2048 + 97*2048 + 48*2*128, 30_532_122_624},
	} {
		m, err := Parse([]byte(tc.config))
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if got := m.Matrices() + tc.rest; got != tc.want {
			t.Errorf("%s has %.0f parameters, want %.0f", tc.name, got, tc.want)
		}
	}
}

// TestForward: FLOPs by hand. A trace of the first model with 16 sequences of 559 tokens has the
// same products of attention: 246,184,673,280.
func TestForward(t *testing.T) {
	m, err := Parse([]byte(qwen))
	if err != nil {
		t.Fatal(err)
	}
	const tokens, layer, head = 559, 4*1024*1024 + 3*1024*2816, 1024 * 151936
	want := 2*tokens*float64(24*layer+head) + 246_184_673_280./16
	if got, err := m.Forward(tokens); err != nil || got != want {
		t.Errorf("%.0f, %v, want %.0f", got, err, want)
	}
	// Two of eight experts compute a token.
	m, err = Parse([]byte(fmt.Sprintf(mixtral, 2)))
	if got := m.Matrices(); err != nil || got != 32*(41_943_040+2*3*4096*14336+8*4096)+32000*4096 {
		t.Errorf("%.0f, %v", got, err)
	}
	if one, _ := m.Forward(1); one != 2*m.Matrices()+4*32*4096 {
		t.Errorf("one token takes %.0f", one)
	}
}

// TestSparseLayers: layers that are no mixture have an MLP.
func TestSparseLayers(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(qwenMoE, 8), `"decoder_sparse_step":1,"mlp_only_layers":[]`, `"decoder_sparse_step":2,"mlp_only_layers":[1,3],"shared_expert_intermediate_size":512`, 1)
	m, err := Parse([]byte(text))
	if err != nil || m.MoELayers != 22 || m.MLP != 3*2048*6144 || m.Experts.perToken() != 8*3*2048*768+2048*128+3*2048*512+2048 {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestLargest: dimensions at their limit have a product over 63 bits, and a layer that is listed
// twice, or is none, is left out once, or not at all, whatever the number of layers is.
func TestLargest(t *testing.T) {
	const most = 1 << 24
	text := strings.NewReplacer(`"num_experts":128`, `"num_experts":21846`, `"num_hidden_layers":48`, fmt.Sprintf(`"num_hidden_layers":%d`, most),
		`"hidden_size":2048`, fmt.Sprintf(`"hidden_size":%d`, most), `"moe_intermediate_size":768`, fmt.Sprintf(`"moe_intermediate_size":%d`, most),
		`"mlp_only_layers":[]`, `"mlp_only_layers":[`+strings.Repeat("-1,16777216,3,", 20000)+`3]`).Replace(fmt.Sprintf(qwenMoE, 21846))
	m, err := Parse([]byte(text))
	if want := 21846.*3*most*most + most*21846.; err != nil || m.Experts.perToken() != want || m.MoELayers != most-1 {
		t.Errorf("%+v, %v, want %v", m, err, want)
	}
	if flops, err := m.Forward(4096); err == nil {
		t.Errorf("%v FLOPs", flops)
	}
}

// TestRefused: what cannot be counted is refused with the member.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "want config.json", `{}`: "no model_type", `{"model_type":"mamba2"}`: `model_type "mamba2"`, `{"model_type":7}`: "no model_type",
		strings.Replace(llama, "4096", "-1", 1):                    `hidden_size is "-1", want a whole number`,
		strings.Replace(llama, "4096", "4.5", 1):                   `hidden_size is "4.5"`,
		strings.Replace(llama, "4096", "4097", 1):                  "hidden_size 4097 is no multiple of num_attention_heads 32",
		strings.Replace(llama, "4096", "1e99", 1):                  `hidden_size is "1e99"`,
		strings.Replace(llama, "vocab_size", "v", 1):               "there is no vocab_size",
		fmt.Sprintf(mixtral, 9):                                    "num_experts_per_tok is 9 of 8 experts",
		strings.Repeat(" ", MaxBytes+1):                            "the file has more than 1024 KiB",
		strings.Replace(fmt.Sprintf(qwenMoE, 8), "[]", `"all"`, 1): "mlp_only_layers is not a list",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
	m, err := Parse([]byte(strings.Replace(llama, "}", `,"sliding_window":4096}`, 1)))
	if _, short := m.Forward(4096); err != nil || short != nil {
		t.Errorf("%v, %v", err, short)
	}
	if _, err := m.Forward(4097); err == nil || !strings.Contains(err.Error(), "sliding window of 4096") {
		t.Errorf("beyond the window: %v", err)
	}
}

// FuzzParse: whatever a file has, FLOPs are positive, or there is an error in one line.
func FuzzParse(f *testing.F) {
	for _, text := range []string{qwen, llama, fmt.Sprintf(mixtral, 2), fmt.Sprintf(qwenMoE, 8), `{"model_type":"llama","hidden_size":0}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		if flops, err := m.Forward(4096); err == nil && flops <= 0 {
			t.Fatalf("%v FLOPs of %+v", flops, m)
		}
	})
}
