package ranks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"assay/analyze/ranks/collective"
	"assay/summary"
)

// A truth is a run whose waits are known by construction: every rank of a group arrives
// at some time, and all leave when the last has come and the transfer is over.
type truth struct {
	ranks    int
	numbered bool    // the profiler recorded Seq
	named    bool    // groups have names and ranks
	offset   []int64 // by which the clock of each rank is ahead
	skip     []int   // collectives at the begin that each rank did not record
	groups   [][]int // ranks of each communicator

	// arrive returns when a rank arrives at collective n, after the others could.
	arrive func(rank, n int) int64
}

// A told is what the construction says of one rank.
type told struct{ transfer, wait, caused int64 }

// build returns the members and what is true of them over n collectives of each group.
func (tr truth) build(n int) ([]Member, []told) {
	members, want := make([]Member, tr.ranks), make([]told, tr.ranks)
	for r := range members {
		members[r] = Member{Input: r, Rank: r, Columns: &collective.Columns{}}
	}
	most := 0
	for _, s := range tr.skip {
		most = max(most, s)
	}
	now := int64(1_700_000_000_000_000_000)
	for i := range n {
		for g, ranks := range tr.groups {
			op, elements := collective.AllReduce, int64(1<<20)
			if i%7 == 3 {
				op, elements = collective.AllGather, 1<<18
			}
			transfer := int64(100_000 + 1_000*(i%5))
			last, begin := -1, make([]int64, len(ranks))
			for k, r := range ranks {
				begin[k] = now + tr.arrive(r, i)
				if last < 0 || begin[k] > begin[last] {
					last = k
				}
			}
			end := begin[last] + transfer
			named := collective.Group{Name: fmt.Sprint("group ", g), Ranks: fmt.Sprint(ranks), Size: len(ranks)}
			for k, r := range ranks {
				c := members[r].Columns
				if len(tr.skip) > 0 && i < tr.skip[r] {
					continue
				}
				run := collective.Run{Start: begin[k] + tr.offset[r], End: end + tr.offset[r], Seq: collective.NoSeq, Queued: collective.NoQueue}
				if tr.numbered {
					run.Seq = uint32(100 + i)
				}
				group := named
				if !tr.named {
					group = collective.Group{Name: fmt.Sprintf("%p", c) + fmt.Sprint(g), Size: len(ranks), Local: true}
				}
				run.What = tr.what(c, op, elements, group)
				c.Runs = append(c.Runs, run)
				if i < most {
					continue // not every rank recorded it
				}
				want[r].transfer += transfer
				want[r].wait += begin[last] - begin[k]
				if k == last {
					for _, b := range begin {
						want[r].caused += begin[last] - b
					}
				}
			}
			now = end + 50_000
		}
	}
	return members, want
}

func (truth) what(c *collective.Columns, op collective.Op, n int64, group collective.Group) uint32 {
	g := -1
	for i, have := range c.Groups {
		if have == group {
			g = i
		}
	}
	if g < 0 {
		g = len(c.Groups)
		c.Groups = append(c.Groups, group)
	}
	w := collective.What{Op: op, Dtype: "Float", In: n, Out: n, Group: int32(g), Peer: -1}
	for i, have := range c.Whats {
		if have == w {
			return uint32(i)
		}
	}
	c.Whats = append(c.Whats, w)
	return uint32(len(c.Whats) - 1)
}

