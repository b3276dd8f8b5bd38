package rule

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/judge/finding"
	"assay/summary"
)

var blanksOf = regexp.MustCompile(`\{([^}]*)\}`)

// blanks returns the blanks of a text, sorted.
func blanks(text string) (out []string) {
	for _, m := range blanksOf.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestAdviceInSource reads the source of the judge: every call of Advise names a
// remedy of a rule and fills in its blanks, every remedy is named by a call, by another remedy
// or in what a rule gives, and no other code makes steps.
func TestAdviceInSource(t *testing.T) {
	files := test.Files(t, filepath.FromSlash("../*/*.go"))
	if len(files) < 30 {
		t.Fatal(files)
	}
	book := builtIn().remedies
	used := map[string]bool{}
	for _, r := range book {
		used[r.Else] = true
		if slices.ContainsFunc(r.When.Terms(), func(t Term) bool { return OfEvidence(t.Word) && !t.Not }) {
			used[r.ID] = true // by [Steps]
		}
	}
	for i := range builtInRules {
		for _, id := range builtInRules[i].Gives {
			used[id] = true
		}
		for _, c := range builtInRules[i].Say.Next {
			used[c.ID] = true
		}
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
				if isOfFinding(n.Fun, "Advise") {
					if id, wrong := checkAdvise(n, book); wrong != "" {
						t.Errorf("%s: Advise(%q): %s", set.Position(n.Pos()), id, wrong)
					} else {
						used[id] = true
					}
				}
			case *ast.CompositeLit:
				if isOfFinding(n.Type, "Step") && filepath.Base(filepath.Dir(name)) != "rule" {
					t.Errorf("%s: a step is made without Advise", set.Position(n.Pos()))
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

// isOfFinding reports whether an expression is a name of package finding.
func isOfFinding(e ast.Expr, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "finding"
}

// checkAdvise returns the id that a call of Advise names, and what is wrong with the
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
		`finding.Advise("a", "rank", x)`: true, `finding.Advise("a")`: false, `finding.Advise("a", "rank")`: false, `finding.Advise("a", "device", x)`: false,
		`finding.Advise("a", "rank", x, "n", y)`: false, `finding.Advise("b")`: false, `finding.Advise("a", "rank", "three")`: false, `finding.Advise(name, "rank", x)`: false,
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

// TestStepText fills in blanks, and leaves braces in what fills them in alone.
func TestStepText(t *testing.T) {
	s := finding.Advise("open-the-gap-of-a-file", "file", `"{time}.json"`, "time", "7 µs")
	if want := `Open "{time}.json" at 7 µs (start of the largest gap).`; !strings.HasPrefix(Text(s), want) {
		t.Errorf("got %q, want %q", Text(s), want)
	}
	if s := finding.Advise("find-the-late-rank", "rank", "rank 3"); SourceOf(s).URL != "docs/measures.md" || !strings.HasPrefix(Text(s), "Find why rank 3 is late") {
		t.Errorf("%q comes from %+v", Text(s), SourceOf(s))
	}
	if got := (finding.Step{ID: "unknown"}); Text(got) != "" || SourceOf(got) != (Source{}) {
		t.Errorf("an unknown remedy says %q, from %+v", Text(got), SourceOf(got))
	}
}

// TestNsysSteps: options of torch.profiler are of no use with Nsight Systems.
func TestNsysSteps(t *testing.T) {
	for format, want := range map[string]string{"kineto": "record-whole-steps", "nsys-sqlite": "record-whole-steps-nsys"} {
		on := SettingOf(&summary.Summary{Inputs: []summary.Input{{Format: format}}}, nil)
		got := on.stepsFor(TooLittleWork, []finding.Step{finding.Advise("record-whole-steps"), finding.Advise("look-around-the-events")}, false)
		if len(got) != 1 || got[0].ID != want { // the other one is for a capture with few events
			t.Errorf("%s: %q", format, got)
		}
	}
	both := &summary.Summary{Inputs: []summary.Input{{Format: "kineto"}, {Format: "nsys-sqlite"}}}
	if OfNsys(both) || OfNsys(&summary.Summary{}) {
		t.Error("inputs of PyTorch, or none, are taken for those of Nsight Systems")
	}
}
