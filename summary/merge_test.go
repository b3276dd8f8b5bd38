package summary

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func ExampleMerge() {
	rank0 := &Summary{Inputs: []Input{{Path: "rank0.json"}}, Kernels: []Kernel{{Name: "gemm", TotalNS: 5}}}
	rank1 := &Summary{Inputs: []Input{{Path: "rank1.json"}}, Kernels: []Kernel{{Name: "gemm", TotalNS: 7}}}
	both := Merge(rank0, rank1)
	for _, k := range both.Kernels {
		fmt.Println(both.Inputs[k.Input].Path, k.Name, k.TotalNS)
	}
	// Output:
	// rank1.json gemm 7
	// rank0.json gemm 5
}

// TestMergeIsAMonoid: merging is associative, the empty summary is neutral, and
// merging does not change its arguments.
func TestMergeIsAMonoid(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a, b, c := randomSummary(rnd), randomSummary(rnd), randomSummary(rnd)
		before := text(t, a) + text(t, b) + text(t, c)
		all := Merge(a, b, c)
		for name, other := range map[string]*Summary{
			"(a b) c":     Merge(Merge(a, b), c),
			"a (b c)":     Merge(a, Merge(b, c)),
			"a b c empty": Merge(a, b, &Summary{}, c, nil, Merge()),
		} {
			if !reflect.DeepEqual(all, other) {
				t.Fatalf("a b c is\n%s\n%s is\n%s", text(t, all), name, text(t, other))
			}
		}
		if alone := Merge(a); !reflect.DeepEqual(Merge(&Summary{}, a), alone) || !reflect.DeepEqual(Merge(alone), alone) {
			t.Fatalf("the empty summary changes %s", text(t, alone))
		}
		scribble(all)
		if after := text(t, a) + text(t, b) + text(t, c); after != before {
			t.Fatalf("changing the result changed an argument from\n%s\nto\n%s", before, after)
		}
	}
}

// TestJoin: the result is that of Merge, and shares its rows with the list, which has
// none afterwards.
func TestJoin(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	shared := 0
	for range 300 {
		a, b, c := randomSummary(rnd), randomSummary(rnd), randomSummary(rnd)
		want := Merge(a, nil, b, &Summary{}, c)
		var pointers []*int64 // of the copies of a
		for i := range a.Copies {
			pointers = append(pointers, a.Copies[i].Bytes)
		}
		got := Join(a, nil, b, &Summary{}, c)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Join gives\n%s\nMerge gives\n%s", text(t, got), text(t, want))
		}
		for _, s := range []*Summary{a, b, c} {
			if !reflect.DeepEqual(s, &Summary{}) {
				t.Fatalf("a joined summary has %s", text(t, s))
			}
		}
		for i := range got.Copies {
			if slices.Contains(pointers, got.Copies[i].Bytes) {
				shared++
			}
		}
	}
	if shared == 0 {
		t.Error("the result has none of the rows of the list: they were copied")
	}
}

// TestMergeKeepsRows counts rows: none is lost, added up, or moved to another
// input.
func TestMergeKeepsRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		a, b := randomSummary(rnd), randomSummary(rnd)
		m := Merge(a, b)
		want := map[string]int{}
		for _, s := range []*Summary{a, b} {
			for _, k := range s.Kernels {
				want[s.Inputs[k.Input].Path+key(k)]++
			}
		}
		for _, k := range m.Kernels {
			want[m.Inputs[k.Input].Path+key(k)]--
		}
		for row, n := range want {
			if n != 0 {
				t.Fatalf("%s: %d rows too few", row, n)
			}
		}
		if got, want := len(m.Devices), len(a.Devices)+len(b.Devices); got != want {
			t.Fatalf("%d devices, want %d", got, want)
		}
	}
}

func key(k Kernel) string {
	k.Input = 0
	return fmt.Sprintf("%+v", k)
}

