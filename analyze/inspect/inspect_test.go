package inspect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/analyze/inspect"
	"assay/internal/label"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// A total is a number of operations and their time.
type total struct{ Count, NS, Min, Max int64 }

// TestKernels compares the answers about each name with what the scenario knows of it, and
// each instance with the JSON.
func TestKernels(t *testing.T) {
	presets(t, func(t *testing.T, sc tracegen.Scenario) {
		text, tr, truth := made(t, sc)
		o := read(t, text)
		want, gpu := map[string]total{}, int64(0)
		for _, d := range truth.Devices {
			for _, r := range slices.Concat(d.Kernels, d.Copies, d.Memsets) {
				w, seen := want[r.Name]
				if !seen {
					w.Min = r.MinNS
				}
				want[r.Name] = total{w.Count + r.Count, w.NS + r.TotalNS, min(w.Min, r.MinNS), max(w.Max, r.MaxNS)}
				gpu += r.TotalNS
			}
		}
		c := capture(tr)
		for name := range want {
			k := inspect.JoinKernels([]*inspect.Kernels{c.Kernels(name, 10)}, all)
			got := map[string]total{}
			for _, n := range k.Names {
				got[n.Name] = total{n.Count, n.TotalNS, n.MinNS, n.MaxNS}
			}
			expected, sum := map[string]total{}, total{}
			for other, w := range want {
				if label.Finds(name, other) {
					expected[other] = w
					sum.Count, sum.NS = sum.Count+w.Count, sum.NS+w.NS
				}
			}
			if diff := cmp.Diff(expected, got); diff != "" {
				t.Errorf("%q: truth(-) got(+)\n%s", name, diff)
			}
			if k.GPUNS != gpu || k.Count != sum.Count || k.TotalNS != sum.NS {
				t.Errorf("%q: %d operations, %d of %d ns, want %d, %d of %d", name, k.Count, k.TotalNS, k.GPUNS, sum.Count, sum.NS, gpu)
			}
			var sites total
			for _, s := range k.Sites {
				sites.Count, sites.NS = sites.Count+s.Count, sites.NS+s.TotalNS
			}
			if sites.Count != sum.Count || sites.NS != sum.NS {
				t.Errorf("%q: its sites have %d operations of %d ns, want %d of %d", name, sites.Count, sites.NS, sum.Count, sum.NS)
			}
			checkInstances(t, &o, name, k)
		}
	})
}

// checkInstances compares instances with the JSON: their order, their launches and what ran
// before and after on their streams.
func checkInstances(t *testing.T, o *oracle, pattern string, k *inspect.Kernels) {
	t.Helper()
	var lengths []int64
	for _, w := range o.work {
		if label.Finds(pattern, w.Name) {
			lengths = append(lengths, w.end-w.start)
		}
	}
	slices.Sort(lengths)
	slices.Reverse(lengths)
	if n := len(lengths); n > 0 && (k.MedianNS < lengths[n/2] || k.MedianNS > lengths[(n-1)/2]) {
		t.Errorf("%q: median %d of %v", pattern, k.MedianNS, lengths)
	}
	for i, in := range k.Longest {
		if in.NS != lengths[i] {
			t.Errorf("%q: instance %d takes %d ns, want %d", pattern, i, in.NS, lengths[i])
		}
		at := slices.IndexFunc(o.work, func(w event) bool {
			return w.start == in.StartNS && w.end-w.start == in.NS && w.Name == in.Name && number(w.Args.Stream) == in.Stream && number(w.Args.Device) == in.Device
		})
		if at < 0 {
			t.Errorf("%q: no event is instance %d at %d ns", pattern, i, in.StartNS)
			continue
		}
		call, ok := o.call(o.work[at])
		if ok != (in.Launch != nil) || ok && (in.Launch.Call != call.Name || in.Launch.NS != call.end-call.start || in.Launch.DelayNS != max(0, in.StartNS-call.start)) {
			t.Errorf("%q: instance %d was launched by %+v, want %s of %d ns", pattern, i, in.Launch, call.Name, call.start)
		}
		var before, after string
		for j, w := range o.work {
			if number(w.Args.Stream) != in.Stream || number(w.Args.Device) != in.Device || j == at {
				continue
			}
			if j < at {
				before = fmt.Sprint(w.Name, in.StartNS-w.end)
			} else if after == "" {
				after = fmt.Sprint(w.Name, w.start-in.StartNS-in.NS)
			}
		}
		for _, n := range []struct {
			got  *inspect.Neighbour
			want string
		}{{in.Before, before}, {in.After, after}} {
			got := ""
			if n.got != nil {
				got = fmt.Sprint(n.got.Name, n.got.ApartNS)
			}
			if got != n.want {
				t.Errorf("%q: instance %d has the neighbour %q, want %q", pattern, i, got, n.want)
			}
		}
	}
}

