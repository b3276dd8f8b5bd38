package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/diag"
)

// stack makes frames of names.
func stack(names ...string) (out []Frame) {
	for _, n := range names {
		out = append(out, Frame{Name: n})
	}
	return out
}

var gpuColumns = []Column{{Name: "count", Unit: "count"}, {Name: "gpu", Unit: "nanoseconds"}}

func TestBuilder(t *testing.T) {
	b := NewBuilder(gpuColumns...)
	rank := []Label{{Key: "rank", Text: "0"}, {Key: "bytes", Number: 8, Unit: "bytes"}}
	b.Add(stack("step", "gemm"), nil, 1, 10)
	b.Add(stack("step"), nil, 1, 5)
	b.Add(stack("step", "gemm"), nil, 2, 30)
	b.Add(stack("step", "gemm"), rank, 1, 7)
	b.Add(stack("step", "gemm"), []Label{rank[1], rank[0]}, 1, math.MaxInt64)
	b.Add([]Frame{{"step", "b.py", 2}}, nil, 1, 1)
	b.Add([]Frame{{"step", "b.py", 1}}, nil, 1, 2)
	b.Add(nil, nil, 1, 3)
	// Frames that read alike in one line are not the same stack.
	b.Add(stack("st", "ep"), nil, 1, 4)
	sortedRank := []Label{rank[1], rank[0]}
	want := []Sample{
		{nil, []int64{1, 3}, nil},
		{stack("st", "ep"), []int64{1, 4}, nil},
		{stack("step"), []int64{1, 5}, nil},
		{stack("step", "gemm"), []int64{3, 40}, nil},
		{stack("step", "gemm"), []int64{2, math.MaxInt64}, sortedRank},
		{[]Frame{{"step", "b.py", 1}}, []int64{1, 2}, nil},
		{[]Frame{{"step", "b.py", 2}}, []int64{1, 1}, nil},
	}
	p := b.Profile()
	if diff := cmp.Diff(want, p.Samples); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	if p.Sum(0) != 10 || p.Sum(1) != math.MaxInt64 {
		t.Errorf("sums %d and %d", p.Sum(0), p.Sum(1))
	}
	// What was returned does not change when more is added.
	b.Add(stack("step"), nil, 1, 1)
	if p.Samples[2].Values[1] != 5 {
		t.Error("a finished profile changed")
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong number of values was taken")
		}
	}()
	b.Add(nil, nil, 1)
}

// TestBuilderOrder: whatever order costs come in, the profile is the same, and
// sums are those of a map by printed stack.
func TestBuilderOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		in := random(rnd)
		want := make(map[string]int64)
		for _, s := range in.Samples {
			want[fmt.Sprintf("%#v %#v", s.Stack, s.Labels)] += s.Values[1]
		}
		var got [2]*Profile
		for i := range got {
			rnd.Shuffle(len(in.Samples), func(i, j int) { in.Samples[i], in.Samples[j] = in.Samples[j], in.Samples[i] })
			b := NewBuilder(in.Columns...)
			for _, s := range in.Samples {
				b.Add(s.Stack, s.Labels, s.Values...)
			}
			got[i] = b.Profile()
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Fatalf("one order(-) another(+)\n%s", diff)
		}
		sums := make(map[string]int64)
		for _, s := range got[0].Samples {
			key := fmt.Sprintf("%#v %#v", s.Stack, s.Labels)
			if _, again := sums[key]; again {
				t.Fatalf("two samples of %s", key)
			}
			sums[key] = s.Values[1]
		}
		if diff := cmp.Diff(want, sums); diff != "" {
			t.Fatalf("want(-) got(+)\n%s", diff)
		}
	}
}

// random makes a profile of few names, so that stacks repeat.
func random(rnd *rand.Rand) *Profile {
	p := &Profile{
		Columns: gpuColumns, Default: rnd.IntN(2), Source: "run.json.gz", Time: rnd.Int64N(3) * 1e18,
		Duration: rnd.Int64N(1e12), Comments: []string{"one", "two"}[:rnd.IntN(3)],
	}
	if len(p.Comments) == 0 {
		p.Comments = nil
	}
	names := []string{"step", "void at::native::f<float, (a)>(int)", "Memcpy HtoD (Pageable -> Device)", "a;b", "é", "nn.Module: Linear_0"}
	keys := []string{"device", "rank"}
	for range rnd.IntN(20) {
		s := Sample{Values: []int64{rnd.Int64N(5), rnd.Int64N(1 << 40)}}
		for range rnd.IntN(5) {
			s.Stack = append(s.Stack, Frame{names[rnd.IntN(len(names))], []string{"", "train.py"}[rnd.IntN(2)], rnd.Int64N(3)})
		}
		for range rnd.IntN(3) {
			s.Labels = append(s.Labels, []Label{
				{Key: keys[rnd.IntN(2)], Text: names[rnd.IntN(len(names))]},
				{Key: keys[rnd.IntN(2)], Number: 1 + rnd.Int64N(3)},
				{Key: keys[rnd.IntN(2)], Number: rnd.Int64N(3), Unit: "bytes"},
			}[rnd.IntN(3)])
		}
		s.Labels = sorted(s.Labels, nil)
		p.Samples = append(p.Samples, s)
	}
	return p
}

