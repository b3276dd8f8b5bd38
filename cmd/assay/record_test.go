package main

import (
	"assay/gate/baseline"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCutRecord: a line that was cut when its process ended is said and does not
// count; the next decision takes its place. A whole line that is malformed stays an
// error.
func TestCutRecord(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "a.json")
	if err := os.WriteFile(input, []byte(`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2}]`), 0o666); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(dir, "base")
	path := filepath.Join(base, baseline.FileName)
	do := func(args ...string) (int, string) {
		var stdout, stderr bytes.Buffer
		status := run(env{strings.NewReader(""), &stdout, &stderr}, args)
		return status, stderr.String()
	}
	accept := func() (int, string) { return do("accept", input, "--baseline", base, "--reason", "why") }
	read := func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if status, said := accept(); status != exitOK {
		t.Fatal(said)
	}
	first := read()
	set := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}

	set(first + first[:40])
	want := path + ":2: the last decision is cut and does not count"
	if status, said := do("check", input, "--baseline", base); strings.Count(said, want) != 1 {
		t.Errorf("check: exit status %d, %s", status, said)
	}
	if status, said := accept(); status != exitOK || !strings.Contains(said, want) {
		t.Errorf("accept: exit status %d, %s", status, said)
	}
	if text := read(); !strings.HasPrefix(text, first) || strings.Count(text, "\n") != 2 || !strings.Contains(text, `"previous":"`) {
		t.Errorf("the record is\n%s", text)
	}

	set(strings.TrimSuffix(first, "\n")) // whole, but for its line break
	if status, said := accept(); status != exitOK || strings.Contains(said, "cut") {
		t.Errorf("accept: exit status %d, %s", status, said)
	}
	if text := read(); !strings.HasPrefix(text, first) || strings.Count(text, "\n") != 2 {
		t.Errorf("the record is\n%s", text)
	}

	set(first[:40] + "\n" + first)
	if status, said := accept(); status != exitTrouble || !strings.Contains(said, ":1: malformed decision: ") {
		t.Errorf("accept: exit status %d, %s", status, said)
	}
}