// TestTruth compares waits, transfers and clocks with those that the runs were built
// from, to the nanosecond.
func TestTruth(t *testing.T) {
	all := func(n int) [][]int {
		one := make([]int, n)
		for i := range one {
			one[i] = i
		}
		return [][]int{one}
	}
	random := func(seed uint64, most int64) func(int, int) int64 {
		return func(r, n int) int64 {
			return rand.New(rand.NewPCG(seed, uint64(r*1_000_003+n))).Int64N(most)
		}
	}
	tensorData := [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2, 4, 6}, {1, 3, 5, 7}} // TP 2 × DP 4
	cases := map[string]truth{
		"even":                   {ranks: 4, numbered: true, named: true, groups: all(4), arrive: func(int, int) int64 { return 0 }},
		"slow rank":              {ranks: 8, numbered: true, named: true, groups: all(8), arrive: func(r, _ int) int64 { return map[int]int64{5: 2_000_000}[r] }},
		"in turn":                {ranks: 4, numbered: true, named: true, groups: all(4), arrive: func(r, n int) int64 { return map[bool]int64{true: 1_000_000}[n%4 == r] }},
		"random":                 {ranks: 6, numbered: true, named: true, groups: all(6), arrive: random(1, 3_000_000)},
		"no number":              {ranks: 6, named: true, groups: all(6), arrive: random(2, 3_000_000)},
		"no name":                {ranks: 6, groups: all(6), arrive: random(3, 3_000_000)},
		"begins later":           {ranks: 4, named: true, skip: []int{0, 5, 0, 33}, groups: all(4), arrive: random(4, 3_000_000)},
		"numbered, begins later": {ranks: 4, numbered: true, named: true, skip: []int{0, 5, 0, 33}, groups: all(4), arrive: random(4, 3_000_000)},
		"TP and DP":              {ranks: 8, numbered: true, named: true, groups: tensorData, arrive: random(5, 900_000)},
		"TP and DP, no names":    {ranks: 8, groups: [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, arrive: random(6, 900_000)},
	}
	for name, tr := range cases {
		t.Run(name, func(t *testing.T) {
			for _, clocks := range []int64{0, 5_000_000} {
				tr.offset = make([]int64, tr.ranks)
				for r := range tr.offset {
					tr.offset[r] = clocks * int64(r%3-1)
				}
				tr.check(t)
			}
		})
	}
}

func (tr truth) check(t *testing.T) {
	t.Helper()
	members, want := tr.build(200)
	j := Match(members)
	if j == nil {
		t.Fatal("nothing matched")
	}
	s := &summary.Summary{}
	j.AddTo(s)
	if len(s.Ranks) != tr.ranks {
		t.Fatalf("%d ranks, want %d", len(s.Ranks), tr.ranks)
	}
	reached := map[int]bool{0: true} // by chains of groups, from the first rank
	for range tr.groups {
		for _, g := range tr.groups {
			for _, r := range g {
				if reached[r] {
					for _, r := range g {
						reached[r] = true
					}
				}
			}
		}
	}
	if !tr.named { // without names, the groups of equal sizes look like one
		return
	}
	for r, row := range s.Ranks {
		if got := (told{row.TransferNS, row.WaitNS, row.CausedNS}); got != want[r] && !tr.tied(want) {
			t.Errorf("rank %d: %+v, want %+v", r, got, want[r])
		}
		if (row.OffsetNS != nil) != reached[r] {
			t.Errorf("rank %d: aligned is %v", r, row.OffsetNS != nil)
		}
		if row.OffsetNS != nil && *row.OffsetNS != tr.offset[r]-tr.offset[0] {
			t.Errorf("rank %d: the clock is %d ns ahead, want %d", r, *row.OffsetNS, tr.offset[r]-tr.offset[0])
		}
	}
	var transfer, wait, ofRanks, caused int64
	for _, c := range s.Collectives {
		transfer, wait = transfer+*c.TransferNS, wait+*c.WaitNS
	}
	for _, r := range s.Ranks {
		ofRanks, caused = ofRanks+r.WaitNS, caused+r.CausedNS
	}
	if wait != ofRanks || wait != caused {
		t.Errorf("waits sum to %d by collective, %d by rank and %d by who caused them", wait, ofRanks, caused)
	}
}

// tied reports whether all ranks arrive together, so that any of them is the last.
func (tr truth) tied(want []told) bool {
	for _, w := range want {
		if w.wait > 0 {
			return false
		}
	}
	return true
}

// TestAmbiguous: what cannot be identified is not matched.
func TestAmbiguous(t *testing.T) {
	tr := truth{ranks: 4, numbered: true, named: true, offset: make([]int64, 4), groups: [][]int{{0, 1}, {2, 3}}, arrive: func(r, _ int) int64 { return int64(r) * 100_000 }}
	members, _ := tr.build(20)
	for _, m := range members {
		for i := range m.Columns.Groups { // two communicators have the same name, and no ranks
			m.Columns.Groups[i].Name, m.Columns.Groups[i].Ranks = "tp", ""
		}
	}
	s := &summary.Summary{}
	Match(members).AddTo(s)
	for _, c := range s.Collectives {
		if c.Count != 0 || c.Incomplete == 0 || c.TransferNS != nil || c.MatchedBy != "" {
			t.Errorf("%+v", c)
		}
	}
	members[1].Rank = 0 // two inputs of one rank are two runs, or two parts of one
	if Match(members) != nil {
		t.Error("ranks given twice were matched")
	}
	if Match(members[:1]) != nil {
		t.Error("one rank was matched")
	}
}

