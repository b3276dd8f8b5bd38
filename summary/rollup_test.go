package summary

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// ranksOf returns a summary of n ranks with rows of several kinds, whose names are few so
// that ranks share them, in random order of the inputs.
func ranksOf(rnd *rand.Rand, n int) *Summary {
	var list []*Summary
	for rank := range n {
		s := &Summary{Schema: Schema, Inputs: []Input{{Path: fmt.Sprintf("rank%d.json", rank), Rank: rank}}}
		var a Activity
		for i := range a {
			a[i] = rnd.Int64N(100)
		}
		s.Devices = []Device{{Rank: rank, Device: int64(rank % 8), WindowNS: a.Window(), Activity: a, Strip: &Strip{BinNS: 1}, LargestGaps: []Gap{{NS: 3}}}}
		s.Ranks = []RankWait{{Rank: rank, Device: int64(rank % 8), WaitNS: rnd.Int64N(50)}}
		pick := func(names ...string) string { return names[rnd.IntN(len(names))] }
		seen := map[string]bool{}
		for range rnd.IntN(12) {
			k := Kernel{Name: pick("a", "b", "c"), Class: pick("compute", "comm"), Category: pick("gemm", "other"), Op: pick("", "aten::mm"), Rank: rank, Device: int64(rank % 8),
				Stream: rnd.Int64N(3), Count: rnd.Int64N(9), TotalNS: rnd.Int64N(1000), MaxNS: rnd.Int64N(99)}
			if key := fmt.Sprint(k.Name, k.Class, k.Op, k.Stream); !seen[key] {
				seen[key] = true
				s.Kernels = append(s.Kernels, k)
			}
		}
		for _, name := range []string{"aten::mm", "aten::add", "record_param_comms"}[rnd.IntN(3):] {
			s.Ops = append(s.Ops, Op{Name: name, Rank: rank, Count: rnd.Int64N(9), CPUSelfNS: rnd.Int64N(500), GPUSelfNS: rnd.Int64N(500), Launched: 2})
			s.Idle = append(s.Idle, Idle{Rank: rank, Device: int64(rank % 8), Owner: "host-late", State: pick("operator", "python"), Name: name, NS: rnd.Int64N(700), Count: 1 + rnd.Int64N(5)})
			bytes := rnd.Int64N(5000)
			s.Copies = append(s.Copies, Copy{Name: name, Class: "copy", Rank: rank, Device: int64(rank % 8), Count: 2, TotalNS: rnd.Int64N(70), Bytes: &bytes})
		}
		for i := range 1 + rnd.IntN(4) {
			s.Steps = append(s.Steps, Step{Rank: rank, Device: int64(rank % 8), Name: fmt.Sprint("step ", i), Number: int64(i), StartNS: int64(i), WallNS: a.Window(), Activity: a})
		}
		list = append(list, s)
	}
	rnd.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return Join(list...)
}

// jobOf returns the job of all inputs of s, with the inputs of some ranks in full.
func jobOf(s *Summary, full ...int) (j Job) {
	for i, in := range s.Inputs {
		j.Inputs = append(j.Inputs, i)
		if slices.Contains(full, in.Rank) {
			j.Full = append(j.Full, i)
		}
	}
	return j
}

// TestRollUpSums: each sum is that of the rows, and the least, the most and the number of ranks are those of
// the sums of each rank. The expected values are added up rank by rank from the rows.
func TestRollUpSums(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		s := ranksOf(rnd, 2+rnd.IntN(9))
		r := s.RollUp([]Job{jobOf(s, 0)})
		byRank := map[string]map[int]int64{}
		counts, longest := map[string]int64{}, map[string]int64{}
		add := func(key string, rank int, count, ns, most int64) {
			if byRank[key] == nil {
				byRank[key] = map[int]int64{}
			}
			byRank[key][rank] += ns
			counts[key] += count
			longest[key] = max(longest[key], most)
		}
		for _, k := range s.Kernels {
			add(fmt.Sprint("kernels ", k.Name, k.Class, k.Category, k.Op), k.Rank, k.Count, k.TotalNS, k.MaxNS)
		}
		for _, o := range s.Ops {
			add("ops "+o.Name, o.Rank, o.Count, o.GPUSelfNS, 0)
		}
		for _, i := range s.Idle {
			add("idle "+i.Name+i.Owner+i.State, i.Rank, i.Count, i.NS, i.MaxNS)
		}
		for _, c := range s.Copies {
			add("copies "+c.Name+c.Class, c.Rank, c.Count, c.TotalNS, 0)
		}
		for _, st := range s.Steps {
			add("steps "+st.Name, st.Rank, 1, st.WallNS, 0)
		}
		for _, row := range r.Rolled {
			key := row.Of + " " + row.Name + row.Class + row.Category + row.Op + row.Owner + row.State
			want, sum := byRank[key], int64(0)
			var list []int64
			for _, ns := range want {
				list, sum = append(list, ns), sum+ns
			}
			if len(list) == 0 {
				t.Fatalf("%s has no rows", key)
			}
			if row.TotalNS != sum || row.Ranks != len(list) || row.LeastNS != slices.Min(list) || row.MostNS != slices.Max(list) || want[row.MostRank] != row.MostNS || row.Count != counts[key] || row.LongestNS != longest[key] {
				t.Fatalf("%s: got %+v, want count %d of %v", key, row, counts[key], want)
			}
			delete(byRank, key)
		}
		if len(byRank) > 0 {
			t.Fatalf("no sums of %v", byRank)
		}
	}
}

