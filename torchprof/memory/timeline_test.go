package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"assay/internal/test"
)

// TestForms reads the same memory in both forms.
func TestForms(t *testing.T) {
	raw := `[[-1, 1, 100, 0], [-1, 1, 10, 7], [1696966048083248105, 2, 1000, 4], [1696966048083249000, 3, -100, 0],
		[1696966048083249000, 3, 100, 0], [1696966048083250999, 2, 5, null], [1696966048083251000, 4, -1000, 4]]`
	want := &Timeline{
		Times: []int64{1696966048083248105, 1696966048083249000, 1696966048083250999, 1696966048083251000},
		Sizes: []Sizes{{100, 0, 0, 0, 1000, 0, 0, 10}, {100, 0, 0, 0, 1000, 0, 0, 10}, {100, 0, 0, 0, 1000, 0, 0, 15}, {100, 0, 0, 0, 0, 0, 0, 15}},
		Start: Sizes{100, 0, 0, 0, 0, 0, 0, 10},
	}
	check(t, raw, want)
	plain := `[[-1, 1696966048083248, 1696966048083249.125], [[0, 100, 0, 0, 0, 0, 0, 0, 10], [0, 100, 0, 0, 0, 1000, 0, 0, 10], [0, 100, 0, 0, 0, 0, 0, 0, 15]]]`
	want.Times = []int64{1696966048083248000, 1696966048083249125}
	want.Sizes = []Sizes{want.Sizes[1], want.Sizes[3]}
	check(t, plain, want)
}

