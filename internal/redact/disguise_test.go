package redact

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/internal/test"
)

// TestDisguised: what hides a secret from a search is seen through, and only the
// secret is masked.
func TestDisguised(t *testing.T) {
	v := fake(13)
	token := "ghp_" + fake(36)
	for text, want := range map[string]string{
		"\x1b[31m--api-key " + v + " x":                                          "\x1b[31m--api-key [variable] x",
		"\u009b31mapi_key=" + v + " x":                                           "\u009b31mapi_key=[variable] x",
		"a " + token[:9] + "\u009b0m" + token[9:] + "\u0085b":                    "a [github]\u0085b",
		"\u00e931mapi_keys=" + v:                                                 "\u00e931mapi_keys=" + v, // a letter
		"abc_--api-key " + v:                                                     "abc_--api-key [variable]",
		"\x1b[36mapi_key\x1b[0m=\x1b[35m" + v + "\x1b[0m x=1":                    "\x1b[36mapi_key\x1b[0m=\x1b[35m[variable]\x1b[0m x=1",
		"[36mapi_key[0m=[35m" + v + "[0m x=1":                                    "[36mapi_key[0m=[35m[variable][0m x=1",
		"A=1\x00API_KEY=" + v + "\x00B=2":                                        "A=1\x00API_KEY=[variable]\x00B=2",
		"t.py\x00--api-key\x00" + v + "\x00--lr\x001":                            "t.py\x00--api-key\x00[variable]\x00--lr\x001",
		"a " + token[:9] + "\u200b" + token[9:] + " b":                           "a [github] b",
		"a " + token[:9] + "\x1b]8;;https://h\x1b\\" + token[9:] + " b":          "a [github] b",
		"a " + token[:9] + "\x1b]0;title\a" + token[9:] + " b":                   "a [github] b",
		"\x1b]8;;https://h\x1b\\gemm\x1b]8;;\x1b\\ x":                            "\x1b]8;;https://h\x1b\\gemm\x1b]8;;\x1b\\ x",
		"a " + token[:9] + "\n  " + token[9:] + "\nb":                            "a [github]\nb",
		"a NRA" + "K-GCEANVZPG07\nGTLFT6ODSDHVJLXB b":                            "a [newrelic] b", // letters and digits alternate at the break, too
		"API_KEY=\n" + v + "\nB=1":                                               "API_KEY=\n[variable]\nB=1",
		"api_key:\n  " + v + "\nb: 1":                                            "api_key:\n  [variable]\nb: 1",
		"t.py --api-key \\\n  " + v + " --lr 1":                                  "t.py --api-key \\\n  [variable] --lr 1",
		"API_KEY=ab\\\n" + v + " B=1":                                            "API_KEY=[variable] B=1",
		"x " + hex.EncodeToString([]byte(token)) + " y":                          "x [hex] y",
		`{"kty":"OKP","x":"abc","d":"` + v + `","kid":"d"}`:                      `{"kty":"OKP","x":"abc","d":"[private-key]","kid":"d"}`,
		"Public-Lines: 1\nAAAA\nPrivate-Lines: 2\nBBBB\nCCCC\nPrivate-MAC: 00\n": "Public-Lines: 1\nAAAA\nPrivate-Lines: 2\n[private-key]\nPrivate-MAC: 00\n",
		"~/.pgpass:3:localhost:5432:*:bob:" + v:                                  "~/.pgpass:3:localhost:5432:*:bob:[password]",
		"INFO:root:pg:5432:app:bob:" + v:                                         "INFO:root:pg:5432:app:bob:[password]",
		"/var/run/postgresql:6432:app:bob:" + v:                                  "/var/run/postgresql:6432:app:bob:[password]",
		"timing/db.host:*:app:bob:" + v:                                          "timing/db.host:*:app:bob:[password]",
		`\:\:1:5432:app:bob:` + v:                                                `\:\:1:5432:app:bob:[password]`,
		"db.host:5432:train:bob:" + v:                                            "db.host:5432:train:bob:[password]",
	} {
		if got := Mask(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if again := Mask(want); again != want {
			t.Errorf("%q became %q", want, again)
		}
	}
}

// utf16 returns s as text of 16 bits has it.
func utf16(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		b.WriteByte(0)
	}
	return b.String()
}

// TestWideText: text of 16 bits, as some shells write it to a file, is searched.
func TestWideText(t *testing.T) {
	v := fake(13)
	if got := Mask("\xff\xfe" + utf16("A=1\r\nAPI_KEY="+v+"\r\nB=2")); strings.Contains(got, utf16(v)) || !strings.Contains(got, utf16("B=2")) {
		t.Errorf("%q", got)
	}
}

