package profile_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/analyze"
	profilerows "assay/analyze/profile"
	"assay/internal/profile"
	"assay/summary"
)

// stackOf returns the frames of "a;b;c".
func stackOf(text string) (out []profile.Frame) {
	if text == "" {
		return nil
	}
	for _, name := range strings.Split(text, ";") {
		name, file, _ := strings.Cut(name, "@")
		out = append(out, profile.Frame{Name: name, File: file, Line: int64(len(out))})
	}
	return out
}

func profileOf(columns []profile.Column, samples map[string][]int64) *profile.Profile {
	p := &profile.Profile{Columns: columns, Default: len(columns) - 1}
	for stack, values := range samples {
		p.Samples = append(p.Samples, profile.Sample{Stack: stackOf(stack), Values: values})
	}
	return p
}

// TestProfile: a function that calls itself counts once, lines do not make
// functions, files do, and a sample without a stack is one too.
func TestProfile(t *testing.T) {
	p := profileOf([]profile.Column{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, map[string][]int64{
		"main;f;g":   {1, 10},
		"main;f;f;g": {2, 20},
		"main;g;f":   {1, 5},
		"main":       {1, 7},
		"main;f@x.c": {1, 3},
		"":           {1, 2},
	})
	p.Duration = 99
	s := analyze.Profile(p, summary.Input{Path: "p", Format: "pprof"}, analyze.DefaultOptions())
	if in := s.Inputs[0]; in.Events != 6 || !in.Complete || in.SpanNS != 99 {
		t.Errorf("the input is %+v", in)
	}
	got := map[string]string{}
	for _, r := range s.Tables[0].Rows {
		key := r.Name
		if file := r.Labels["file"]; file != "" {
			key += "@" + file
		}
		got[key] = fmt.Sprint(*r.Values[0], " ", *r.Values[1], " ", *r.Values[2])
	}
	want := map[string]string{"main": "7 45 1", "f": "5 35 1", "g": "30 35 3", "f@x.c": "3 3 1", "(no stack)": "2 2 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	if table := s.Tables[0]; table.Of != summary.OfFunction || table.Clock != summary.ClockCPU || table.Name != "cpu" || table.Columns[2].Name != "samples" {
		t.Errorf("the table is %+v", table)
	}
	calls := map[string]int64{}
	for _, r := range s.Tables[1].Rows {
		calls[r.Labels["caller"]+">"+r.Name+r.Labels["file"]] = *r.Values[0]
	}
	if diff := cmp.Diff(map[string]int64{"main>f": 30, "f>g": 30, "main>g": 5, "g>f": 5, "main>fx.c": 3}, calls); diff != "" {
		t.Errorf("calls: want(-) got(+)\n%s", diff)
	}
}

// A slowNode is a node of the tree of all stacks, which Profile never makes.
type slowNode struct {
	value    int64
	children map[string]*slowNode
}

// TestFlame compares the limited tree with the complete one: nodes that are kept
// have their exact value, and the added up rest is the sum of the others.
func TestFlame(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		samples := map[string][]int64{}
		root := &slowNode{children: map[string]*slowNode{}}
		for range 1 + rnd.IntN(60) {
			var names []string
			for range 1 + rnd.IntN(5) {
				names = append(names, string(rune('a'+rnd.IntN(4))))
			}
			stack := strings.Join(names, ";")
			if samples[stack] != nil {
				continue
			}
			v := 1 + rnd.Int64N(1<<uint(rnd.IntN(14)))
			samples[stack] = []int64{v}
			at := root
			at.value += v
			for _, name := range names {
				if at.children[name] == nil {
					at.children[name] = &slowNode{children: map[string]*slowNode{}}
				}
				at = at.children[name]
				at.value += v
			}
		}
		s := analyze.Profile(profileOf([]profile.Column{{Name: "cpu", Unit: "nanoseconds"}}, samples), summary.Input{}, analyze.DefaultOptions())
		f := s.Flames[0]
		if f.Total != root.value {
			t.Fatalf("total %d, want %d", f.Total, root.value)
		}
		compareFlame(t, f.Nodes, 0, root, f.Total)
	}
}

