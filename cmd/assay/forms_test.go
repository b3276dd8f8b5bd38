package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test"
)

// TestCopiesOfForms: the JSON of a capture of rocmProfileData has no sizes of copies; it still gets the advice that its
// database gets.
func TestCopiesOfForms(t *testing.T) {
	advice := func(name string) (out []any) {
		d := documentOf(t, test.Corpus(t, "inputs", "rpd_sqlite", name))
		for _, f := range d["findings"].([]any) {
			f := f.(map[string]any)
			out = append(out, f["rule"], f["level"], f["steps"])
		}
		return out
	}
	if diff := cmp.Diff(advice("rpd_matmul_result.rpd"), advice("rpd_matmul_result.json")); diff != "" {
		t.Error(diff)
	}
}
