package ranks

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/test"

	"assay/summary"
)

// device returns a GPU of an input with work.
func device(input, rank int, start int64) summary.Device {
	return summary.Device{Input: input, Rank: rank, StartNS: start, WindowNS: 5000, Events: 40}
}

// traced returns an input of a rank in a job.
func traced(path string, rank, world int) summary.Input {
	return summary.Input{Path: path, Format: "kineto", Rank: rank, WorldSize: world, SpanNS: 6000}
}

// TestNoteInputs checks which issues inputs of several ranks have.
func TestNoteInputs(t *testing.T) {
	empty := traced("empty", 1, 0)
	empty.SpanNS = 0
	table := summary.Input{Path: "table", Format: "nsys-stats", Rank: 1}
	same := func(path string, rank int, sum string) summary.Input {
		in := traced(path, rank, 0)
		in.SHA256 = sum
		return in
	}
	for name, tt := range map[string]struct {
		inputs  []summary.Input
		devices []summary.Device
		want    []string // code and what the help says
	}{
		"all ranks":       {inputs: []summary.Input{traced("a", 0, 2), traced("b", 1, 2)}, devices: []summary.Device{device(0, 0, 7), device(1, 1, 8)}},
		"the same rank":   {inputs: []summary.Input{traced("a", 0, 1), traced("b", 0, 1)}, devices: []summary.Device{device(0, 0, 7), device(1, 0, 7)}},
		"an empty rank":   {inputs: []summary.Input{traced("a", 0, 0), empty}, devices: []summary.Device{device(0, 0, 7)}, want: []string{"rank-without-events: the trace of rank 1 has no event"}},
		"all empty":       {inputs: []summary.Input{empty, empty}},
		"a table":         {inputs: []summary.Input{traced("a", 0, 0), table}, devices: []summary.Device{device(0, 0, 7)}},
		"one of many":     {inputs: []summary.Input{traced("a", 0, 8)}, devices: []summary.Device{device(0, 0, 7)}},
		"two of many":     {inputs: []summary.Input{traced("a", 0, 8), traced("b", 3, 8)}, devices: []summary.Device{device(0, 0, 7), device(1, 3, 8)}, want: []string{"ranks-missing: 2 of 8 ranks were given"}},
		"different sizes": {inputs: []summary.Input{traced("a", 0, 8), traced("b", 3, 16)}, devices: []summary.Device{device(0, 0, 7), device(1, 3, 8)}, want: []string{"world-sizes-differ: has 16 ranks, and that of a has 8"}},
		"copies": {inputs: []summary.Input{same("a", 0, "x"), same("b", 1, "y"), same("c", 2, "x"), same("d", 3, "x")},
			devices: []summary.Device{device(0, 0, 7), device(1, 1, 8), device(2, 2, 7), device(3, 3, 7)}, want: []string{"rank-copied: the file of rank 2 has the same bytes as a of rank 0"}},
		"the same file twice":       {inputs: []summary.Input{same("a", 0, "x"), same("b", 0, "x")}, devices: []summary.Device{device(0, 0, 7), device(1, 0, 7)}},
		"equal traces without work": {inputs: []summary.Input{same("a", 0, "x"), same("b", 1, "z"), same("c", 2, "z")}, devices: []summary.Device{device(0, 0, 7)}},
		"more than said":            {inputs: []summary.Input{traced("a", 0, 1), traced("b", 1, 1)}, devices: []summary.Device{device(0, 0, 7), device(1, 1, 8)}},
	} {
		s := &summary.Summary{Inputs: tt.inputs, Devices: tt.devices}
		NoteInputs(s)
		NoteInputs(s) // says nothing twice
		ok := len(s.Issues) == len(tt.want)
		for i, want := range tt.want {
			code, says, _ := strings.Cut(want, ": ")
			ok = ok && s.Issues[i].Code == code && strings.Contains(s.Issues[i].Help, says)
		}
		if !ok {
			t.Errorf("%s: %+v, want %q", name, s.Issues, tt.want)
		}
	}
}

// TestIncomplete: a rank that recorded far fewer collectives of a group than the others
// is named. A few at the begin are usual.
func TestIncomplete(t *testing.T) {
	issue := func(tr truth) []summary.Issue {
		tr.arrive = func(int, int) int64 { return 0 }
		tr.offset = make([]int64, tr.ranks)
		members, _ := tr.build(100)
		s := &summary.Summary{}
		for range members {
			s.Inputs = append(s.Inputs, summary.Input{Path: "rank of " + string(rune('a'+len(s.Inputs)))})
		}
		Match(members).AddTo(s)
		return s.Issues
	}
	all := [][]int{{0, 1, 2, 3}}
	for _, numbered := range []bool{true, false} {
		if got := issue(truth{ranks: 4, named: true, numbered: numbered, groups: all, skip: []int{0, 0, 30, 4}}); len(got) != 1 || got[0].Code != "collectives-incomplete" ||
			got[0].First != "rank of c" || got[0].Count != 1 || !strings.HasPrefix(got[0].Help, "Rank 2 recorded 70 collectives of a group, rank 0 recorded 100.") {
			t.Errorf("numbered %v: %+v", numbered, got)
		}
	}
	if got := issue(truth{ranks: 4, named: true, numbered: true, groups: all, skip: []int{0, 5, 0, 2}}); len(got) != 0 {
		t.Errorf("5 of 100: %+v", got)
	}
	if got := issue(truth{ranks: 4, groups: all, skip: []int{0, 0, 30, 0}}); len(got) != 0 {
		t.Errorf("the group has no name on other ranks: %+v", got)
	}
	// Stages of a pipeline have groups of their own, of different numbers.
	two := truth{ranks: 4, named: true, numbered: true, groups: [][]int{{0, 1}, {2, 3}}, skip: []int{0, 0, 30, 30}}
	if got := issue(two); len(got) != 0 {
		t.Errorf("different groups: %+v", got)
	}
}

// TestMegatronComplete: eight real ranks of one job have no issue.
func TestMegatronComplete(t *testing.T) {
	dir := test.Corpus(t, "ranks", "megatron_tp8_a100")
	s := &summary.Summary{Inputs: make([]summary.Input, 8)}
	Match(load(t, dir, "rank0.json.gz", "rank1.json.gz", "rank2.json.gz")).AddTo(s)
	if slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Code == "collectives-incomplete" }) {
		t.Errorf("%+v", s.Issues)
	}
}