// TestLaunchingOps compares how often each operator launched each kernel with the program of the
// scenario, and the shapes of its arguments.
func TestLaunchingOps(t *testing.T) {
	presets(t, func(t *testing.T, sc tracegen.Scenario) {
		if sc.Dialect.Era >= tracegen.Era2023 {
			t.Skip("times of whole microseconds do not tell what is nested in what")
		}
		_, tr, _ := made(t, sc)
		want, shapes := map[string]int64{}, map[string]int64{}
		names := map[string]bool{}
		for _, d := range sc.Devices {
			for _, seg := range d.Program {
				for _, op := range seg.Ops {
					if op.Kind == tracegen.HostOnly || op.Graph != 0 || sc.CPUOnly {
						continue
					}
					names[op.Name] = true
					inner := ""
					if len(op.Host) > 0 {
						inner = op.Host[len(op.Host)-1]
					}
					want[op.Name+" in "+inner] += int64(sc.Steps)
					if len(op.Dims) > 0 && sc.Dialect.Shapes && inner != "" && op.Kind == tracegen.Compute {
						dims, _ := json.Marshal(op.Dims)
						key := op.Name + " in " + inner + " " + string(dims)
						shapes[key] += int64(sc.Steps)
					}
				}
			}
		}
		c := capture(tr)
		got := map[string]int64{}
		gotShapes := map[string]int64{}
		for name := range names {
			k := c.Kernels(name, 1)
			if len(k.Names) > 1 {
				delete(names, name) // others have names that contain it
				continue
			}
			for _, s := range k.Sites {
				got[name+" in "+s.Op] += s.Count
			}
			for _, s := range inspect.JoinKernels([]*inspect.Kernels{k}, all).Shapes {
				gotShapes[name+" in "+s.Op+" "+strings.ReplaceAll(strings.ReplaceAll(s.Dims, " ", ""), ",[]", "")] += s.Count
			}
		}
		for key, n := range want {
			name, _, _ := strings.Cut(key, " in ")
			if names[name] && got[key] != n {
				t.Errorf("%s: %d launches, want %d", key, got[key], n)
			}
		}
		for key, n := range shapes {
			name, _, _ := strings.Cut(key, " in ")
			if names[name] && gotShapes[key] != n {
				t.Errorf("shape %s: %d launches, want %d", key, gotShapes[key], n)
			}
		}
	})
}

// TestAsSummary compares the answers about all names with the summary, which is made in
// another way.
func TestAsSummary(t *testing.T) {
	presets(t, func(t *testing.T, sc tracegen.Scenario) {
		_, tr, _ := made(t, sc)
		compareWithSummary(t, tr)
	})
}

// compareWithSummary compares kernels and operators of a trace with its summary.
func compareWithSummary(t *testing.T, tr *trace.Trace) {
	t.Helper()
	s, c := measured(tr), capture(tr)
	kernels, byOp := map[string]total{}, map[string]total{}
	for _, r := range s.Kernels {
		if r.Name == summary.PooledKernels {
			t.Skip("the summary has not all kernels")
		}
		k := kernels[r.Name]
		kernels[r.Name] = total{Count: k.Count + r.Count, NS: k.NS + r.TotalNS}
		b := byOp[r.Op]
		byOp[r.Op] = total{Count: b.Count + r.Count, NS: b.NS + r.TotalNS}
	}
	for _, r := range s.Copies {
		k := kernels[r.Name]
		kernels[r.Name] = total{Count: k.Count + r.Count, NS: k.NS + r.TotalNS}
	}
	got, gotOps := map[string]total{}, map[string]total{}
	if k := c.Kernels("*", 3); len(k.Names) > 0 {
		k = inspect.JoinKernels([]*inspect.Kernels{k}, all)
		for _, n := range k.Names {
			got[n.Name] = total{Count: n.Count, NS: n.TotalNS}
		}
	}
	if diff := cmp.Diff(kernels, got); diff != "" {
		t.Errorf("summary(-) kernels(+)\n%s", diff)
	}
	if len(s.Copies) == 0 && len(s.Kernels) > 0 {
		for _, site := range c.Kernels("*", 3).Sites {
			b := gotOps[site.Op]
			gotOps[site.Op] = total{Count: b.Count + site.Count, NS: b.NS + site.TotalNS}
		}
		if diff := cmp.Diff(byOp, gotOps); diff != "" {
			t.Errorf("by operator: summary(-) sites(+)\n%s", diff)
		}
	}
	modules, gotModules := map[string]int64{}, map[string]int64{}
	for _, m := range s.Modules {
		if m.GPUSelfNS > 0 {
			modules[m.Path] += m.GPUSelfNS
		}
	}
	for _, site := range c.Kernels("*", 3).Sites {
		if site.Module != "" && site.TotalNS > 0 {
			gotModules[site.Module] += site.TotalNS
		}
	}
	if diff := cmp.Diff(modules, gotModules); diff != "" {
		t.Errorf("by module: summary(-) sites(+)\n%s", diff)
	}
	ops, want := map[string]inspect.OpSums{}, map[string]inspect.OpSums{}
	shapes, wantShapes := map[string]int64{}, map[string]int64{}
	for _, r := range s.Ops {
		want[r.Name] = inspect.OpSums{Count: r.Count, CPUNS: r.CPUTotalNS, GPUSelfNS: r.GPUSelfNS, GPUNS: r.GPUTotalNS}
		for _, x := range r.TopShapes {
			wantShapes[r.Name+x.Dims+x.Types] = x.GPUTotalNS
		}
	}
	if o := c.Ops("*", 3); !o.Ranges {
		for _, n := range o.Names {
			ops[n.Name] = n.OpSums
			for _, x := range n.Shapes {
				if key := n.Name + x.Dims + x.Types; wantShapes[key] > 0 {
					shapes[key] = x.GPUNS
				}
			}
		}
	}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Errorf("operators: summary(-) got(+)\n%s", diff)
	}
	if diff := cmp.Diff(wantShapes, shapes); diff != "" {
		t.Errorf("shapes: summary(-) got(+)\n%s", diff)
	}
}