func check(t *testing.T, in string, want *Timeline) {
	t.Helper()
	if !SniffTimeline([]byte(in)) {
		t.Errorf("not sniffed: %.40s", in)
	}
	got, err := ReadTimeline(iotest.OneByteReader(strings.NewReader(in)), "x", TimelineLimits{})
	if err != nil || !got.Complete || len(got.Issues) != 0 {
		t.Fatalf("%v, issues %v", err, got)
	}
	if !slices.Equal(got.Times, want.Times) || !slices.Equal(got.Sizes, want.Sizes) || got.Start != want.Start {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestPeers reads the capture of HolisticTraceAnalysis, whose own test has the
// sizes of the categories at one time.
func TestPeers(t *testing.T) {
	m, err := ReadTimeline(bytes.NewReader(test.Unpacked(t, test.Corpus(t, "formats", "memory", "hta_memory_timeline.raw.json.gz"))), "x", TimelineLimits{})
	if err != nil || !m.Complete || m.Records != 16845 {
		t.Fatalf("%v, %+v", err, m.Issues)
	}
	want := Sizes{102440608, 102228128, 19395584, 0, 2618160128, 58417152, 41811968, 25494440}
	if !slices.Contains(m.Sizes, want) {
		t.Errorf("no moment of %d has %v", len(m.Sizes), want)
	}
}

// TestDamage: the data before the damage is kept, and an issue has the damage's
// position.
func TestDamage(t *testing.T) {
	for in, want := range map[string]string{
		`[[-1, 1, 5, 7], [9, 2`:                            "1 records, input-truncated@21, start 5",
		`[[-1, 1, 5, 7], {`:                                "1 records, input-truncated@16, start 5",
		`[[-1, 1, 5, 7], [1,2,3]]`:                         "2 records, memory-record-unusable@23, start 5",
		`[[-1, 1, 5, 7], [1,9,3,3]]`:                       "2 records, memory-record-unusable@25, start 5",
		`[[-1, 1, 5, 7], [1,2,3,3,4,5]]`:                   "2 records, memory-record-unusable@29, start 5",
		`[[-1, 1, 5, 7]] x`:                                "1 records, input-truncated@16, start 5",
		`[[-1, 1, 5, 7],[9,2,1,0],[8,2,1,0]]`:              "3 records, time-backwards@34, start 5",
		`[[-1],[[0,0,0,0,0,0,0,0,5],[0,1,1,1,1,1,1,1,1]]]`: "2 records, memory-record-unusable@46, start 5",
		`[[-1],[[0,0,0,0,0,0,0,0,5],[`:                     "1 records, input-truncated@29, start 5",
	} {
		m, err := ReadTimeline(strings.NewReader(in), "x", TimelineLimits{})
		if err != nil || len(m.Issues) != 1 {
			t.Errorf("%s: %v %+v", in, err, m)
			continue
		}
		got := fmt.Sprintf("%d records, %s@%d, start %d", m.Records, m.Issues[0].Code, m.Issues[0].First.Offset, m.Start[7])
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"": "ends too early", "{}": "want '['", "[": "ends too early", "[[": "ends too early", `[["a"]]`: `want a number, got "\"a\""`,
		"[[1,2]]": "no sizes", "[[1e300,1],[]]": "want a number", "[[" + strings.Repeat("1", 100) + "]]": "too long", "[[1 2]]": "want a comma",
	} {
		m, err := ReadTimeline(strings.NewReader(in), "x", TimelineLimits{})
		if err == nil || m != nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "x@") {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
	broken := errors.New("broken")
	m, err := ReadTimeline(io.MultiReader(strings.NewReader(`[[-1,1,5,7],`), iotest.ErrReader(broken)), "x", TimelineLimits{})
	if !errors.Is(err, broken) || m == nil || m.Complete {
		t.Errorf("a broken reader: %v", err)
	}
}

// TestLimit: a file with more times than the memory limit permits ends at the
// limit.
func TestTimelineLimit(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("[[-1,1,5,7]")
	for i := range 10000 {
		fmt.Fprintf(&b, ",[%d,2,1,0]", i+1)
	}
	b.WriteString("]")
	m, err := ReadTimeline(&b, "x", TimelineLimits{Memory: 160 * 1000})
	if err != nil || m.Complete || len(m.Times) != 1000 || m.Issues[0].Code != "memory-limit" {
		t.Errorf("%v: %d moments, %+v", err, len(m.Times), m.Issues)
	}
}

func TestSniff(t *testing.T) {
	long := "[[1696966048083248" + strings.Repeat(", 1696966048083248", 100)
	for in, want := range map[string]bool{
		"[[-1, 1, 37888, 7], [-1": true, "[\n [ 1696966048083248105, 4, -512, null ]\n]": true, "[[1,2,3,4],[1,2,3,4]]": true,
		"[[1,2,3],[4,5,6]]": false, "[[1,7,3,4]]": false, "[1,2]": false, `[{"ph":"X"}]`: false, "[[": false, "[[-1": false,
		long: true, long + ", 16969": true, long + "], [[0, 1": true, "[[1696966048083248], [[0, 5": true, "[[1,2],[[0,": false,
	} {
		if SniffTimeline([]byte(in)) != want {
			t.Errorf("Sniff(%.50q) is %v", in, !want)
		}
	}
}

// FuzzReadTimeline checks the guarantees of the reader for any input: it ends without a
// panic, and its result is in order.
func FuzzReadTimeline(f *testing.F) {
	for _, seed := range []string{
		`[[-1, 1, 100, 0], [1696966048083248105, 2, 1000, 4], [1696966048083249000, 3, -100, null]]`,
		`[[-1, 1696966048083248.5], [[0, 100, 0, 0, 0, 0, 0, 0, 10], [0, 1, 2, 3, 4, 5, 6, 7, 8]]]`,
		`[[1,2,3,4],[1,2,3`, `[[]]`, `[[],[[]]]`, `[[9223372036854775807,4,-1125899906842624,7],[1e18,2,1,1]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := ReadTimeline(bytes.NewReader(in), "x", TimelineLimits{Memory: 1 << 20})
		if m == nil {
			if err == nil {
				t.Fatal("neither a timeline nor a reason")
			}
			return
		}
		if len(m.Times) != len(m.Sizes) || !slices.IsSorted(m.Times) || !m.Complete && len(m.Issues) == 0 {
			t.Fatalf("%d times, %d sizes, complete %v, issues %v", len(m.Times), len(m.Sizes), m.Complete, m.Issues)
		}
	})
}
