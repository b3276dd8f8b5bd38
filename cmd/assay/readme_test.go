package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadme runs the commands of the README's console blocks and compares what
// they print: an example that no longer runs is worse than none.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join("..", ".."))
	blocks := strings.Split(string(b), "```console\n$ go run ./cmd/assay ")
	if len(blocks) < 2 {
		t.Fatal("the README has no example")
	}
	for _, block := range blocks[1:] {
		block, _, _ = strings.Cut(block, "```")
		line, want, _ := strings.Cut(block, "\n")
		args := strings.Fields(line)
		for i, arg := range args {
			if i > 0 && args[i-1] == "-o" {
				args[i] = filepath.Join(t.TempDir(), arg)
			}
		}
		var stdout bytes.Buffer
		if got := run(env{strings.NewReader(""), &stdout, io.Discard}, args); got != exitOK {
			t.Errorf("%s: exit status %d", line, got)
		}
		if diff := cmp.Diff(want, stdout.String()); diff != "" {
			t.Errorf("%s: README(-) now(+)\n%s", line, diff)
		}
	}
}