// TestMissing: where ranks of a group are not given, or one lost records, sums have only
// what all given ranks recorded, and say so.
func TestMissing(t *testing.T) {
	tr := truth{ranks: 4, numbered: true, named: true, offset: make([]int64, 4), groups: [][]int{{0, 1, 2, 3}}, arrive: func(r, n int) int64 { return int64((r+n)%4) * 200_000 }}
	members, _ := tr.build(50)
	runs := members[2].Columns.Runs
	members[2].Columns.Runs = append(runs[:10:10], runs[15:]...)
	s := &summary.Summary{}
	Match(members[1:]).AddTo(s)
	count, incomplete := int64(0), int64(0)
	for _, c := range s.Collectives {
		count, incomplete = count+c.Count, incomplete+c.Incomplete
		if !c.Partial || c.Ranks != 3 || c.GroupSize != 4 || c.BusBWGBps != nil {
			t.Errorf("%+v", c)
		}
	}
	if count != 45 || incomplete != 5 {
		t.Errorf("%d complete and %d incomplete, want 45 and 5", count, incomplete)
	}
}

// TestDamagedTimes: no sum of damaged times is negative.
func TestDamagedTimes(t *testing.T) {
	tr := truth{ranks: 4, numbered: true, named: true, offset: make([]int64, 4), groups: [][]int{{0, 1, 2, 3}}, arrive: func(int, int) int64 { return 0 }}
	members, _ := tr.build(6)
	for i := range members {
		for k := range members[i].Columns.Runs {
			r := &members[i].Columns.Runs[k]
			r.Start, r.End = int64(i*k), math.MaxInt64-int64(i)
		}
	}
	s := &summary.Summary{}
	Match(members).AddTo(s)
	if len(s.Ranks) != 4 {
		t.Fatalf("%d rows of ranks, want 4", len(s.Ranks))
	}
	for _, r := range s.Ranks {
		if r.TransferNS < 0 || r.WaitNS < 0 || r.CausedNS < 0 {
			t.Errorf("%+v", r)
		}
	}
	for _, c := range s.Collectives {
		if *c.TransferNS < 0 || *c.WaitNS < 0 {
			t.Errorf("%+v", c)
		}
	}
}

// TestOrder: the order of inputs changes nothing.
func TestOrder(t *testing.T) {
	tr := truth{ranks: 5, named: true, offset: make([]int64, 5), groups: [][]int{{0, 1, 2, 3, 4}}, arrive: func(r, n int) int64 { return int64((3*r+n)%5) * 70_000 }}
	members, _ := tr.build(60)
	a, b := &summary.Summary{}, &summary.Summary{}
	Match(members).AddTo(a)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	Match(members).AddTo(b)
	if x, y := fmt.Sprintf("%+v", a.Ranks[3].WaitNS), fmt.Sprintf("%+v", b.Ranks[3].WaitNS); x != y || len(a.Collectives) != len(b.Collectives) {
		t.Errorf("%s and %s", x, y)
	}
}

// BenchmarkMatch joins 3,200 collectives of 1,000 ranks.
func BenchmarkMatch(b *testing.B) {
	one := make([]int, 1000)
	for i := range one {
		one[i] = i
	}
	tr := truth{ranks: 1000, numbered: true, named: true, offset: make([]int64, 1000), groups: [][]int{one}, arrive: func(r, n int) int64 { return int64((r*7+n)%1000) * 1000 }}
	members, _ := tr.build(3200)
	b.ResetTimer()
	for range b.N {
		start := time.Now()
		if j := Match(members); j == nil || len(j.groups[0].instances) != 3200 {
			b.Fatal("nothing matched")
		}
		b.ReportMetric(time.Since(start).Seconds(), "s/join")
	}
}

// TestSendRecvName: the operation has the name by which reports know it.
func TestSendRecvName(t *testing.T) {
	if got := collective.SendRecv.String(); got != summary.OpSendRecv {
		t.Errorf("send/recv is %q, want %q", got, summary.OpSendRecv)
	}
}