func TestMergeIssues(t *testing.T) {
	a := &Summary{Issues: []Issue{
		{Code: "b", Severity: "info", Count: 2, Help: "first help"},
		{Code: "c", Severity: "info", Count: 1},
	}}
	b := &Summary{Issues: []Issue{
		{Code: "b", Severity: "suspect", Count: 3, First: "x@7", Help: "second help"},
		{Code: "a", Severity: "data-loss", Count: 1},
		{Code: "new", Severity: "dire", Count: 1},
	}}
	want := []Issue{
		{Code: "b", Severity: "suspect", Count: 5, First: "x@7", Help: "first help"},
		{Code: "a", Severity: "data-loss", Count: 1},
		{Code: "c", Severity: "info", Count: 1},
		{Code: "new", Severity: "dire", Count: 1},
	}
	if got := Merge(a, b).Issues; !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestMergeOfNothing(t *testing.T) {
	want := `{"schema":"assay/summary/1","inputs":[],"devices":[],"kernels":[],"issues":[]}`
	if got := text(t, Merge()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSort: rows in any order are sorted into the same order, and kernels and
// steps are in the documented order.
func TestSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		s := Merge(randomSummary(rnd), randomSummary(rnd))
		want := text(t, s)
		for i := 1; i < len(s.Kernels); i++ {
			a, b := s.Kernels[i-1], s.Kernels[i]
			if a.TotalNS < b.TotalNS || a.TotalNS == b.TotalNS && a.Name > b.Name {
				t.Fatalf("kernel %+v before %+v", a, b)
			}
		}
		for i := 1; i < len(s.Steps); i++ {
			a, b := s.Steps[i-1], s.Steps[i]
			if a.Input == b.Input && a.Rank == b.Rank && a.Device == b.Device && a.StartNS > b.StartNS {
				t.Fatalf("step %+v before %+v", a, b)
			}
		}
		shuffle(rnd, s.Devices)
		shuffle(rnd, s.Streams)
		shuffle(rnd, s.Steps)
		shuffle(rnd, s.Kernels)
		shuffle(rnd, s.Copies)
		shuffle(rnd, s.CopyCalls)
		shuffle(rnd, s.Syncs)
		shuffle(rnd, s.Spans)
		shuffle(rnd, s.Issues)
		shuffle(rnd, s.Tables)
		for i := range s.Tables {
			shuffle(rnd, s.Tables[i].Rows)
		}
		if s.Sort(); text(t, s) != want {
			t.Fatalf("shuffled rows sort to\n%s\nwant\n%s", text(t, s), want)
		}
	}
}

func shuffle[T any](rnd *rand.Rand, rows []T) {
	rnd.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}

// scribble changes all memory that a summary points to.
func scribble(s *Summary) {
	for i := range s.Inputs {
		if p := s.Inputs[i].BaseTimeNS; p != nil {
			*p = -1
		}
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		for j := range d.Gaps.Buckets {
			d.Gaps.Buckets[j].Count = -1
		}
		for j := range d.Durations.Buckets {
			d.Durations.Buckets[j].Count = -1
		}
		clear(d.LargestGaps)
		if d.Utilization != nil {
			clear(d.Utilization.BusyNS)
			d.Utilization.ChunkNS = -1
		}
		if d.Strip != nil {
			for _, bins := range d.Strip.NS {
				clear(bins)
			}
			clear(d.Strip.NS)
			d.Strip.BinNS = -1
		}
	}
	for i := range s.CopyCalls {
		*s.CopyCalls[i].Bytes = -1
	}
	for i := range s.Copies {
		if p := s.Copies[i].Bytes; p != nil {
			*p = -1
		}
	}
	for i := range s.Tables {
		for _, r := range s.Tables[i].Rows {
			clear(r.Labels)
			scribbleValues(r.Values)
		}
		scribbleValues(s.Tables[i].Rest)
		clear(s.Tables[i].Columns)
		clear(s.Tables[i].Rows)
	}
	for i := range s.Flames {
		clear(s.Flames[i].Nodes)
	}
	clear(s.Kernels)
	clear(s.Issues)
}

// randomSummary returns a valid summary: every row has a unique key, and the
// cells sum to their windows. There are few different names, so that summaries
// share some.
func randomSummary(rnd *rand.Rand) *Summary {
	s := &Summary{Schema: Schema}
	for in := range rnd.IntN(3) {
		base := rnd.Int64()
		s.Inputs = append(s.Inputs, Input{Path: fmt.Sprint(rnd.Uint64()), Rank: rnd.IntN(2), BaseTimeNS: &base, SpanNS: rnd.Int64N(1e9)})
		for rank := range rnd.IntN(2) {
			for dev := range rnd.Int64N(3) {
				s.addDevice(rnd, in, rank, dev)
			}
			s.Tables = append(s.Tables, randomTable(rnd, in, rank))
			if rank == 0 {
				s.Flames = append(s.Flames, randomFlame(rnd, in))
			}
			s.Spans = append(s.Spans, Span{Name: fmt.Sprint("span", rnd.IntN(3)), Input: in, Rank: rank, Count: 1, SelfNS: rnd.Int64N(3)})
		}
	}
	for _, code := range []string{"a", "b", "c", "d"} {
		if rnd.IntN(2) == 0 {
			severity := []string{"info", "data-loss", "suspect", "of a later version"}[rnd.IntN(4)]
			first := []string{"", "x@1", "y@2"}[rnd.IntN(3)]
			s.Issues = append(s.Issues, Issue{code, severity, rnd.Int64N(9), first, fmt.Sprint("help", rnd.IntN(2))})
		}
	}
	return s
}

func (s *Summary) addDevice(rnd *rand.Rand, in, rank int, dev int64) {
	a := randomActivity(rnd)
	d := Device{Input: in, Rank: rank, Device: dev, Activity: a, WindowNS: a.Window()}
	for range rnd.IntN(4) {
		d.Gaps.Add(rnd.Int64N(1e6))
		d.Durations.Add(rnd.Int64N(1e6))
	}
	for i := range rnd.Int64N(3) {
		d.LargestGaps = append(d.LargestGaps, Gap{StartNS: rnd.Int64N(1e6), NS: 1e6 - i})
	}
	if rnd.IntN(2) == 0 {
		d.Strip = &Strip{BinNS: 10, NS: map[string][]int64{"compute": {rnd.Int64N(10), 5}}}
	}
	d.Utilization = randomUtilization(rnd, &d)
	s.Devices = append(s.Devices, d)
	s.Syncs = append(s.Syncs, Sync{Input: in, Rank: rank, Device: dev, Calls: 1, HostNS: rnd.Int64N(9), Longest: "cudaDeviceSynchronize"})
	for _, call := range []string{"", "cudaMemcpy", "cudaMemcpyAsync"} {
		for _, large := range []bool{false, true} {
			bytes := rnd.Int64N(100)
			s.CopyCalls = append(s.CopyCalls, CopyCall{Name: "Memcpy HtoD", Call: call, Class: "copy", Large: large, Input: in, Rank: rank, Device: dev,
				TotalNS: rnd.Int64N(3), Bytes: &bytes})
		}
	}
	for stream := range rnd.Int64N(3) {
		s.Streams = append(s.Streams, Stream{Input: in, Rank: rank, Device: dev, Stream: stream, Kernels: rnd.Int64N(9)})
		for _, name := range []string{"k1", "k2", "k3"} {
			// Few totals, so that ties are common.
			s.Kernels = append(s.Kernels, Kernel{Name: name, Class: "compute", Input: in, Rank: rank, Device: dev, Stream: stream,
				Op: []string{"", "aten::mm"}[rnd.IntN(2)], Count: 1, TotalNS: rnd.Int64N(3)})
		}
		bytes := rnd.Int64N(100)
		s.Copies = append(s.Copies, Copy{Name: "Memset", Class: "memset", Input: in, Rank: rank, Device: dev, Stream: stream, Bytes: &bytes})
	}
	for n := range rnd.Int64N(3) {
		step := randomActivity(rnd)
		s.Steps = append(s.Steps, Step{Input: in, Rank: rank, Device: dev, Name: fmt.Sprint("ProfilerStep#", n), Number: n,
			StartNS: rnd.Int64N(2), WallNS: step.Window(), Activity: step,
			Phases: []StepPhase{{Name: "data", NS: rnd.Int64N(step.Window() + 1)}}})
	}
	s.Phases = append(s.Phases, randomPhases(rnd, s.Devices[len(s.Devices)-1])...)
}

func text(t *testing.T, s *Summary) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