// TestRollUpRows: ranks in full keep all their rows, others those of devices without strips, and of steps.
func TestRollUpRows(t *testing.T) {
	s := ranksOf(rand.New(rand.NewPCG(5, 6)), 6)
	before := text(t, s)
	r := s.RollUp([]Job{jobOf(s, 2, 4)})
	if text(t, s) != before {
		t.Error("rolling up changed the summary")
	}
	for i, in := range r.Inputs {
		full := in.Rank == 2 || in.Rank == 4
		a, b := s.Only(i), r.Only(i)
		if full != (in.RolledUp == "") || full != (len(b.Devices[0].LargestGaps) > 0) || len(b.Steps) != len(a.Steps) || b.Devices[0].Activity != a.Devices[0].Activity {
			t.Errorf("rank %d: %+v", in.Rank, b)
		}
		if full && !reflect.DeepEqual(a.Kernels, b.Kernels) || !full && len(b.Kernels)+len(b.Ops)+len(b.Idle) > 0 {
			t.Errorf("rank %d has %d kernels, of %d", in.Rank, len(b.Kernels), len(a.Kernels))
		}
	}
	for i, row := range r.Ranks {
		d := s.Devices[slices.IndexFunc(s.Devices, func(d Device) bool { return d.Rank == row.Rank })]
		if *row.WindowNS != d.WindowNS || row.Budget.ComputeNS != d.Activity.Compute() || row.Budget.IdleNS != d.Activity.Idle() || row.WaitNS != s.Ranks[i].WaitNS {
			t.Errorf("the row of rank %d is %+v", row.Rank, row)
		}
		var steps, kernels, sum int64
		for _, st := range s.Steps {
			if st.Rank == row.Rank {
				steps++
			}
		}
		for _, k := range s.Kernels {
			if k.Rank == row.Rank {
				kernels += k.TotalNS
			}
		}
		for _, ns := range row.CategoryNS {
			sum += ns
		}
		if row.Steps.Count != steps || sum != kernels {
			t.Errorf("rank %d has %d steps and %d ns of kernels, want %d and %d", row.Rank, row.Steps.Count, sum, steps, kernels)
		}
	}
	for i := range 400 {
		s.Steps = append(s.Steps, slices.Repeat([]Step{{Input: 0, Rank: s.Inputs[0].Rank, Name: fmt.Sprint(i), StartNS: int64(i)}}, 6)...)
	}
	many := s.RollUp([]Job{jobOf(s, 2, 4)})
	for _, st := range many.Steps {
		if many.Inputs[st.Input].RolledUp != "" {
			t.Fatalf("over 2,000 steps, and rank %d has its own", st.Rank)
		}
	}
	for _, in := range many.Inputs {
		if full := in.Rank == 2 || in.Rank == 4; !full && in.RolledUp != RolledSteps {
			t.Errorf("rank %d is %q", in.Rank, in.RolledUp)
		}
	}
}

