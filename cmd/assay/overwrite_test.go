package main

import (
	"assay/internal/outfile"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOverwritesHardLink: a hard link to an input is the input.
func TestOverwritesHardLink(t *testing.T) {
	dir := t.TempDir()
	input, out := filepath.Join(dir, "trace.json"), filepath.Join(dir, "summary.json")
	if err := os.WriteFile(input, []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := outfile.Overwrites(dir, (reportFiles{json: "summary.json", markdown: "report.md"}).names(), func() []string { return inputFiles([]string{input}) }); err != nil {
		t.Errorf("no file is there: %v", err)
	}
	if err := os.Link(input, out); err != nil {
		t.Skip(err)
	}
	if err := outfile.Overwrites(dir, (reportFiles{json: "summary.json", markdown: "report.md"}).names(), func() []string { return inputFiles([]string{input}) }); err == nil || !strings.HasPrefix(err.Error(), out+": this file is an input") {
		t.Errorf("hard link: %v", err)
	}
	if err := outfile.Overwrites(dir, (&difference{form: new(string)}).files().names(), func() []string { return inputFiles([]string{input}) }); err != nil {
		t.Errorf("a file that is not written: %v", err)
	}
}

// TestReportIntoItsInput: a second report into the directory of its traces, or into one below it, says of
// its own files nothing, and of others as much as the first.
func TestReportIntoItsInput(t *testing.T) {
	for _, below := range []string{"", "out"} {
		dir := t.TempDir()
		trace, err := os.ReadFile(filepath.Join("..", "..", "testdata", "gen", "comm_bound.json.gz"))
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{"run.json.gz": trace, "notes.pdf": []byte("%PDF")} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var said [2]string
		for i := range said {
			var out, talk bytes.Buffer
			if status := run(env{strings.NewReader(""), &out, &talk}, []string{"report", dir, "-o", filepath.Join(dir, below)}); status != exitOK {
				t.Fatal(talk.String())
			}
			said[i] = talk.String()
		}
		if said[0] != said[1] || !strings.Contains(said[0], "skipped 1 file of no known format") {
			t.Errorf("first %q, then %q", said[0], said[1])
		}
	}
}
