package report

import (
	"testing"

	"assay/summary"
)

func TestRanksOfInputs(t *testing.T) {
	in := func(rank int, from string) summary.Input { return summary.Input{Rank: rank, RankFrom: from} }
	for _, c := range []struct {
		name   string
		inputs []summary.Input
		want   string
	}{
		{"logs", []summary.Input{in(0, "assumed"), in(0, "assumed")}, ""},
		{"a log and a trace", []summary.Input{in(0, "assumed"), in(3, "trace")}, "rank 3"},
		{"two traces of one rank", []summary.Input{in(0, "trace"), in(0, "name")}, "rank 0"},
		{"traces", []summary.Input{in(2, "trace"), in(0, "trace"), in(1, "trace")}, "ranks 0–2"},
		{"numbered traces", []summary.Input{in(0, "assumed"), in(1, "assumed")}, "ranks 0, 1"},
	} {
		if got := ranksText(c.inputs); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
