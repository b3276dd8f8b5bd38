package attribute

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// A counted is what stretches of one cause must add up to.
type counted struct{ ns, count, longest, short int64 }

// TestQuestionsAnswered: idle time by cause, and by cause and step, is that of all stretches
// taken one by one, whether the questions are long or short, overlap between devices, or meet
// more causes than a tally has room for.
func TestQuestionsAnswered(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for round := range 300 {
		longest := []int64{40, 3 * longQuestion, 40 * longQuestion}[round%3]
		causes := []int{3, 60, 900}[rnd.IntN(3)]
		x := &idleness{
			a:       &Attribution{Host: &Host{mains: map[string]trace.TrackID{"1": 0}}, t: &trace.Trace{Tracks: []trace.Track{{PID: "1"}}}},
			maxRows: 2000, names: make([]string, causes+1), pending: make(map[trace.TrackID][][]question),
			rows: make([]idleTable, 2), shown: make([][]shownGap, 2), first: make([][]stepIdle, 2),
		}
		want := make(map[string]counted)
		for device := range x.rows {
			x.rows[device].index = make(map[idleKey]int32)
			for i, at := range []int64{5 * longest, 9 * longest} {
				x.first[device] = append(x.first[device], stepIdle{interval.Span{Start: at, End: at + int64(3+i)*longest}, make(map[int32]*summary.StepIdle)})
			}
			at := rnd.Int64N(longest)
			for range 1 + rnd.IntN(12) {
				q := question{span: interval.Span{Start: at, End: at + 1 + rnd.Int64N(longest)}, device: int32(device), mark: markOf(-1, rnd.IntN(2) == 0)}
				at = q.span.End + rnd.Int64N(2)*rnd.Int64N(longest)
				x.ask(0, q)
			}
		}
		var all []question
		for _, list := range x.pending[0] {
			all = append(all, list...)
		}
		q := x.questionsTo(0, true)
		for from := int64(math.MinInt64); from < math.MaxInt64; {
			to := max(from, 0) + 1 + rnd.Int64N(1+longest/8)
			if to > 30*longest {
				to = math.MaxInt64
			}
			key := idleKeyOf(byHost, inOp, int32(1+rnd.IntN(causes)))
			if to > q.asksFrom {
				q.answer(from, to, key)
			}
			for _, about := range all {
				count(want, x, about, interval.Span{Start: max(from, about.span.Start), End: min(to, about.span.End)}, key)
			}
			from = to
		}
		got := make(map[string]counted)
		for device := range x.rows {
			for number, r := range x.rows[device].rows {
				key := x.rows[device].keys[number]
				got[fmt.Sprint(device, key)] = counted{r.NS, r.Count, r.MaxNS, r.ShortGapsNS}
				for i := range x.first[device] {
					if s := x.first[device][i].rows[int32(number)]; s != nil {
						got[fmt.Sprint(device, key, i)] = counted{s.NS, s.Count, 0, s.ShortGapsNS}
					}
				}
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: got %v, want %v", round, got, want)
		}
	}
}

// count counts one part of a question.
func count(want map[string]counted, x *idleness, about question, part interval.Span, key idleKey) {
	add := func(at string, ns, longest int64) {
		c := want[at]
		c.ns, c.count, c.longest = c.ns+ns, c.count+1, max(c.longest, longest)
		if about.mark.short() {
			c.short += ns
		}
		want[at] = c
	}
	if part.Start >= part.End {
		return
	}
	add(fmt.Sprint(about.device, key), part.Len(), part.Len())
	for i, st := range x.first[about.device] {
		if in := (interval.Span{Start: max(part.Start, st.span.Start), End: min(part.End, st.span.End)}); in.Start < in.End {
			add(fmt.Sprint(about.device, key, i), in.Len(), 0)
		}
	}
}
