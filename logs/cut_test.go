package logs

import (
	"strings"
	"testing"
)

// TestCutSecrets: a token that the limit of a name would cut is left out as a whole, wherever it begins. One that fits
// stays, because it is masked later.
func TestCutSecrets(t *testing.T) {
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	for before := MaxName - len(token) - 3; before < MaxName+3; before++ {
		text := strings.Repeat("x ", before/2) + token + " and more"
		got := cut(text)
		whole := strings.Contains(text[:MaxName], token)
		if strings.Contains(got, token) != whole || !whole && strings.Contains(got, "ghp_") {
			t.Errorf("a token at %d: %q", before, got[max(0, len(got)-60):])
		}
	}
	if got := cut(strings.Repeat("a", 3*MaxName)); len(got) != MaxName {
		t.Errorf("a text without a secret has %d bytes, want %d", len(got), MaxName)
	}
}
