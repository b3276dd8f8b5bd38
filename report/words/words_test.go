package words

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/judge/counters"
	"assay/judge/finding"
	"assay/summary"
)

// TestWords: every owner of idle time has a display word of its own, an id of a later
// version is shown as it is, and a cause names what is known.
func TestWords(t *testing.T) {
	var seen []string
	for _, owner := range summary.Owners() {
		w := Cause(owner, "", "")
		if w == owner || slices.Contains(seen, w) {
			t.Errorf("the owner %q is shown as %q", owner, w)
		}
		seen = append(seen, w)
	}
	for _, tc := range []struct{ got, want string }{
		{Cause("new-owner\x1b", "", ""), "new-owner\uFFFD"},
		{Cause(summary.OwnerHost, summary.StateData, "next"), "host wait: data loading in next"},
		{Cause(summary.OwnerHost, summary.StateData, ""), "host wait: data loading"},
		{Cause("", "", "next"), "next"},
		{Phase(""), "outside phases"},
		{Phase("training/weight-sync"), "· weight sync"},
		{Verdict("host"), "host-bound"},
		{Verdict("mixed"), "no dominant bottleneck"},
		{LimitedBy(""), ""},
		{Level(finding.Warn), "warning"},
		{Side(counters.Side{Side: counters.SideMemory, Near: true}), "memory, near peak"},
		{Side(counters.Side{Side: counters.SideUnknown}), "–"},
		{Format("kineto"), "Kineto"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

// TestBounds: every bound has words of its own and is in docs/json.md with them, and
// the ids, which are a contract, do not change.
func TestBounds(t *testing.T) {
	ids := strings.Fields(`host communication copies compute memory latency balanced near-limit gpu gpus mixed function waiting calls
		out-of-memory memory-pressure fragmentation allocator-churn memory-growth memory-owner memory-healthy
		generation training rollouts trainer log-probs weight-sync data overhead queue kv-cache prefill transfer under-loaded job-time hang straggler machines-healthy unknown`)
	page, err := os.ReadFile(filepath.FromSlash("../../docs/json.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "Verdicts (`verdict.bound`):\n\n```text\n")
	list, _, _ = strings.Cut(list, "```")
	lines := strings.Split(strings.TrimSpace(list), "\n")
	var got, headlines []string
	for i, b := range finding.Bounds() {
		got = append(got, string(b))
		w, ok := b.Words()
		if !ok || w.Headline == "" || w.Short == "" || w.Is == "" || len([]rune(w.Short)) > 20 || slices.Contains(headlines, w.Headline) {
			t.Errorf("%s: %+v", b, w)
		}
		headlines = append(headlines, w.Headline)
		if Verdict(b) != w.Headline || LimitedBy(b) != w.Short {
			t.Errorf("%s is shown as %q and %q, want %+v", b, Verdict(b), LimitedBy(b), w)
		}
		if i >= len(lines) || !strings.HasPrefix(lines[i], fmt.Sprintf("%-18s%s", b, w.Headline)) {
			t.Errorf("docs/json.md does not have the line %q", fmt.Sprintf("%-18s%s", b, w.Headline))
		}
	}
	if !slices.Equal(got, ids) || len(lines) != len(ids) {
		t.Errorf("the bounds are %q, the page has %d; want %q", got, len(lines), ids)
	}
	if Verdict("") != "not enough data" || LimitedBy("") != "" || Verdict("new\x1b") != "new\uFFFD" {
		t.Errorf("%q, %q, %q", Verdict(""), LimitedBy(""), Verdict("new\x1b"))
	}
}

// TestBoundsInSource reads the source after summaries: only judge/finding/bound.go has words of
// bounds, and no code compares a bound with a string or makes one from a string.
func TestBoundsInSource(t *testing.T) {
	words := map[string]bool{}
	for _, b := range finding.Bounds() {
		w, _ := b.Words()
		for _, text := range []string{w.Headline, w.Is} {
			// Others, such as "out of memory", name events too.
			if strings.HasSuffix(text, "-bound") || strings.Contains(text, "dominant") || b == finding.BoundNearLimit {
				words[text] = true
			}
		}
	}
	files := 0
	for _, folder := range []string{"judge", "compare", "gate", "report", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				if os.IsNotExist(err) {
					return nil
				}
				return err
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, filepath.FromSlash("judge/rule/builtin.go")):
				return nil
			}
			files++
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, problem := range boundProblems(t, path, string(source), words) {
				t.Error(problem)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("%d files were read", files)
	}
}

// boundProblems returns the places of a file that have words of a bound, or that use a
// string as a bound.
func boundProblems(t *testing.T, path, source string, words map[string]bool) (problems []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	literal := func(e ast.Expr) bool {
		lit, ok := e.(*ast.BasicLit)
		return ok && lit.Kind == token.STRING && lit.Value != `""`
	}
	named := func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.SelectorExpr:
			return e.Sel.Name == "Bound" || e.Sel.Name == "bound"
		case *ast.Ident:
			return e.Name == "Bound" || e.Name == "bound"
		}
		return false
	}
	report := func(n ast.Node, what string) { problems = append(problems, set.Position(n.Pos()).String()+": "+what) }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && words[text] && !slices.Contains([]string{"bound.go", "thresholds.go"}, filepath.Base(path)) { // there is a rule compute-bound
				report(n, "words of a bound: "+n.Value)
			}
		case *ast.BinaryExpr:
			if named(n.X) && literal(n.Y) || named(n.Y) && literal(n.X) {
				report(n, "a bound is compared with a string")
			}
		case *ast.KeyValueExpr:
			if named(n.Key) && literal(n.Value) {
				report(n, "a bound is made from a string")
			}
		case *ast.SwitchStmt:
			if n.Tag == nil || !named(n.Tag) {
				break
			}
			for _, s := range n.Body.List {
				if slices.ContainsFunc(s.(*ast.CaseClause).List, literal) {
					report(s, "a bound is compared with a string")
				}
			}
		}
		return true
	})
	return problems
}

// TestBoundProblems proves that [boundProblems] finds what it is for.
func TestBoundProblems(t *testing.T) {
	words := map[string]bool{"host-bound": true}
	for body, want := range map[string]int{
		`_ = v.Bound == "host"`: 1, `_ = "host" != bound`: 1, `_ = V{Bound: "host"}`: 1, `switch v.Bound { case "a", "b": }`: 1, `_ = "host-bound"`: 1,
		`_ = v.Bound == BoundHost`: 0, `_ = v.Bound == ""`: 0, `_ = V{Bound: b}`: 0, `switch v.Rule { case "a": }`: 0, `_ = "the host-bound part"`: 0,
	} {
		if got := boundProblems(t, "x.go", "package x\nfunc f() { "+body+" }\n", words); len(got) != want {
			t.Errorf("%s: %q, want %d", body, got, want)
		}
	}
}
