package assay

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mayGlob are the tests that list the files a command leaves, where none is a valid result.
var mayGlob = []string{"cmd/assay/main_test.go", "cmd/assay/process_unix_test.go", "nsys/damage_test.go"}

// TestInputsOfTests: tests list files by test.Files, which fails if a pattern matches none,
// and find captures by test.Corpus. With a path of its own, a test that was moved to another
// folder would pass without an input.
func TestInputsOfTests(t *testing.T) {
	tests := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(file)
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/test/") {
			return err
		}
		tests++
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if n.Sel.Name == "Glob" && !slices.Contains(mayGlob, name) {
					t.Errorf("%s uses Glob, want test.Files, which fails if nothing matches", name)
				}
			case *ast.BasicLit:
				if name != "inputs_test.go" && slices.Contains([]string{`"ASSAY_CORPUS"`, `"ASSAY_LONG"`}, n.Value) {
					t.Errorf("%s reads %s, want test.Corpus or test.Long", name, n.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || tests < 300 {
		t.Errorf("%d files of tests, %v", tests, err)
	}
}
