package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay/analyze"
	"assay/analyze/inspect"
	"assay/ingest"
	"assay/internal/outfile"
	"assay/internal/test/nsysgen"
	"assay/internal/test/rankgen"
)

// TestOpenedMoment opens inputs of all kinds at the start of an operation, and looks for it
// in what is served, at the start of the range: so the range is on the clock of the trace that
// the viewer gets.
func TestOpenedMoment(t *testing.T) {
	sqlite := filepath.Join(t.TempDir(), "run.sqlite")
	if err := nsysgen.Write(sqlite, nsysgen.Plan{Kernels: 60, Calls: true, Ranges: 3}); err != nil {
		t.Fatal(err)
	}
	ranks := t.TempDir()
	for _, s := range rankgen.Scenarios() {
		if s.Name == "random" {
			j, given := s.Job()
			for _, f := range j.Files(given) {
				path := filepath.Join(ranks, f.Name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, f.JSON, 0o666)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, tt := range []struct {
		name, input string
		rank        string
	}{
		{"Chrome JSON", "../../testdata/gen/llm_train_step.json.gz", ""},
		{"times since 1970", "../../testdata/gen/era2022.json.gz", ""},
		{"export of Nsight Systems", sqlite, ""},
		{"ranks", ranks, "0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := []string{"inspect", tt.input, "--kernel", "*", "--top", "1", "--format", "json"}
			if tt.rank != "" {
				args = append(args, "--rank", tt.rank)
			}
			if got := run(env{nil, &stdout, &stderr}, args); got != exitOK {
				t.Fatalf("%d: %s", got, stderr.String())
			}
			var a inspect.Answer
			if err := json.Unmarshal(stdout.Bytes(), &a); err != nil {
				t.Fatal(err)
			}
			want := a.Kernels.Longest[0]

			o := opening{conversion: conversion{to: toChrome, value: "gpu"}, at: fmt.Sprintf("%d.%06dms", want.AtNS/1e6, want.AtNS%1e6), length: "1ms", idle: time.Minute}
			if wrong := o.check([]string{tt.input}); wrong != "" {
				t.Fatal(wrong)
			}
			var temp outfile.Registry
			defer temp.Close()
			content, file, err := o.content(env{nil, io.Discard, &stderr}, openCommand(), []string{tt.input}, &temp)
			if err != nil {
				t.Fatal(err, stderr.String())
			}
			defer file.Close()
			if content.Show.End-content.Show.Start != 1_000_000 {
				t.Errorf("the range is %+v, want 1 ms", content.Show)
			}
			served, err := io.ReadAll(io.NewSectionReader(content.File, 0, content.Size))
			if err != nil {
				t.Fatal(err)
			}
			f, err := ingest.Open(ingest.Stdin, bytes.NewReader(served))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			in, err := ingest.Load(f, analyze.Needs())
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for k := range in.Trace.Activities.All() {
				found = found || k.Start == content.Show.Start && k.Dur == want.NS && in.Trace.Name(k.Name) == want.Name
			}
			if !found {
				t.Errorf("nothing of %d ns starts at %d ns in what is served", want.NS, content.Show.Start)
			}
		})
	}
}
