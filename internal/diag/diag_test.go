package diag

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

func ExampleLedger() {
	var l Ledger
	l.Add(Issue{Code: "stream-unknown", Severity: Info})
	l.AddN(Issue{Code: "events-dropped", Severity: DataLoss, First: Pos{File: "run.json", Offset: 81920}}, 12)
	for _, is := range l.Issues() {
		fmt.Println(is.Severity, is.Code, is.Count, is.First)
	}
	// Output:
	// data-loss events-dropped 12 run.json@81920
	// info stream-unknown 1 <input>@0
}

func TestErrorText(t *testing.T) {
	for _, tc := range []struct {
		err  Error
		want string
	}{
		{Error{Pos: Pos{File: "run.json", Offset: 81920, Path: "traceEvents[1041].dur"}, Msg: "negative duration"},
			"run.json@81920: traceEvents[1041].dur: negative duration"},
		{Error{Pos: Pos{File: "run.txt", Line: 12, Offset: 99}, Msg: "too few columns"},
			"run.txt:12: too few columns"},
		{Error{Msg: "malformed JSON", Err: io.ErrUnexpectedEOF},
			"<input>@0: malformed JSON: unexpected EOF"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
	if err := error(&Error{Err: io.ErrUnexpectedEOF}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is not reachable with errors.Is")
	}
}

func TestSeverityNames(t *testing.T) {
	for s, want := range map[Severity]string{Info: "info", DataLoss: "data-loss", Suspect: "suspect", 9: "severity(9)"} {
		if got := s.String(); got != want {
			t.Errorf("Severity(%d) is %q, want %q", uint8(s), got, want)
		}
	}
}

func TestLedger(t *testing.T) {
	var l Ledger
	if got := l.Issues(); len(got) != 0 {
		t.Fatalf("the zero ledger holds %v", got)
	}
	l.Add(Issue{Code: "b-info", Severity: Info, Count: 77, First: Pos{Offset: 1}, Help: "first"})
	l.AddN(Issue{Code: "b-info", Severity: Info, First: Pos{Offset: 2}, Help: "second"}, 4)
	l.Add(Issue{Code: "a-info", Severity: Info})
	l.Add(Issue{Code: "loss", Severity: DataLoss})
	l.Add(Issue{Code: "worsens", Severity: Info})
	l.Add(Issue{Code: "worsens", Severity: Suspect})
	l.Add(Issue{Code: "worsens", Severity: DataLoss})
	l.AddN(Issue{Code: "never", Severity: Suspect}, 0)
	l.AddN(Issue{Code: "never", Severity: Suspect}, -3)
	want := []Issue{
		{Code: "worsens", Severity: Suspect, Count: 3},
		{Code: "loss", Severity: DataLoss, Count: 1},
		{Code: "a-info", Severity: Info, Count: 1},
		{Code: "b-info", Severity: Info, Count: 5, First: Pos{Offset: 1}, Help: "first"},
	}
	if got := l.Issues(); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestMergeEqualsOneLedger cuts a stream of issues into pieces, counts each in
// its own ledger and adds them up: the result is that of one ledger.
func TestMergeEqualsOneLedger(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var whole, merged, piece Ledger
		for i := range int64(rnd.IntN(40)) {
			code := rnd.IntN(6)
			is := Issue{
				Code:     "code-" + strconv.Itoa(code),
				Severity: Severity(rnd.IntN(3)),
				First:    Pos{Offset: i},
				Help:     strconv.FormatInt(i, 10),
			}
			n := rnd.Int64N(5)
			whole.AddN(is, n)
			piece.AddN(is, n)
			if rnd.IntN(4) == 0 {
				merged.Merge(&piece)
				piece = Ledger{}
			}
		}
		before := piece.Issues()
		merged.Merge(&piece)
		if got, want := merged.Issues(), whole.Issues(); !slices.Equal(got, want) {
			t.Fatalf("merged %+v\nwhole  %+v", got, want)
		}
		merged.Merge(&merged) // must neither loop nor alias
		if got := piece.Issues(); !slices.Equal(got, before) {
			t.Fatalf("merging changed its argument: %+v, was %+v", got, before)
		}
		for i, is := range merged.Issues() {
			if want := 2 * whole.Issues()[i].Count; is.Count != want {
				t.Fatalf("merged with itself %s counts %d, want %d", is.Code, is.Count, want)
			}
		}
	}
}
