package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRepeatedTexts: a text is masked wherever it is, and JSON in which it is escaped is not
// taken for a text of the same bytes that has no secret.
func TestRepeatedTexts(t *testing.T) {
	const secret = "HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyzABCDEF"
	plain := strings.Repeat("void kernel<float>", 3)
	escaped := `["` + strings.ReplaceAll(secret, "_", `\u005f`) + `"]`
	v := struct {
		Texts []string
		JSON  []json.RawMessage
	}{
		[]string{plain, secret, plain, secret, plain},
		[]json.RawMessage{json.RawMessage(`["` + plain + `"]`), json.RawMessage(escaped), json.RawMessage(`["` + plain + `"]`), json.RawMessage(escaped)},
	}
	New(false).Strings(&v)
	for i, text := range v.Texts {
		if want := Mask([]string{plain, secret}[i%2]); text != want {
			t.Errorf("text %d is %q, want %q", i, text, want)
		}
	}
	for i, raw := range v.JSON {
		if want := `["` + Mask([]string{plain, secret}[i%2]) + `"]`; string(raw) != want {
			t.Errorf("JSON %d is %s, want %s", i, raw, want)
		}
	}
}
