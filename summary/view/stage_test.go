package view

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

// TestStageOf compares it with an expression of the names that SGLang gives.
func TestStageOf(t *testing.T) {
	want := regexp.MustCompile(`-(EXTEND|DECODE)\.trace\.json(\.gz|\.zst)?$`)
	rnd := rand.New(rand.NewPCG(1, 4))
	parts := []string{"1757059120.5-TP-0", "-EXTEND", "-DECODE", ".trace.json", ".gz", ".zst", "-", "x", "\n", "DECODE", ".trace"}
	for range 50_000 {
		file := ""
		for range rnd.IntN(6) {
			file += parts[rnd.IntN(len(parts))]
		}
		stage := ""
		if m := want.FindStringSubmatch(file); m != nil {
			stage = m[1]
		}
		if got := StageOf(file); got != stage {
			t.Fatalf("%q: %q, want %q", file, got, stage)
		}
	}
}
