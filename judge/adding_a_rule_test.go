package judge

import (
	"bytes"
	"encoding/json"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/internal/test"
)

// A snippet is a fenced block of a page and the file that the paragraph before it names.
type snippet struct{ language, file, text string }

var snippetOf = regexp.MustCompile("(?s)\n([^\n]*`([^`\n]+)`[^\n]*:)\n\n```(yaml|go|diff)\n(.*?\n)```\n")

// snippets returns the blocks of a page that change a file, in their order.
func snippets(page string) (out []snippet) {
	for _, m := range snippetOf.FindAllStringSubmatch(page, -1) {
		out = append(out, snippet{m[3], m[2], m[4]})
	}
	return out
}

// apply changes the file of a snippet below a folder: it creates a Go file, appends to a
// YAML file, and replaces the lines of a diff, which must be there once.
func (s snippet) apply(t *testing.T, root string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(s.file))
	before, err := os.ReadFile(path)
	if exists := err == nil; exists == (s.language == "go") {
		t.Fatalf("%s: a %s block, and the file exists: %v (%v)", s.file, s.language, exists, err)
	}
	after := string(before)
	switch s.language {
	case "go":
		if formatted, err := format.Source([]byte(s.text)); err != nil || string(formatted) != s.text {
			t.Fatalf("%s is not formatted: %v", s.file, err)
		}
		after = s.text
	case "yaml":
		after += s.text
	case "diff":
		old, new := "", ""
		for line := range strings.Lines(s.text) {
			if line[0] != '+' {
				old += line[1:]
			}
			if line[0] != '-' {
				new += line[1:]
			}
		}
		if n := strings.Count(after, old); n != 1 || old == "" {
			t.Fatalf("%s has %d times:\n%s", s.file, n, old)
		}
		after = strings.Replace(after, old, new, 1)
	}
	if err := os.WriteFile(path, []byte(after), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestAddingARule follows docs/adding-a-rule.md in a copy of this folder: the packages
// compile, and the tests that the page names pass. If the entry lacks a key, they fail.
func TestAddingARule(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../docs/adding-a-rule.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := snippets(string(page))
	if blocks := strings.Count(string(page), "\n```") / 2; len(all) != blocks || blocks < 4 {
		t.Fatalf("%d blocks of the page name their file, want %d", len(all), blocks)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	folder := filepath.Join(root, "judge")
	if err := os.CopyFS(folder, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		s.apply(t, root)
	}
	if !test.Long() {
		t.Skip("the snippets apply; compiling them: make long")
	}
	list := overlay(t, here, folder)
	rules := compileOver(t, list, "rule")
	run := func(binary, pkg string, args ...string) (string, error) {
		cmd := exec.Command(binary, append(args, "-test.v")...)
		cmd.Dir = filepath.Join(folder, pkg)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	ofRules := []string{"-test.run", "^(TestRuleFiles|TestBuiltInSource|TestAdviceInSource)$"}
	if out, err := run(rules, "rule", "-test.run", "^TestBuiltInSource$", "-update"); err != nil {
		t.Fatalf("builtin.go is not written: %v\n%s", err, out)
	}
	rules = compileOver(t, list, "rule") // with the entry
	out, err := run(rules, "rule", ofRules...)
	if err != nil || strings.Count(out, "--- PASS: Test") != 3 {
		t.Fatalf("the tests of the rules: %v\n%s", err, out)
	}
	out, err = run(compileOver(t, list, "."), ".", "-test.run", "^TestLabelled$")
	// The table of TestLabelled: two runs in which the rule is first, and one near miss.
	listed := regexp.MustCompile(`float64-kernels +2 +2 +1 `).MatchString(out)
	if err != nil || !listed || strings.Count(out, "--- PASS: Test") != 1 {
		t.Fatalf("a copy of this folder with the rule of docs/adding-a-rule.md fails its tests: %v\nFirst mend what fails in this folder itself. What fails in the copy only is a fault of the page.\n%s", err, out)
	}
	kernels := filepath.Join(folder, filepath.FromSlash("rule/rules/kernels.yaml"))
	entry, err := os.ReadFile(kernels)
	if err != nil {
		t.Fatal(err)
	}
	// The binary reads the entry again: an entry without a key is found.
	broken := bytes.Replace(entry, []byte("  line: kernels compute in double precision\n"), nil, 1)
	if err := os.WriteFile(kernels, broken, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := run(rules, "rule", ofRules...); err == nil || !strings.Contains(out, "rule float64-kernels: line is missing") || !strings.Contains(out, "builtin.go is not what is generated") {
		t.Errorf("an entry without a key: %v\n%s", err, out)
	}
}

// overlay writes the list of the files of folder that replace, or add to, those of the
// packages in here.
func overlay(t *testing.T, here, folder string) (list string) {
	t.Helper()
	files := struct{ Replace map[string]string }{map[string]string{}}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		name, err := filepath.Rel(folder, path)
		files.Replace[filepath.Join(here, name)] = path
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	list = filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(list, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return list
}

// compileOver compiles the tests of a package below this folder with the files of an
// overlay, and returns the binary.
func compileOver(t *testing.T, list, pkg string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "judge.test")
	compile := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", list, "-o", binary, "./"+pkg)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	return binary
}
