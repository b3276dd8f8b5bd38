package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/report"
)

// TestMergedPartialsAreMasked: merge does not copy a partial that has a secret as it is.
func TestMergedPartialsAreMasked(t *testing.T) {
	const token = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"
	dir := t.TempDir()
	log := filepath.Join(dir, "train.jsonl")
	if err := os.WriteFile(log, []byte(strings.Repeat("{\"step\": 1, \"loss\": 2.0, \"timing/step\": 3.0, \"timing/innocent\": 1.0}\n", 4)), 0o666); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) {
		t.Helper()
		var talk bytes.Buffer
		if status := run(env{strings.NewReader(""), &bytes.Buffer{}, &talk}, args); status != exitOK {
			t.Fatalf("%q: %s", args, talk.String())
		}
	}
	read := func(folder string) []byte {
		t.Helper()
		packed, err := os.ReadFile(test.Files(t, filepath.Join(folder, "*.json.gz"))[0])
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(z); err != nil {
			t.Fatal(err)
		}
		return text.Bytes()
	}
	command("summary", log, "--save", filepath.Join(dir, "saved"))
	text := bytes.ReplaceAll(read(filepath.Join(dir, "saved")), []byte("innocent"), []byte(token))
	if !bytes.Contains(text, []byte(token)) {
		t.Fatal("no name to plant in")
	}
	edited := filepath.Join(dir, "edited.json")
	if err := os.WriteFile(edited, text, 0o666); err != nil {
		t.Fatal(err)
	}
	command("merge", edited, "-o", filepath.Join(dir, "merged"))
	if merged := read(filepath.Join(dir, "merged")); bytes.Contains(merged, []byte(token)) || !bytes.Contains(merged, []byte("[hf]")) {
		t.Error("the merged partial shows the token")
	}
}

// TestTextsOfReport: what a report does not export is in its Texts, so that masking reaches it.
func TestTextsOfReport(t *testing.T) {
	reached := map[reflect.Type]bool{}
	for _, p := range new(report.Report).Texts() {
		reached[reflect.TypeOf(p)] = true
	}
	of := reflect.TypeFor[report.Report]()
	for i := range of.NumField() {
		f := of.Field(i)
		if !f.IsExported() && !reached[f.Type] && !reached[reflect.PointerTo(f.Type)] {
			t.Errorf("Texts leaves %s out", f.Name)
		}
	}
}
