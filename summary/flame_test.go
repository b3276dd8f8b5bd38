package summary

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomFlame returns a tree in which the values of children sum to at most
// that of their parent.
func randomFlame(rnd *rand.Rand, in int) Flame {
	f := Flame{Input: in, Name: "cpu", Unit: "ns", Nodes: []FlameNode{}}
	var grow func(depth int, room int64)
	grow = func(depth int, room int64) {
		for range rnd.IntN(3) {
			n := FlameNode{Depth: depth, Name: string(rune('a' + rnd.IntN(3))), Value: rnd.Int64N(room + 1)}
			room -= n.Value
			f.Nodes = append(f.Nodes, n)
			if depth < 4 {
				grow(depth+1, n.Value)
			}
			if depth == 0 {
				f.Total += n.Value
			}
		}
	}
	grow(0, 1000)
	return f
}

// TestFlameCheck: every valid tree is accepted, and each violation is refused.
func TestFlameCheck(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		f := randomFlame(rnd, 0)
		if err := f.check(); err != nil {
			t.Fatalf("%v: %+v", err, f)
		}
	}
	for want, nodes := range map[string][]FlameNode{
		"roots sum to 3, total is 10":                             {{Depth: 0, Value: 3}},
		"nodes[0].depth: got 1, want 0 to 0":                      {{Depth: 1, Value: 3}},
		"nodes[1].depth: got 2, want 0 to 1":                      {{Depth: 0, Value: 10}, {Depth: 2, Value: 1}},
		"nodes[1].depth: got -1":                                  {{Depth: 0, Value: 10}, {Depth: -1, Value: 1}},
		"nodes[2].value: got 6, want 0 to 5, what its parent has": {{Depth: 0, Value: 10}, {Depth: 1, Value: 5}, {Depth: 1, Value: 6}},
		"nodes[0].value: got -1":                                  {{Depth: 0, Value: -1}},
		"nodes[1].value: got 1, want 0 to 0":                      {{Depth: 0, Value: 10}, {Depth: 0, Value: 1}},
	} {
		s := &Summary{Inputs: []Input{{}}, Flames: []Flame{{Total: 10, Nodes: nodes}}}
		if err := s.check(); err == nil || !strings.Contains(err.Error(), "flames[0].") || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", nodes, err, want)
		}
	}
	s := &Summary{Flames: []Flame{{Input: 1}}}
	if err := s.check(); err == nil || !strings.Contains(err.Error(), "flames[0].input") {
		t.Errorf("an input that is not there: %v", err)
	}
}

// TestFlameMerge: trees keep their inputs, and share no memory with their
// sources.
func TestFlameMerge(t *testing.T) {
	one := func(name string) *Summary {
		return &Summary{Inputs: []Input{{Path: name}}, Flames: []Flame{{Name: name, Total: 1, Nodes: []FlameNode{{Name: name, Value: 1}}}}}
	}
	a, b := one("a"), one("b")
	m := Merge(a, b)
	a.Flames[0].Nodes[0].Name = "changed"
	want := []Flame{{Input: 0, Name: "a", Total: 1, Nodes: []FlameNode{{Name: "a", Value: 1}}}, {Input: 1, Name: "b", Total: 1, Nodes: []FlameNode{{Name: "b", Value: 1}}}}
	if diff := cmp.Diff(want, m.Flames); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
}
