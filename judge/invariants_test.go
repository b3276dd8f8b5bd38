package judge

import (
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/nsys"
	"assay/summary"
)

// corpusRuns returns the summaries of the corpus: every Kineto trace and other Chrome trace
// of it with a GPU, and every export of nsys. They are made once: tests only read them.
func corpusRuns(t *testing.T) (names []string, runs []*summary.Summary) {
	t.Helper()
	dir := test.Corpus(t)
	corpusRunsOnce.Do(func() { corpusRunsOnce.names, corpusRunsOnce.runs = readCorpus(t, dir) })
	return corpusRunsOnce.names, corpusRunsOnce.runs
}

var corpusRunsOnce struct {
	sync.Once
	names []string
	runs  []*summary.Summary
}

func readCorpus(t *testing.T, dir string) (names []string, runs []*summary.Summary) {
	t.Helper()
	for _, pattern := range []string{"kineto/*/*/*.json.gz", "kineto/*/*/*/*.json.gz", "ranks/*/*.json.gz",
		"formats/kineto/*.json.gz", "formats/chrome_other/*.json.gz", "inputs/*/*.json.gz", "nsight/*/*.sqlite", "ranks/*/*.sqlite"} {
		for i, path := range test.Files(t, filepath.Join(dir, pattern)) {
			if i%test.Every(3) != 0 {
				continue
			}
			if name, err := filepath.Rel(dir, path); err == nil {
				if s := anyCapture(t, path); s != nil {
					names, runs = append(names, name), append(runs, s)
				}
			}
		}
	}
	return names, runs
}

// anyCapture measures a capture of any format, or returns nil if that has no GPU.
func anyCapture(t *testing.T, path string) *summary.Summary {
	t.Helper()
	if !strings.HasSuffix(path, ".sqlite") {
		return readable(t, path)
	}
	tr, err := nsys.ReadSQLite(path, path, analyze.Needs())
	if err != nil || tr == nil {
		return nil
	}
	if s := analyze.Trace(tr, summary.Input{Path: path, Format: "nsys-sqlite"}, analyze.DefaultOptions()); len(s.Devices) > 0 {
		return s
	}
	return nil
}

// TestFirstFindingAgrees: if the verdict names a loss, the first finding about the window
// concerns the same part, and no finding about the window is worse.
func TestFirstFindingAgrees(t *testing.T) {
	names, runs, limits := treeRuns(t)
	moreNames, more := corpusRuns(t)
	names, runs = append(names, moreNames...), append(runs, more...)
	parts := map[finding.Bound]string{finding.BoundHost: tree.PartIdle, finding.BoundCommunication: tree.PartComm, finding.BoundCopies: tree.PartCopies}
	tested := map[finding.Bound]int{}
	for i, s := range runs {
		th := rule.DefaultThresholds()
		if i < len(limits) {
			th = limits[i]
		}
		r := evaluate(s, th)
		if len(r.Tree) < 4 || r.Tree[0].Part != tree.PartIdle || r.Verdict.Bound == finding.BoundUnknown {
			continue
		}
		of := partsOfRules(r.Tree)
		tested[r.Verdict.Bound]++
		part := parts[r.Verdict.Bound]
		if r.Verdict.Rule == rule.CPUCollectives {
			part = tree.PartIdle // the GPU waits, whatever the CPU exchanges
		}
		for n, f := range r.Findings {
			at, ok := of[f.Rule]
			if !ok {
				continue // on another basis
			}
			if part != "" && !slices.Contains(at, part) {
				t.Errorf("%s: %s-bound, and finding %d is of %q\n%s", names[i], r.Verdict.Bound, n+1, at, told(r))
			}
			if part != "" && f.Rule != r.Verdict.Rule {
				t.Errorf("%s: the verdict is by %s, and finding %d is of %s\n%s", names[i], r.Verdict.Rule, n+1, f.Rule, told(r))
			}
			break
		}
		for _, f := range r.Findings {
			if _, ok := of[f.Rule]; ok && part != "" && f.Level > find(t, r, r.Verdict.Rule).Level {
				t.Errorf("%s: %s is worse than %s, which decides\n%s", names[i], f.Rule, r.Verdict.Rule, told(r))
			}
		}
	}
	if tested[finding.BoundHost] < 50 || tested[finding.BoundCommunication] < 20 || tested[finding.BoundCopies] < 5 || tested[finding.BoundCompute] < 30 {
		t.Errorf("tested %v; the test tests little", tested)
	}
}

