package judge

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/summary"
)

func texts(steps []Step) (out []string) {
	for _, s := range steps {
		out = append(out, s.Text())
	}
	return out
}

func ids(steps []Step) (out []string) {
	for _, s := range steps {
		out = append(out, s.ID)
	}
	return out
}

var blanksOf = regexp.MustCompile(`\{([^}]*)\}`)

// blanks returns the blanks of a text, sorted.
func blanks(text string) (out []string) {
	for _, m := range blanksOf.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestAdviceInSource reads the source of the package: every call of advise names a
// remedy of a rule and fills in its blanks, every remedy is named by a
// call, a replacement or a stack, and no other code makes steps.
func TestAdviceInSource(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	book := builtIn().remedies
	used := map[string]bool{}
	for id, r := range book {
		used[r.Nsys], used[r.Plain] = true, true
		used[id] = used[id] || len(r.With) > 0
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if fun, ok := n.Fun.(*ast.Ident); ok && fun.Name == "advise" {
					if id, wrong := checkAdvise(n, book); wrong != "" {
						t.Errorf("%s: advise(%q): %s", set.Position(n.Pos()), id, wrong)
					} else {
						used[id] = true
					}
				}
			case *ast.CompositeLit:
				if typ, ok := n.Type.(*ast.Ident); ok && typ.Name == "Step" && name != "remedies.go" {
					t.Errorf("%s: a step is made without advise", set.Position(n.Pos()))
				}
			}
			return true
		})
	}
	for id := range book {
		if !used[id] {
			t.Errorf("no code gives %q", id)
		}
	}
}

// checkAdvise returns the id that a call of advise names, and what is wrong with the
// call.
func checkAdvise(call *ast.CallExpr, book map[string]*remedyEntry) (id, wrong string) {
	literal := func(e ast.Expr) string {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			return text
		}
		return ""
	}
	id = literal(call.Args[0])
	if book[id] == nil {
		return id, "not a remedy of a rule"
	}
	var filled []string
	for i := 1; i < len(call.Args); i += 2 {
		filled = append(filled, literal(call.Args[i]))
		if i+1 < len(call.Args) && literal(call.Args[i+1]) != "" {
			return id, "fills in words that belong into the text"
		}
	}
	slices.Sort(filled)
	if want := blanks(book[id].Text); !slices.Equal(filled, want) || len(call.Args)%2 == 0 {
		return id, fmt.Sprintf("fills in %q, want %q", filled, want)
	}
	return id, ""
}

// TestAdviseIsChecked proves that [checkAdvise] rejects what it is for.
func TestAdviseIsChecked(t *testing.T) {
	book := map[string]*remedyEntry{"a": {Text: "Find rank {rank}."}}
	for src, ok := range map[string]bool{
		`advise("a", "rank", x)`: true, `advise("a")`: false, `advise("a", "rank")`: false, `advise("a", "device", x)`: false,
		`advise("a", "rank", x, "n", y)`: false, `advise("b")`: false, `advise("a", "rank", "three")`: false, `advise(name, "rank", x)`: false,
	} {
		expr, err := parser.ParseExpr(src)
		if err != nil {
			t.Fatal(err)
		}
		if _, wrong := checkAdvise(expr.(*ast.CallExpr), book); (wrong == "") != ok {
			t.Errorf("%s: %q", src, wrong)
		}
	}
}

// checkSteps checks that each step of a result has a text without blanks and a source,
// comes once, and is listed in the entry of its rule.
func checkSteps(t *testing.T, name string, r Result) {
	t.Helper()
	for _, f := range r.Findings {
		for i, s := range f.Next {
			entry := builtIn().remedies[s.ID]
			if entry == nil {
				t.Errorf("%s: %s gives %q, which is not a remedy", name, f.Rule, s.ID)
				continue
			}
			if !slices.Contains(builtIn().given(f.Rule), s.ID) {
				t.Errorf("%s: findings of %s give the remedy %q, which the entry of the rule neither defines nor names in also", name, f.Rule, s.ID)
			}
			if args := slices.Sorted(maps.Keys(s.Args)); !slices.Equal(args, blanks(entry.Text)) || s.Source() == (Source{}) {
				t.Errorf("%s: %s: %q has %q for the blanks of %q", name, f.Rule, s.ID, args, entry.Text)
			}
			if slices.ContainsFunc(f.Next[:i], s.equal) {
				t.Errorf("%s: %s gives %q twice", name, f.Rule, s.ID)
			}
		}
	}
}