func TestUnderAndMerge(t *testing.T) {
	part := func(ns int64, names ...string) *Profile {
		b := NewBuilder(gpuColumns...)
		b.Add(stack(names...), []Label{{Key: "stream", Text: "7"}}, 1, ns)
		p := b.Profile()
		p.Default, p.Source, p.Time, p.Duration = 1, "a.json", 100*ns, 5+ns
		p.Comments = []string{fmt.Sprint(ns)}
		p.Issues = []diag.Issue{{Code: "some", Count: ns}}
		return p
	}
	a := part(1, "gemm").Under(Frame{Name: "rank 0"}, Label{Key: "rank", Text: "0"})
	want := Sample{stack("rank 0", "gemm"), []int64{1, 1}, []Label{{Key: "rank", Text: "0"}, {Key: "stream", Text: "7"}}}
	if diff := cmp.Diff([]Sample{want}, a.Samples); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	got, err := Merge(part(3, "gemm"), part(2, "copy"), part(4, "gemm"))
	if err != nil {
		t.Fatal(err)
	}
	stream := []Label{{Key: "stream", Text: "7"}}
	if diff := cmp.Diff(&Profile{
		Columns: gpuColumns, Default: 1, Source: "a.json", Time: 200, Duration: 9, Comments: []string{"3", "2", "4"},
		Samples: []Sample{{stack("copy"), []int64{1, 2}, stream}, {stack("gemm"), []int64{2, 7}, stream}},
		Issues:  []diag.Issue{{Code: "some", Count: 9}},
	}, got); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}

	other := part(1)
	other.Source, other.Time = "b.json", 0
	if got, err := Merge(other, part(2)); err != nil || got.Source != "" || got.Time != 200 {
		t.Errorf("source %q, time %d, %v; want none and the only known one", got.Source, got.Time, err)
	}
	other.Columns = []Column{{Name: "count", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}
	if _, err := Merge(part(1), other); err == nil {
		t.Error("profiles of different columns were merged")
	}
	other.Samples[0].Values = nil
	if _, err := Merge(other); err == nil {
		t.Error("a sample without values was merged")
	}
	if p, err := Merge(); err != nil || len(p.Samples) != 0 {
		t.Errorf("nothing merged is %+v, %v", p, err)
	}
}

func TestCheck(t *testing.T) {
	for _, p := range []Profile{
		{Default: 1}, {Default: -1}, {Columns: gpuColumns, Default: 2},
		{Columns: gpuColumns, Samples: []Sample{{Values: []int64{1}}}},
	} {
		if p.Check() == nil {
			t.Errorf("nothing is wrong with %+v", p)
		}
	}
	p := Profile{Columns: gpuColumns}
	if i, ok := p.Column("gpu"); i != 1 || !ok {
		t.Errorf("column gpu is %d, %v", i, ok)
	}
	if _, ok := p.Column("cpu"); ok {
		t.Error("there is a column cpu")
	}
}

func TestPlus(t *testing.T) {
	for _, tt := range [][3]int64{
		{1, 2, 3}, {math.MaxInt64, 1, math.MaxInt64}, {math.MinInt64, -1, math.MinInt64}, {math.MaxInt64, math.MinInt64, -1},
	} {
		if got := Plus(tt[0], tt[1]); got != tt[2] || Plus(tt[1], tt[0]) != got {
			t.Errorf("%d + %d = %d", tt[0], tt[1], got)
		}
	}
}

func TestUnderLeavesItsProfile(t *testing.T) {
	labels := make([]Label, 1, 4)
	labels[0] = Label{Key: "z", Text: "1"}
	p := &Profile{Columns: gpuColumns, Samples: []Sample{{Stack: stack("k"), Values: []int64{1, 2}, Labels: labels}}}
	before := slices.Clone(p.Samples)
	p.Under(Frame{Name: "x"}, Label{Key: "a", Text: "1"})
	if diff := cmp.Diff(before, p.Samples); diff != "" || labels[0].Key != "z" {
		t.Errorf("changed: %s", diff)
	}
}