// compareFlame compares the nodes of one depth with the children of a node of the
// whole tree, and goes on below them.
func compareFlame(t *testing.T, nodes []summary.FlameNode, depth int, whole *slowNode, total int64) {
	t.Helper()
	left, hidden := int64(len(whole.children)), int64(0)
	for _, c := range whole.children {
		hidden += c.value
	}
	last := int64(math.MaxInt64)
	for i := 0; i < len(nodes); {
		n := nodes[i]
		end := i + 1
		for end < len(nodes) && nodes[end].Depth > depth {
			end++
		}
		switch c := whole.children[n.Name]; {
		case n.Depth != depth:
			t.Fatalf("depth %d, want %d", n.Depth, depth)
		case n.Others > 0:
			if n.Others != left || n.Value != hidden || end != len(nodes) {
				t.Errorf("%+v stands for %d functions with %d", n, left, hidden)
			}
			left, hidden = 0, 0
		case c == nil || c.value != n.Value || n.Value > last || n.Value < total/profilerows.FlameParts:
			t.Errorf("%+v behind one of %d, want %+v", n, last, c)
		default:
			left, hidden, last = left-1, hidden-c.value, n.Value
			compareFlame(t, nodes[i+1:end], depth+1, c, total)
		}
		i = end
	}
	if left != 0 || hidden != 0 {
		t.Errorf("%d functions with %d are nowhere", left, hidden)
	}
}

// TestFlameLimits: a tree that is too wide or too deep is cut where it is small,
// and its sums stand.
func TestFlameLimits(t *testing.T) {
	deep := strings.TrimSuffix(strings.Repeat("f;", 300), ";")
	samples := map[string][]int64{deep: {1000}, "wide": {1}}
	for i := range 5000 {
		samples[fmt.Sprintf("wide;%d", i)] = []int64{3}
		samples[fmt.Sprintf("%s;%d", strings.Repeat("n", 9000), i%200)] = []int64{80}
	}
	s := analyze.Profile(profileOf([]profile.Column{{Name: "cpu", Unit: "nanoseconds"}}, samples), summary.Input{}, analyze.DefaultOptions())
	f := s.Flames[0]
	most, text := 0, 0
	for _, n := range f.Nodes {
		most, text = max(most, n.Depth), text+len(n.Name)
	}
	if len(f.Nodes) > 2*profilerows.FlameNodes || most != profilerows.FlameDepth || text > profilerows.FlameText {
		t.Errorf("%d nodes, %d levels, %d bytes of names", len(f.Nodes), most, text)
	}
	if _, err := summary.Read(strings.NewReader(jsonOf(t, s)), "s"); err != nil {
		t.Error(err)
	}
}

func TestProfileOdd(t *testing.T) {
	ns := []profile.Column{{Name: "cpu", Unit: "nanoseconds"}}
	s := analyze.Profile(profileOf(ns, map[string][]int64{"a;b": {5}, "a;c": {-3}}), summary.Input{}, analyze.DefaultOptions())
	if len(s.Issues) != 1 || s.Issues[0].Code != "negative-values" || s.Flames[0].Total != 5 {
		t.Errorf("below zero: %+v, %+v", s.Issues, s.Flames)
	}
	s = analyze.Profile(profileOf(ns, map[string][]int64{"a": {math.MaxInt64}, "b": {math.MaxInt64}}), summary.Input{}, analyze.DefaultOptions())
	if len(s.Flames) != 0 || len(s.Issues) != 1 || s.Issues[0].Code != "sum-overflow" {
		t.Errorf("beyond 64 bits: %+v, %+v", s.Issues, s.Flames)
	}
	for _, p := range []*profile.Profile{{}, {Columns: ns}} {
		if s := analyze.Profile(p, summary.Input{}, analyze.DefaultOptions()); len(s.Flames) != 0 || len(s.Tables) > 0 && len(s.Tables[0].Rows) != 0 {
			t.Errorf("nothing is %+v", s)
		}
	}
	opt := analyze.DefaultOptions()
	opt.MaxRows = 2
	s = analyze.Profile(profileOf(ns, map[string][]int64{"a": {5}, "b": {4}, "c": {3}, "d": {2}}), summary.Input{}, opt)
	table := s.Tables[0]
	sum, _ := table.Sum(0)
	if len(table.Rows) != 2 || table.Left != 2 || sum != 14 || table.Rest[1] != nil || !slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Code == "table-rows-pooled" && is.Count == 2 }) {
		t.Errorf("pooled: %+v, %+v", table, s.Issues)
	}
}

func jsonOf(t *testing.T, s *summary.Summary) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
