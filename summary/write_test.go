package summary

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestWrite: what is written is read back equal, and the members that come with it are
// in the same object.
func TestWrite(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		s := Merge(randomSummary(rnd), randomSummary(rnd))
		var text bytes.Buffer
		if err := Write(&text, s, "v1.2.3", struct {
			More []string `json:"more"`
			None *int     `json:"none,omitempty"`
		}{[]string{"<a>", "\u202e"}, nil}); err != nil {
			t.Fatal(err)
		}
		var with struct {
			Assay string
			More  []string
		}
		if err := json.Unmarshal(text.Bytes(), &with); err != nil || with.Assay != "v1.2.3" || !reflect.DeepEqual(with.More, []string{"<a>", "\u202e"}) {
			t.Fatalf("%+v, %v", with, err)
		}
		got, err := Read(&text, "s.json")
		if err != nil || !reflect.DeepEqual(Merge(got), s) {
			t.Fatalf("what was read differs from what was written, %v", err)
		}
	}
}

// TestWriteOfNothing: lists that every reader iterates over are never null.
func TestWriteOfNothing(t *testing.T) {
	var b, compact bytes.Buffer
	if err := Write(&b, &Summary{Schema: Schema}, ""); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&compact, b.Bytes()); err != nil || compact.String() != `{"schema":"assay/summary/1","inputs":[],"devices":[],"kernels":[],"issues":[]}` {
		t.Errorf("%s, %v", compact.String(), err)
	}
}
