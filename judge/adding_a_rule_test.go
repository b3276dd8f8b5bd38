package judge

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/internal/test"
)

// TestAddingARule follows docs/adding-a-rule.md in a copy of this folder: the packages
// compile, and the tests that the page names pass. If the entry lacks a key, they fail.
func TestAddingARule(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../docs/adding-a-rule.md"))
	if err != nil {
		t.Fatal(err)
	}
	root := test.Copy(t, "judge")
	folder := filepath.Join(root, "judge")
	for _, s := range test.Snippets(t, string(page), 4) {
		s.Apply(t, root)
	}
	if !test.Long() {
		t.Skip("the snippets apply; compiling them: make long")
	}
	list := test.Overlay(t, root)
	rules := test.CompileOver(t, list, "judge/rule")
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
	rules = test.CompileOver(t, list, "judge/rule") // with the entry
	out, err := run(rules, "rule", ofRules...)
	if err != nil || strings.Count(out, "--- PASS: Test") != 3 {
		t.Fatalf("the tests of the rules: %v\n%s", err, out)
	}
	out, err = run(test.CompileOver(t, list, "judge"), ".", "-test.run", "^TestLabelled$")
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
