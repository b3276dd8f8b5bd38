package operations

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/internal/test/captures"
	"assay/trace"
)

// negotiation writes what Horovod does for a tensor: ready has the µs at which each rank is ready.
func negotiation(tensor int, end int, ready ...int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"ph":"B","name":"NEGOTIATE_ALLREDUCE","ts":%d,"pid":%d},`, slices.Min(append(ready, end)), tensor)
	for rank, ts := range ready {
		fmt.Fprintf(&b, `{"ph":"X","name":"%d","ts":%d,"pid":%d,"dur":0},`, rank, ts, tensor)
	}
	fmt.Fprintf(&b, `{"ph":"E","ts":%d,"pid":%d},{"ph":"B","name":"ALLREDUCE","ts":%d,"pid":%d},{"ph":"E","ts":%d,"pid":%d},`,
		end, tensor, end, tensor, end+5, tensor)
	return b.String()
}

// Three ranks and three tensors. Rank 2 is late for the first two, which wait for it alone from 40 to
// 100 and from 60 to 110: 70 µs together. Rank 0 is late for the third, from 210 to 230.
func TestNegotiations(t *testing.T) {
	text := "[" + negotiation(1, 101, 10, 40, 100) + negotiation(2, 111, 60, 20, 110) + negotiation(3, 231, 230, 210, 205) +
		`{"ph":"B","name":"NEGOTIATE_ALLREDUCE","ts":300,"pid":4},{"ph":"E","ts":307,"pid":4}` // a tensor that is known has no marks
	tr, err := trace.Read(strings.NewReader(text), "x", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	got := NegotiationsOf(tr)
	want := &Negotiations{Count: 4, Told: 3, WaitNS: 1000 * (101 + 26 + 7), SpanNS: 297_000, ByRank: []Arrival{
		{Rank: 2, First: 1, Last: 2, AloneNS: 70_000, WaitNS: 25_000},
		{Rank: 0, First: 1, Last: 1, AloneNS: 20_000, WaitNS: 100_000},
		{Rank: 1, First: 1, WaitNS: 110_000},
	}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestNegotiationsOfHorovod: another program counted who was last.
func TestNegotiationsOfHorovod(t *testing.T) {
	n := NegotiationsOf(captures.Load(t, test.Corpus(t, "ranks", "horovod_timeline_8gpu", "gpu.json.gz")).Trace)
	last, first := map[int]int{}, map[int]int{}
	for _, r := range n.ByRank {
		last[r.Rank], first[r.Rank] = r.Last, r.First
	}
	if n.Count != 1304 || n.Told != 59 || last[5] != 17 || last[3] != 15 || last[6] != 13 || first[0] != 31 {
		t.Errorf("%+v", n)
	}
	t.Logf("%+v", n)
}
