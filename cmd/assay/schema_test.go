package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	validator "github.com/google/jsonschema-go/jsonschema"

	"assay/internal/test"
)

// resolved returns the closed schema of a document, ready to validate.
func resolved(t *testing.T, name string) *validator.Resolved {
	t.Helper()
	d, ok := outputNamed(name)
	if !ok {
		t.Fatalf("no document %s", name)
	}
	text, err := json.Marshal(d.described(true))
	if err != nil {
		t.Fatal(err)
	}
	var s validator.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// printedJSON runs a command and returns its output, decoded; nil if it has none.
func printedJSON(t *testing.T, args ...string) map[string]any {
	t.Helper()
	var out, talk bytes.Buffer
	run(env{strings.NewReader(""), &out, &talk}, args)
	if out.Len() == 0 {
		return nil
	}
	var v map[string]any
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return v
}

// inputsUnder returns the files below a folder, those up to a size.
func inputsUnder(t *testing.T, dir string, most int64) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() <= most {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestSchemas: outputs of many inputs have the members that their schemas name, and no others.
func TestSchemas(t *testing.T) {
	checks := map[string]*validator.Resolved{}
	for _, d := range outputList() {
		checks[d.name] = resolved(t, d.name)
	}
	seen := map[string]int{}
	check := func(name string, args ...string) {
		t.Helper()
		v := printedJSON(t, args...)
		if v == nil {
			return
		}
		seen[name]++
		if err := checks[name].Validate(v); err != nil {
			t.Errorf("assay %s: %v", strings.Join(args, " "), err)
		}
	}
	inputs := inputsUnder(t, filepath.Join("..", "..", "testdata"), 1<<20)
	if corpus, ok := test.FindCorpus(t); ok && !testing.Short() {
		more := inputsUnder(t, corpus, 4<<20)
		for i := 0; i < len(more); i += max(1, len(more)/150) {
			inputs = append(inputs, more[i])
		}
	}
	for i, path := range inputs {
		check("summary", "summary", path, "-f", "json", "--detail")
		if i%4 != 0 && !test.Long() {
			continue
		}
		check("doctor", "doctor", path, "-f", "json")
		check("groups", "summary", path, "-f", "json", "--by", "category")
		check("whatif", "whatif", path, "-f", "json")
		check("comparison", "diff", path, path, "-f", "json", "--force")
		check("check", "check", path, "--baseline", path, "-f", "json")
		for _, question := range [][]string{{"--kernel", "*"}, {"--op", "*"}, {"--gap", "1"}, {"--at", "1ms"}, {"--kernel", "*", "--why"}} {
			check("inspection", append([]string{"inspect", path, "-f", "json"}, question...)...)
		}
	}
	gen := func(name string) string { return filepath.Join("..", "..", "testdata", "gen", name) }
	check("comparison", "diff", gen("llm_train_step.json.gz"), gen("llm_train_slower.json.gz"), "-f", "json")
	check("groups", "diff", gen("llm_train_step.json.gz"), gen("llm_train_slower.json.gz"), "-f", "json", "--by", "category")
	nights := filepath.Join(t.TempDir(), "nightly")
	nightly(t, rand.New(rand.NewPCG(4, 4)), nights, 24, 12, "flash_bwd_kernel", 1.5)
	check("history", "history", nights, "-f", "json")
	check("explanation", "explain", "-f", "json")
	check("explanation", "explain", "json", "input-truncated", "gpu-idle", "-f", "json")
	check("metric", "check", "--explain", "comm.busbw", "-f", "json")
	for _, d := range outputList() {
		if seen[d.name] == 0 {
			t.Errorf("no output was checked with the schema %s", d.name)
		}
	}
	t.Logf("checked %v", seen)
}

// TestSchemaRefuses: a schema that accepts everything would find nothing wrong.
func TestSchemaRefuses(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "gen", "host_bound.json.gz")
	r := resolved(t, "summary")
	for name, damage := range map[string]func(v map[string]any){
		"none":           nil,
		"unknown member": func(v map[string]any) { v["kernel"] = 1 },
		"missing member": func(v map[string]any) { delete(v, "verdict") },
		"wrong type":     func(v map[string]any) { v["verdict"].(map[string]any)["bound"] = 3 },
		"wrong schema":   func(v map[string]any) { v["schema"] = "assay/summary/2" },
		"row without a name": func(v map[string]any) {
			delete(v["kernels"].([]any)[0].(map[string]any), "name")
		},
		"time with a fraction": func(v map[string]any) {
			v["kernels"].([]any)[0].(map[string]any)["total_ns"] = 1.5
		},
	} {
		v := printedJSON(t, "summary", path, "-f", "json")
		if damage != nil {
			damage(v)
		}
		if err := r.Validate(v); (err == nil) != (damage == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFieldsOfRows: every described column of a row is a field, with what it is as its description.
func TestFieldsOfRows(t *testing.T) {
	d, _ := outputNamed("summary")
	s := d.described(false)
	kernel := s.Defs["Kernel"]
	if got, want := kernel.Properties["total_ns"].Description, "total, in nanoseconds"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s.Properties["kernels"].Description == "" {
		t.Error("the list of kernels is not described")
	}
	for _, field := range []string{"kernels.name", "efficiency.rows.op", "tree.causes.causes.rule", "inputs.recorder.anything", "devices.budget.idle_ns", "findings.next", "findings.rule"} {
		if known, here := s.Lookup(strings.Split(field, ".")); !known {
			t.Errorf("%s is no field; there are %q", field, here)
		}
	}
	if known, here := s.Lookup([]string{"kernels", "nope"}); known || !slices.Contains(here, "kernels.name") {
		t.Errorf("got %t, %q", known, here)
	}
}
