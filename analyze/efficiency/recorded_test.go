package efficiency

import (
	"strings"
	"testing"
)

// TestRecorded: arguments are kept as JSON unless they are cut, nest too deep or have a number
// that is not finite, wherever it stands.
func TestRecorded(t *testing.T) {
	deep := strings.Repeat("[", maxNesting+1) + strings.Repeat("]", maxNesting+1)
	long := strings.Repeat("9", 400)
	for text, want := range map[string]string{
		"":                                     "null",
		"[[8, 16], []]":                        "[[8,16],[]]",
		"[[8, 16], [":                          "null",
		"[8] [9]":                              "null",
		`["double", "a \\\"[[[[ 1e999", "TE"]`: `["double","a \\\"[[[[ 1e999","TE"]`,
		"[true, false, null]":                  "[true,false,null]",
		"[1e5, -2.5E-3]":                       "[1e5,-2.5E-3]",
		"[1, 1e999]":                           "null",
		"[" + long + "]":                       "null",
		"[0." + long + "]":                     "[0." + long + "]",
		deep[1 : len(deep)-1]:                  deep[1 : len(deep)-1],
		deep:                                   "null",
		"[1e5, " + deep + "]":                  "null",
		"[\"" + long + "\"]":                   "[\"" + long + "\"]",
	} {
		if got := string(recorded(text)); got != want {
			t.Errorf("%.60s: %.60s, want %.60s", text, got, want)
		}
	}
}