// TestWindows adds the answers of adjoining windows up.
func TestWindows(t *testing.T) {
	_, tr, _ := made(t, tracegen.LLMTrainStep())
	span := analyze.Extent(tr)
	rnd := rand.New(rand.NewPCG(3, 0))
	whole := inspect.JoinKernels([]*inspect.Kernels{capture(tr).Kernels("gemm", 5)}, 5)
	ops := inspect.JoinOps([]*inspect.Ops{capture(tr).Ops("aten::mm", 5)}, 5)
	for range 5 {
		cuts := []int64{span.Start, span.End}
		for range 4 {
			cuts = append(cuts, span.Start+rnd.Int64N(span.Len()))
		}
		slices.Sort(cuts)
		var parts []*inspect.Kernels
		var sum inspect.OpSums
		for i := 1; i < len(cuts); i++ {
			part := inspect.New(tr, tr.Within(cuts[i-1], cuts[i]), inspect.Input{}, analyze.DefaultOptions())
			parts = append(parts, part.Kernels("gemm", 5))
			o := part.Ops("aten::mm", 5)
			sum.Count, sum.GPUSelfNS, sum.GPUNS = sum.Count+o.Count, sum.GPUSelfNS+o.GPUSelfNS, sum.GPUNS+o.GPUNS
		}
		joined := inspect.JoinKernels(parts, 5)
		if joined.Times.Count != whole.Count || joined.TotalNS != whole.TotalNS || joined.GPUNS != whole.GPUNS || joined.MedianNS != whole.MedianNS {
			t.Errorf("windows at %v: %d launches, %d ns, median %d, want %d, %d, %d", cuts, joined.Count, joined.TotalNS, joined.MedianNS, whole.Count, whole.TotalNS, whole.MedianNS)
		}
		if diff := cmp.Diff(instances(whole.Longest), instances(joined.Longest)); diff != "" {
			t.Errorf("windows at %v: the longest are: whole(-) joined(+)\n%s", cuts, diff)
		}
		if sum.Count != ops.Count || sum.GPUNS != ops.GPUNS || sum.GPUSelfNS != ops.GPUSelfNS {
			t.Errorf("windows at %v: operators %+v, want %d calls, %d and %d ns", cuts, sum, ops.Count, ops.GPUSelfNS, ops.GPUNS)
		}
	}
}

// instances returns what is the same in every window.
func instances(list []inspect.Instance) (out []string) {
	for _, k := range list {
		line, _ := json.Marshal([]any{k.Name, k.StartNS, k.AtNS, k.NS, k.Step, k.Launch, k.Before, k.After, k.Dims, k.Site})
		out = append(out, string(line))
	}
	return out
}

