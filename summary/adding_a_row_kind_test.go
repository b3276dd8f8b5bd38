package summary

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
)

// TestAddingARowKind follows docs/adding-a-row-kind.md in a copy: the packages compile, and the tests that the page
// names pass. Without the entry, the rows are said to be lost.
func TestAddingARowKind(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../docs/adding-a-row-kind.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := test.Snippets(t, string(page), 9)
	const entry = "summary/members.go"
	paths := []string{"summary", "docs"}
	for _, s := range all {
		if s.Language == "diff" && !slices.Contains(paths, s.File) && !strings.HasPrefix(s.File, "summary/") {
			paths = append(paths, s.File)
		}
		if s.Language == "go" {
			if _, err := os.Stat(filepath.Join(test.Module(t), filepath.FromSlash(s.File))); err == nil {
				t.Fatalf("the page creates %s, which exists", s.File)
			}
		}
	}
	root := test.Copy(t, paths...)
	apply := func(want func(file string) bool) {
		for _, s := range all {
			if want(s.File) {
				s.Apply(t, root)
			}
		}
	}
	apply(func(file string) bool { return file != entry })
	if test.Long() {
		out, err := run(t, root, "summary", "^TestMembers$")
		if err == nil || !strings.Contains(out, "Summary has the rows pauses, and members has no entry for them") {
			t.Errorf("without the entry: %v\n%s", err, out)
		}
	}
	apply(func(file string) bool { return file == entry })
	if !test.Long() {
		t.Skip("the snippets apply; compiling them: make long")
	}
	if out, err := run(t, root, "summary", "^TestPage$", "-update"); err != nil {
		t.Errorf("docs/json.md is not written: %v\n%s", err, out)
	}
	for pkg, tests := range map[string]string{"summary": "^(TestMembers|TestDescribed|TestEveryKind|TestPage)$",
		"analyze": "^TestPauses$", "gate/metric": ".", "report": "^TestEveryMemberIsShown$"} {
		if out, err := run(t, root, pkg, tests); err != nil || !strings.Contains(out, "--- PASS: Test") {
			t.Errorf("a copy with the rows of docs/adding-a-row-kind.md fails tests of %s: %v\nFirst mend what fails in this folder itself. What fails in the copy only is a fault of the page.\n%s", pkg, err, out)
		}
	}
}

// run compiles the tests of a package with what a copy changes, and runs some of them: in the copy, if it has the whole
// package.
func run(t *testing.T, root, pkg, tests string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(test.CompileOver(t, test.Overlay(t, root), pkg), append(args, "-test.v", "-test.run", tests)...)
	cmd.Dir = filepath.Join(test.Module(t), filepath.FromSlash(pkg))
	if pkg == "summary" {
		cmd.Dir = filepath.Join(root, pkg)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
