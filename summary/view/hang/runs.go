package hang

import (
	"path"
	"strings"

	"assay/summary"
)

// recorderSource is the source of groups of PyTorch's flight recorder.
const recorderSource = "flight recorder"

// rasSource is the source of groups in reports of ncclras.
const rasSource = "NCCL RAS"

// Runs returns the run of each input that has groups of ranks, or nil if there is only one run. A rank
// writes one dump when a run hangs, so two dumps of a rank belong to two runs: those that the user named,
// or else one per directory.
func Runs(s *summary.Summary) map[int]string {
	if _, again := dumpsOf(s, func(int) string { return "" }); len(again) == 0 {
		return nil
	}
	out := map[int]string{}
	for _, g := range s.Groups {
		if g.Input < len(s.Inputs) {
			out[g.Input] = hangRun(&s.Inputs[g.Input])
		}
	}
	return out
}

func hangRun(in *summary.Input) string {
	if in.Run != "" {
		return in.Run
	}
	return path.Dir(strings.ReplaceAll(in.Path, `\`, "/"))
}

// MixedDumps returns pairs of inputs that are dumps of the same rank in the same run, which means that they
// are from different hangs.
func MixedDumps(s *summary.Summary) (pairs [][2]int) {
	of := Runs(s)
	if of == nil {
		return nil
	}
	_, pairs = dumpsOf(s, func(input int) string { return of[input] })
	return pairs
}

// dumpsOf returns the dumps by run and rank, and pairs of inputs with the same run and rank.
func dumpsOf(s *summary.Summary, run func(input int) string) (first map[dumpKey]int, again [][2]int) {
	first = map[dumpKey]int{}
	seen := map[int]bool{}
	for _, g := range s.Groups {
		if g.Source != recorderSource || g.Rank == nil {
			continue
		}
		k := dumpKey{run(g.Input), *g.Rank}
		have, ok := first[k]
		switch {
		case !ok:
			first[k] = g.Input
		case have != g.Input && !seen[g.Input]:
			seen[g.Input] = true
			again = append(again, [2]int{have, g.Input})
		}
	}
	return first, again
}

// A dumpKey is the rank of a dump in its run.
type dumpKey struct {
	run  string
	rank int
}
