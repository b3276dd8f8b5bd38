package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestAddresses: a token is masked within the address in which its service publishes it.
func TestAddresses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 9))
	addresses := map[string][]string{
		"{dig:8-10}:AA{url:33}": {"https://api.telegram.org/bot%s/sendMessage", "https://api.telegram.org/file/bot%s/a.jpg",
			"https://api.telegram.org/bot%s/test/getMe", "POST http://proxy:8081/bot%s/getUpdates HTTP/1.1"},
		"hf_{alpha:34}": {"https://bob:%s@huggingface.co/a/b", "https://%s@huggingface.co/a/b", "https://hf.co/a?token=%s"},
	}
	for form, list := range addresses {
		for _, address := range list {
			for range 50 {
				token := Format{Form: form}.Example(rnd)
				if got := Mask(strings.Replace(address, "%s", token, 1)); strings.Contains(got, token[len(token)-20:]) {
					t.Errorf("%s: %q", address, got)
				}
			}
		}
	}
	for _, same := range []string{"robot12345678:AA", "/bot123:AAbc", "/bottom/12345678"} {
		if got := Mask(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
}

// TestMeasuredNumbers: a number with a fraction is no token, whatever its name says; a text is.
func TestMeasuredNumbers(t *testing.T) {
	for _, same := range []string{
		`"results_inter_token_latency_s_p99": 0.020812345678901234,`, `"step_token_s_p50": 1.7823456789012345e-05`, "decode_token_p95_ms=17.123456789012345",
	} {
		if got := Mask(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
	for _, secret := range []string{`"inter_token_p99": "0Zq81kLm2n.Xy7pQ2mK9v"`, `"api_key": 8123456789.0123456`} {
		if got := Mask(secret); got == secret {
			t.Errorf("%q is not masked", secret)
		}
	}
}
