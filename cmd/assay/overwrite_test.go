package main

import (
	"assay/internal/outfile"
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
