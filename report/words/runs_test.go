package words

import (
	"testing"

	"assay/summary"
	"assay/summary/view"
)

func TestRunsAndCopies(t *testing.T) {
	for want, got := range map[string]string{
		"": Runs(1, view.ByNothing), "2 runs (one per directory)": Runs(2, view.ByFolder), "3 runs (a rank occurs more than once)": Runs(3, view.ByRank),
		"1 run (by --group-by none)": Runs(1, view.ByNone), "1 run (by --group-by)": Runs(1, view.ByPattern), "3 runs (by --group-by)": Runs(3, view.ByPattern),
		"2 runs (one per process in the file names)": Runs(2, view.ByProcess), "1 copy of a capture left out": Copies(1), "2 copies of captures left out": Copies(2),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Copies(0); got != "" {
		t.Errorf("no copy: %q", got)
	}
}

func TestRanksFrom(t *testing.T) {
	in := func(format string, from ...string) (out []summary.Input) {
		for _, f := range from {
			out = append(out, summary.Input{Format: format, RankFrom: f})
		}
		return out
	}
	for _, tc := range []struct {
		in   []summary.Input
		want string
	}{
		{in("kineto", "trace", "trace"), "ranks from distributedInfo of the files"},
		{in("nsys-sqlite", "trace", "trace"), "ranks from the files"},
		{in("kineto", "name", "name"), "ranks from file names"},
		{in("kineto", "trace", "name", "name"), "ranks from distributedInfo of the files (1), file names (2)"},
		{in("kineto", "name", "assumed"), "ranks from file names (1); rank 0 assumed for 1 input"},
		{in("kineto", "assumed", "assumed"), ""},
	} {
		if got := RanksFrom(tc.in); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