// TestLinear: masking takes time in proportion to the length of the slowest texts. The
// smallest of several ratios is compared, and a text fails only if the bound is exceeded
// each time.
func TestLinear(t *testing.T) {
	if !test.Long() {
		t.Skip("measures time: make long")
	}
	const most, tries = 9.0, 6 // quadratic time takes 16 times as long
	for i, unit := range []string{
		"KEY=\\\n", "a--key ", "sk-proj-\n", "ghp_\n", "sk-proj-" + fake(40) + "\n", "\x1b[", "\x1b[31m", "a\x00", "API_KEY=\n", `"kty":{`, `{"kty":"RSA"`, "{\"d\":\"", "Private-Lines: 9\n",
		"Private-Lines: 999999\n", "h:5432:", "a:*:*:", "--", "6768", "0x68", "\u200b", "\\\n", `\u{41}`, `\u0041PI_KEY=`, "hooks.slack.com/services/\n",
		"token=", "%25", "&amp;", "YWJj\n", "@tcp(", "|sudo -s", "password ", "api_key|", `password">`, "<key ", "token={", `{"token":{"`, "tokens:\n- ", "tokens=[", "key:a", "SecretStr(", "BasicAuth('", "login('", "\r", "token\n", "a：", "<<< ", "MaaaaaaaaaaaaaaaaaaaaaaaA.aaaaaa.",
	} {
		size := 1 << 17
		if i < 3 { // the slowest
			size *= 4
		}
		ratio := 1e9
		for range tries {
			one := timeOf(strings.Repeat(unit, size/len(unit)))
			two := timeOf(strings.Repeat(unit, 4*size/len(unit)))
			if ratio = min(ratio, float64(two)/float64(max(one, time.Millisecond))); ratio <= most {
				break
			}
		}
		if ratio > most {
			t.Errorf("%q repeated to %d bytes takes %.1f times as long as to a quarter of them", unit, 4*size, ratio)
		}
	}
}

// timeOf returns how long the mask of a text takes.
func timeOf(text string) time.Duration {
	start := time.Now()
	Mask(text)
	return time.Since(start)
}

// TestNamesOfKernels: names of kernels, operators and options of GPU programs that
// have words of secrets in them stay as they are.
func TestNamesOfKernels(t *testing.T) {
	for _, name := range kernelNames() {
		if got := Mask(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
}

// kernelNames returns names with the words by which secrets are found, alone, with
// arguments and in the forms in which programs write options.
func kernelNames() (list []string) {
	words := []string{
		"token_embedding", "tokenizer", "num_tokens", "max_tokens", "max_new_tokens", "key_states", "key_cache", "k_cache_key", "rotary_key", "qkv_rotary_key", "key_value_states", "past_key_values",
		"secret_sharing_kernel", "expert_tokens_per_rank", "num_tokens_post_padded", "sorted_token_ids", "token_expert_indices", "per_token_quant", "dynamic_per_token_scaled_fp8_quant",
		"key_padding_mask", "attn_key_layout", "passes", "two_pass_reduce", "backward_pass", "signal_wait", "sigmoid", "design", "radix_sort_keys", "sort_key_value", "token_dispatcher", "a2a_token_permute",
		"last_token_logits", "draft_token_ids", "accept_token", "next_token_sampler", "paged_attention_v2_kernel", "bypass_l1", "author", "auth_free_list", "credit_based_flow", "cookie_cutter_conv", "compass_gemm",
	}
	for _, w := range words {
		list = append(list, w, w+"<float>", "void "+w+"<__nv_bfloat16, 128, 64>(int, float const*)", "aten::"+w, w+"=4096", w+"=true", w+"(64)", "vllm::"+w+"[bf16]", "triton_"+w+"_0d1d2d3de", "sm90_"+w+"_128x128x64_f16",
			w+"\x1b[0m", w+"_tilesize128x128x64", "model.layers.0."+w+": Linear", "/opt/venv/lib/python3.12/site-packages/vllm/"+w+".py(182): forward", fmt.Sprintf("%s#%d", w, 7))
	}
	return append(list,
		"token_embedding<float>(key=4, secret=3)", "api_key=lookup", "secret_sharing: 4", "qkv_rotary_key=128x64", "paged_attention_v2_kernel<float, key_cache=16, token=32>", "tokenizer=AutoTokenizer", "tokenizer=/models/Llama-3.1-8B",
		"max_tokens: 512", "flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>, key=true>", "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>(Params)",
		"void cutlass::device_kernel<vllm::cutlass_3x_gemm<key_t, token_t>>", "_fwd_kernel_stage2_asm_key_split<64>", "fused_moe_kernel_token_sorted_key_128_64_256_32", "sgl_kernel::moe_align_block_size(num_tokens=4096, key=i)",
		"API_KEY=\nOTHER=1", "api_key:\nOTHER: 1", "token:\n  hello", "password:\n  description: the password", "API_KEY=\nexport A=b", "arn:aws:logs:*:*:log-group:name", "127.0.0.1:5432:5432", `{"src_file":"core/password_store.cc","src_func":"GetAllLoginsAsync"}`, `{"tag": "net.AccessToken", "size": 16}`, "fe80:1:5432:ab:cd:ef", "/a/b:*:c:d:e", "localhost:5432:up:1:2", "def f(api_key) -> str", "| api key | model |", "using API key authentication", "password is required", "secret santa_kernel_128x128",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "file_6865782d6e616d65.py", `{"kty":"RSA","n":"abcdefgh","e":"AQAB"}`,
	)
}