// partsOfRules returns the parts of the window that the rules of a tree are in.
func partsOfRules(list []finding.Node) map[string][]string {
	out := map[string][]string{}
	var note func([]finding.Node)
	note = func(list []finding.Node) {
		for _, n := range list {
			if slices.Contains([]string{tree.PartIdle, tree.PartComm, tree.PartCopies, tree.PartCompute}, n.Part) {
				out[n.Rule] = append(out[n.Rule], n.Part)
			}
			note(n.Causes)
		}
	}
	note(list)
	return out
}

// TestCausesAddUp: the causes of one part never have more time than it, and the largest
// loss is the one that decides.
func TestCausesAddUp(t *testing.T) {
	names, runs, limits := treeRuns(t)
	moreNames, more := corpusRuns(t)
	names, runs = append(names, moreNames...), append(runs, more...)
	for i, s := range runs {
		th := rule.DefaultThresholds()
		if i < len(limits) {
			th = limits[i]
		}
		for _, n := range evaluate(s, th).Tree {
			sum := int64(0)
			for _, k := range n.Causes {
				if k.Part == n.Part {
					sum += k.NS
				}
			}
			if n.OfNS > 0 && n.Part != "" && slices.Contains([]string{tree.PartIdle, tree.PartComm, tree.PartCopies, tree.PartCompute}, n.Part) && sum > n.NS && !withoutWarmUp(evaluate(s, th)) {
				t.Errorf("%s: the causes of %s have %d ns of %d", names[i], n.Rule, sum, n.NS)
			}
		}
	}
}

// TestTenTimesSlower: a run of which all times are ten times longer has the same parts, and
// the same findings of rules whose limits are shares of the window alone.
func TestTenTimesSlower(t *testing.T) {
	names, runs, limits := treeRuns(t)
	ofShares := []string{rule.GPUIdle, rule.ExposedComm, rule.ExposedCopies, rule.ComputeBound, rule.DataLoading, rule.Allocating, rule.OpaqueGraphs,
		rule.DominantKernel, rule.MemoryBandwidth, rule.StragglingRank}
	tested := 0
	for i, s := range runs {
		a, b := evaluate(s, limits[i]), evaluate(slower(t, s), limits[i])
		if a.Verdict.Bound == finding.BoundUnknown || b.Verdict.Bound == finding.BoundUnknown || len(a.Tree) < 4 {
			continue
		}
		tested++
		if a.Verdict.Bound != b.Verdict.Bound || a.Verdict.Rule != b.Verdict.Rule {
			t.Errorf("%s: %s by %s, ten times slower %s by %s", names[i], a.Verdict.Bound, a.Verdict.Rule, b.Verdict.Bound, b.Verdict.Rule)
		}
		for _, id := range ofShares {
			f, g := findingOf(a.Findings, id), findingOf(b.Findings, id)
			if (f == nil) != (g == nil) {
				t.Errorf("%s: %s is a finding at one speed only\n%s\nand\n%s", names[i], id, told(a), told(b))
			} else if f != nil && (f.Level != g.Level || math.Abs(f.Value-g.Value) > 1e-8) {
				t.Errorf("%s: %s is %s at %v, ten times slower %s at %v", names[i], id, f.Level, f.Value, g.Level, g.Value)
			}
		}
	}
	if tested < 250 {
		t.Errorf("%d runs; the test tests little", tested)
	}
}

// slower returns a summary with all times multiplied by ten, but not those of histograms,
// whose buckets have fixed limits.
func slower(t *testing.T, s *summary.Summary) *summary.Summary {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out := new(summary.Summary)
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	// Times since the first start of a device: ten times those since 1970 would be too large.
	first := int64(math.MaxInt64)
	for _, d := range out.Devices {
		first = min(first, d.StartNS)
	}
	scale(reflect.ValueOf(out).Elem(), false, first)
	return out
}

// scale multiplies lengths by ten, and moves moments to ten times their distance from first.
func scale(v reflect.Value, ns bool, first int64) {
	switch v.Kind() {
	case reflect.Int64:
		if ns && v.CanSet() {
			v.SetInt(v.Int() * 10)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			scale(v.Elem(), ns, first)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			scale(v.Index(i), ns, first)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[summary.Histogram]() {
			return
		}
		for i := range v.NumField() {
			name, field := v.Type().Field(i).Name, v.Field(i)
			if strings.HasSuffix(name, "StartNS") && field.Kind() == reflect.Int64 {
				field.SetInt(first + 10*(field.Int()-first))
				continue
			}
			scale(field, strings.HasSuffix(name, "NS") || name == "Activity" || name == "Total", first)
		}
	}
}