// TestStepText fills in blanks, and leaves braces in what fills them in alone.
func TestStepText(t *testing.T) {
	s := advise("open-the-gap-of-a-file", "file", `"{time}.json"`, "time", "7 µs")
	if want := `Open "{time}.json" at 7 µs (start of the largest gap).`; !strings.HasPrefix(s.Text(), want) {
		t.Errorf("got %q, want %q", s.Text(), want)
	}
	if s := advise("find-the-late-rank", "rank", "3"); s.Source().URL != "docs/measures.md" || !strings.HasPrefix(s.Text(), "Find why rank 3 is late") {
		t.Errorf("%q comes from %+v", s.Text(), s.Source())
	}
	if got := (Step{ID: "unknown"}); got.Text() != "" || got.Source() != (Source{}) {
		t.Errorf("an unknown remedy says %q, from %+v", got.Text(), got.Source())
	}
}

// TestJoinSteps: a step is the same as another if its words are.
func TestJoinSteps(t *testing.T) {
	a, b := advise("find-the-late-rank", "rank", "1"), advise("find-the-late-rank", "rank", "2")
	got := joinSteps([]Step{a, b}, []Step{advise("find-the-late-rank", "rank", "2"), advise("launch-less")})
	if text := fmt.Sprint(got); text != "[{find-the-late-rank map[rank:1]} {find-the-late-rank map[rank:2]} {launch-less map[]}]" {
		t.Error(text)
	}
}

// TestSources: advice cites the page that it is about, whatever rule gives it.
func TestSources(t *testing.T) {
	for id, url := range map[string]string{
		"load-data-ahead": "/docs/stable/data.html", "schedule-garbage-collection": "/library/gc.html", "cache-results": "/library/functools.html",
		"check-by-sampling": "py-spy", "collect-all-counters": "NsightComputeCli", "expandable-segments": "/notes/cuda.html", "ddp-buckets": "DistributedDataParallel",
		"record-memory-history": "torch_cuda_memory", "overlap-loads": "ProfilingGuide",
	} {
		if got := advise(id).Source().URL; !strings.Contains(got, url) {
			t.Errorf("%s comes from %s, want %s", id, got, url)
		}
	}
	s := one(300, 200, 100)
	s.Phases = []summary.Phase{{Path: "generation", Activity: s.Devices[0].Activity, Total: s.Devices[0].Activity, Count: 1}}
	s.Issues = []summary.Issue{{Code: "x", Severity: "data-loss", Count: 1, Help: "record again"}}
	r := Judge(s, DefaultThresholds())
	if len(r.Findings) < 4 {
		t.Fatalf("%d findings, want 4", len(r.Findings))
	}
	checkSteps(t, "four parts", r)
}

// TestNsysSteps: options of torch.profiler are of no use with Nsight Systems.
func TestNsysSteps(t *testing.T) {
	for format, want := range map[string]string{"kineto": "record-whole-steps", "nsys-sqlite": "record-whole-steps-nsys"} {
		on := settingOf(&summary.Summary{Inputs: []summary.Input{{Format: format}}}, nil)
		got := on.stepsFor(RuleTooLittleWork, []Step{advise("record-whole-steps"), advise("look-around-the-events")})
		if !slices.Equal(ids(got), []string{want, "look-around-the-events"}) {
			t.Errorf("%s: %q", format, ids(got))
		}
	}
	both := &summary.Summary{Inputs: []summary.Input{{Format: "kineto"}, {Format: "nsys-sqlite"}}}
	if settingOf(both, nil).nsys || settingOf(&summary.Summary{}, nil).nsys {
		t.Error("inputs of PyTorch, or none, are taken for those of Nsight Systems")
	}
}
