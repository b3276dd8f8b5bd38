package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGatesOfRows: each gate on a kind of rows has what it needs measured, though the gates of before need less.
func TestGatesOfRows(t *testing.T) {
	gates := filepath.Join(t.TempDir(), "gates.yaml")
	var text string
	for _, kind := range []string{"operators", "modules", "lines", "calls", "annotations", "passes", "streams"} {
		text += kind + ".share: \">= 100%\"\n"
	}
	text += "idle.short_gaps: \"> 0ns\"\npasses.mean{pass=backward}: \"> 100us\"\n"
	if err := os.WriteFile(gates, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	got := run(env{strings.NewReader(""), &stdout, io.Discard}, []string{"check", "../../testdata/gen/llm_train_step.json.gz", "--gates", gates})
	if got != exitOK {
		t.Errorf("exit status %d:\n%s", got, stdout.String())
	}
}
