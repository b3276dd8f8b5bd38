package main

import (
	"fmt"
	"strings"
	"testing"

	"assay/ingest"
	"assay/internal/diag"
)

// TestMaskedMessage: the name of a file is not the name of a secret, and secrets in the same message stay masked.
func TestMaskedMessage(t *testing.T) {
	const secret = "hunter2hunter2"
	for _, tc := range []struct {
		name       string
		err        error
		has, hides string
	}{
		{"a refused file", &ingest.Refusal{Path: "runs/password.json", What: "is a web page", Do: "download it again"}, "password.json: the file is a web page", ""},
		{"a place in a file", &diag.Error{Pos: diag.Pos{File: "api_key.pb", Offset: 7}, Msg: "negative duration"}, "negative duration", ""},
		{"wrapped", fmt.Errorf("reading: %w", &diag.Error{Pos: diag.Pos{File: "token.json", Offset: 7}, Msg: "negative duration"}), "negative duration", ""},
		{"a secret in the message", &diag.Error{Pos: diag.Pos{File: "token.json", Offset: 7}, Msg: "bad password=" + secret}, "token.json", secret},
		{"a secret in the path", &ingest.Refusal{Path: "https://u:" + secret + "@h/x", What: "is a web page", Do: "save it"}, "is a web page", secret},
		{"another error", fmt.Errorf("password: %s", secret), "password", secret},
	} {
		got := maskedMessage(fmt.Sprintf("assay summary: %s", tc.err), []any{tc.err})
		if !strings.Contains(got, tc.has) || tc.hides != "" && strings.Contains(got, tc.hides) {
			t.Errorf("%s: %s", tc.name, got)
		}
	}
}