// TestRollUpOrder: the sums do not depend on the order of inputs, and rolling up again changes
// nothing.
func TestRollUpOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 9))
	for range 50 {
		s := ranksOf(rnd, 3+rnd.IntN(6))
		order := rnd.Perm(len(s.Inputs))
		other := s.Pick(order)
		a, b := s.RollUp([]Job{jobOf(s, 1)}), other.RollUp([]Job{jobOf(other, 1)})
		if !reflect.DeepEqual(a.Rolled, b.Rolled) {
			t.Fatalf("the order %v of inputs changes the sums from\n%+v\nto\n%+v", order, a.Rolled, b.Rolled)
		}
		for _, full := range [][]int{{1}, {0, 2}} {
			if again := a.RollUp([]Job{jobOf(a, full...)}); text(t, again) != text(t, a) {
				t.Fatal("rolling up again changes the summary")
			}
		}
		all := s.RollUp([]Job{jobOf(s, order...)})
		if again := all.RollUp([]Job{jobOf(all, order...)}); text(t, again) != text(t, all) || all.RolledUpInputs() != 0 || !reflect.DeepEqual(all.Rolled, a.Rolled) {
			t.Fatal("rolling up with all rows again changes the summary")
		}
	}
}

// TestUnrolled: the sums over all rows are those before the roll-up, and a part of the ranks is
// refused.
func TestUnrolled(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	sums := func(s *Summary) map[string]int64 {
		out := map[string]int64{}
		for _, k := range s.Kernels {
			out[k.Name+k.Class+k.Category+k.Op] += k.TotalNS
			out["count"] += k.Count
		}
		for _, i := range s.Idle {
			out["idle "+i.Name+i.State] += i.NS
		}
		for _, c := range s.Copies {
			out["bytes "+c.Name] += *c.Bytes
			out["copy "+c.Name] += c.TotalNS
		}
		return out
	}
	for range 100 {
		s := ranksOf(rnd, 4)
		r := s.RollUp([]Job{jobOf(s, 1)})
		u, err := Merge(r).Unrolled()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := sums(u), sums(s); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if len(u.Steps) != len(s.Steps) || len(u.Devices) != len(s.Devices) || len(u.Ops) > 0 {
			t.Fatalf("%d steps, %d devices, %d operators", len(u.Steps), len(u.Devices), len(u.Ops))
		}
		if whole, err := s.Unrolled(); whole != s || err != nil {
			t.Fatalf("a summary with all rows: %v", err)
		}
		if _, err := r.Pick([]int{0, 1, 2}).Unrolled(); err == nil {
			t.Fatal("3 of 4 ranks have the sums of all")
		}
		if two, err := Merge(s, r).Unrolled(); err != nil || sums(two)["count"] != 2*sums(s)["count"] {
			t.Fatalf("two runs, one of them rolled up: %v", err)
		}
	}
}

// TestRolledPool: rows over the limit are one row, and the sum is the same.
func TestRolledPool(t *testing.T) {
	s := &Summary{Inputs: []Input{{}, {Rank: 1}}}
	var want int64
	for i := range 3 * maxRolled {
		s.Kernels = append(s.Kernels, Kernel{Name: fmt.Sprint(i), Input: i % 2, Rank: i % 2, TotalNS: int64(i), Count: 1})
		want += int64(i)
	}
	r := s.RollUp([]Job{{Inputs: []int{0, 1}, Full: []int{0, 1}}})
	var got, count int64
	for _, row := range r.Rolled {
		got, count = got+row.TotalNS, count+row.Count
	}
	pooled := r.Rolled[slices.IndexFunc(r.Rolled, func(r Rolled) bool { return r.Name == PooledRows })]
	if len(r.Rolled) != maxRolled+1 || got != want || count != 3*maxRolled || pooled.Ranks != 2 || pooled.LeastNS+pooled.MostNS != pooled.TotalNS {
		t.Errorf("%d rows, %d ns, want %d; pooled %+v", len(r.Rolled), got, want, pooled)
	}
}

// TestEveryKindFolds: the table says of each kind what roll-up does, and rows that go have
// sums.
func TestEveryKindFolds(t *testing.T) {
	s := filled(1)
	r := s.RollUp([]Job{{Inputs: []int{0}}})
	summed := map[string]bool{}
	for _, row := range r.Rolled {
		summed[row.Of] = true
	}
	for _, k := range members {
		f := reflect.ValueOf(k).Elem().FieldByName("Fold").Uint()
		if f < uint64(stays) || f > uint64(away) {
			t.Errorf("the table does not say what roll-up does with %s", k.Name())
		}
		if (fold(f) == away || fold(f) == few) != summed[k.Name()] {
			t.Errorf("%s: fold %d, sums %v", k.Name(), f, summed[k.Name()])
		}
		if n := k.Len(r); (n == 0) != (fold(f) == away) && k.Name() != "rolled" {
			t.Errorf("%s: %d rows stay", k.Name(), n)
		}
	}
}