// TestJoin joins the answers of two inputs.
func TestJoin(t *testing.T) {
	_, tr, _ := made(t, tracegen.LLMTrainStep())
	first, second := capture(tr).Kernels("gemm", 4), inspect.New(tr, tr, inspect.Input{Index: 1, Rank: 1}, analyze.DefaultOptions()).Kernels("gemm", 4)
	one := inspect.JoinKernels([]*inspect.Kernels{capture(tr).Kernels("gemm", 4)}, 4)
	two := inspect.JoinKernels([]*inspect.Kernels{first, second}, 4)
	if two.Count != 2*one.Count || two.TotalNS != 2*one.TotalNS || two.MedianNS != one.MedianNS || two.GPUNS != 2*one.GPUNS || len(two.Longest) != 4 {
		t.Errorf("two inputs: %+v, want twice %+v", two.Times, one.Times)
	}
	if two.Longest[0].Rank != 0 || two.Longest[1].Rank != 1 || two.Longest[0].NS != two.Longest[1].NS {
		t.Errorf("the longest are of ranks %d and %d", two.Longest[0].Rank, two.Longest[1].Rank)
	}
	o := inspect.JoinOps([]*inspect.Ops{capture(tr).Ops("mm", 4), inspect.New(tr, tr, inspect.Input{Index: 1, Rank: 1}, analyze.DefaultOptions()).Ops("mm", 4)}, 4)
	if single := inspect.JoinOps([]*inspect.Ops{capture(tr).Ops("mm", 4)}, 4); o.Count != 2*single.Count || o.GPUNS != 2*single.GPUNS {
		t.Errorf("operators of two inputs: %d calls of %d ns, want twice %d of %d", o.Count, o.GPUNS, single.Count, single.GPUNS)
	}
}

// TestNearest asks for names that the trace does not have.
func TestNearest(t *testing.T) {
	_, tr, _ := made(t, tracegen.HostBound())
	c := capture(tr)
	if k := c.Kernels("laier_norm", 5).Instead; !k.Near || !strings.Contains(k.Names[0], "layer_norm") {
		t.Errorf("the nearest kernels are %+v", k)
	}
	if o := c.Ops("aten::ad", 5).Instead; len(o.Names) > 0 {
		t.Errorf("aten::ad is part of a name, but others are %+v", o)
	}
	if o := c.Ops("aten::itm", 5).Instead; !o.Near || !slices.Contains(o.Names, "aten::item") {
		t.Errorf("the nearest operators are %+v", o)
	}
	if k := c.Kernels("xylophone", 5).Instead; k.Near || len(k.Names) == 0 {
		t.Errorf("nothing is like a xylophone, but the nearest are %+v", k)
	}
}

// TestRanges asks for an annotation where there are operators, but none of that name.
func TestRanges(t *testing.T) {
	_, tr, truth := made(t, tracegen.LLMTrainStep())
	o := capture(tr).Ops("ProfilerStep*", 5)
	if !o.Ranges || o.Count != int64(len(truth.Steps)) {
		t.Errorf("%d ranges, want %d steps", o.Count, len(truth.Steps))
	}
}

// TestVeryName: an operator of the very name counts alone, and the answer says how many others
// have the name in theirs. A pattern finds them all.
func TestVeryName(t *testing.T) {
	_, tr, _ := made(t, tracegen.LLMTrainStep())
	containing := map[string]bool{}
	for _, o := range measured(tr).Ops {
		if strings.Contains(o.Name, "mm") {
			containing[o.Name] = true
		}
	}
	for _, name := range []string{"mm", "MM", "aten::mm"} {
		o := inspect.JoinOps([]*inspect.Ops{capture(tr).Ops(name, all)}, all)
		if len(o.Names) != 1 || o.Names[0].Name != "aten::mm" || !o.Exact {
			t.Errorf("%q finds %+v", name, o.Names)
		}
		if others := len(containing) - 1; name == "mm" && (others == 0 || o.Containing != others) {
			t.Errorf("%q: %d other names, want %d", name, o.Containing, others)
		}
	}
	if o := inspect.JoinOps([]*inspect.Ops{capture(tr).Ops("*mm*", all)}, all); o.Exact || len(o.Names) != len(containing) {
		t.Errorf("*mm* finds %d names, want %d", len(o.Names), len(containing))
	}
	// An input that has only the others adds nothing.
	one, none := capture(tr).Ops("mm", all), capture(tr).Ops("ddm", all)
	if o := inspect.JoinOps([]*inspect.Ops{one, none}, all); len(o.Names) != 1 || !o.Exact {
		t.Errorf("of two inputs: %+v", o.Names)
	}
}

// TestCategory: where no name has the pattern in it, it may be a category of kernels.
func TestCategory(t *testing.T) {
	_, tr, _ := made(t, tracegen.LLMTrainStep())
	var want total
	for _, k := range measured(tr).Kernels {
		if k.Category == "reduce-scatter" {
			want.Count, want.NS = want.Count+k.Count, want.NS+k.TotalNS
		}
	}
	k := inspect.JoinKernels([]*inspect.Kernels{capture(tr).Kernels("Reduce-Scatter", 3)}, 3)
	if want.Count == 0 || !k.Category || k.Count != want.Count || k.TotalNS != want.NS {
		t.Errorf("%d kernels of %d ns, want %d of %d", k.Count, k.TotalNS, want.Count, want.NS)
	}
	if k := capture(tr).Kernels("gemm", 3); k.Category || len(k.Names) == 0 {
		t.Error("a part of names is a category")
	}
}
