package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assay/compare"
	"assay/compare/history"
	"assay/internal/test"
	"assay/judge"
	"assay/judge/rule"
	"assay/report"
	"assay/summary"
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

// TestTextsOfReport: what a report does not export is in its Texts, so that masking reaches it, or it was
// masked when the report was made.
func TestTextsOfReport(t *testing.T) {
	reached := map[reflect.Type]bool{
		reflect.TypeFor[*summary.Summary](): true, reflect.TypeFor[judge.Result](): true, reflect.TypeFor[*compare.Comparison](): true, reflect.TypeFor[*history.History](): true,
	}
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

// TestReportsOfPrograms: a program that makes a summary itself gets a report without secrets, in every
// form, and its texts are masked before they are shortened.
func TestReportsOfPrograms(t *testing.T) {
	token := "ghp_" + "0a1B2c3D4e5F6g7H8i9J0kLmNoPqRsTuVwXy"
	s := newSearch(t, []planted{{token, token}, {"a part of it", token[:20]}, {"the end of it", token[12:]}})
	name := strings.Repeat("gemm", 12) + " " + token
	made := func() *summary.Summary {
		const ms = 1e6
		return &summary.Summary{
			Inputs:  []summary.Input{{Path: "run-" + token + ".json", Format: "kineto", SpanNS: 10 * ms, GPUs: 1, Complete: true, Recorder: map[string]string{"host": name}}},
			Devices: []summary.Device{{Name: name, WindowNS: 10 * ms, Activity: summary.Activity{0: 4 * ms, summary.ClassCompute: 6 * ms}}},
			Kernels: []summary.Kernel{{Name: name, Class: "compute", Category: "gemm", Op: name, Count: 3, TotalNS: 6 * ms, MinNS: ms, MaxNS: 3 * ms}},
			Issues:  []summary.Issue{{Code: "negative-duration", Severity: "warning", Count: 1, First: name, Help: "See " + token}},
		}
	}
	judged := func(sum *summary.Summary) judge.Result { return judge.Judge(sum, rule.DefaultThresholds()) }
	for what, build := range map[string]func() report.Report{
		"Build":    func() report.Report { sum := made(); return report.Build(sum, judged(sum)) },
		"Overview": func() report.Report { sum := made(); return report.Overview(sum, judged(sum)) },
		"Brief":    func() report.Report { sum := made(); return report.Brief(sum, judged(sum)) },
		"Doctor":   func() report.Report { sum := made(); return report.Doctor(sum, judged(sum), nil) },
		"BuildDiff": func() report.Report {
			cmp, err := compare.Summaries(made(), made(), compare.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return report.BuildDiff(cmp)
		},
	} {
		var out bytes.Buffer
		d := build()
		for _, write := range []func(io.Writer) error{d.JSON, d.Markdown, d.HTML, func(w io.Writer) error { return d.Text(w, 80) }} {
			if err := write(&out); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, c := range d.Charts() {
			if err := c.SVG(&out); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		s.in(what, out.Bytes())
		if !strings.Contains(out.String(), "gemmgemm") {
			t.Errorf("%s shows no name, so nothing was tried", what)
		}
	}
}
