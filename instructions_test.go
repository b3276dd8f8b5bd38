package assay

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompareInstructions: counts within 3 % of the baseline pass, others fail, and so do
// counts that one side lacks. Those of another minor version of Go are only printed.
func TestCompareInstructions(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	const baseline = "# comment\ngo\tgo1.26.8\nread\t1000\t10000\nstart\t1\t5000\n"
	for _, c := range []struct {
		name, counts string
		fails        bool
		says         string
	}{
		{"the same", baseline, false, "+0.00 %"},
		{"2.9 % more", "go\tgo1.26.8\nread\t1000\t10290\nstart\t1\t5000\n", false, "+2.90 %"},
		{"3.1 % more", "go\tgo1.26.8\nread\t1000\t10310\nstart\t1\t5000\n", true, "over 3 %"},
		{"3.1 % fewer", "go\tgo1.26.8\nread\t1000\t9690\nstart\t1\t5000\n", true, "instructions-record"},
		{"twice the input", "go\tgo1.26.8\nread\t2000\t20000\nstart\t1\t5000\n", false, "+0.00 %"},
		{"one is missing", "go\tgo1.26.8\nread\t1000\t10000\n", true, "is in the baseline"},
		{"one is new", baseline + "more\t1\t1\n", true, "not in the baseline"},
		{"another patch version", "go\tgo1.26.9\nread\t1000\t10310\nstart\t1\t5000\n", true, "recorded with go1.26.8, this is go1.26.9"},
		{"another minor version", "go\tgo1.27.1\nread\t1000\t10310\nstart\t1\t5000\n", false, "recorded with go1.26.8, this is go1.27.1"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"baseline": baseline, "counts": c.counts} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command("bash", ".ci/instructions", "--compare", filepath.Join(dir, "baseline"), filepath.Join(dir, "counts")).CombinedOutput()
		if failed := err != nil; failed != c.fails || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: failed is %v, want %v, and %q in:\n%s", c.name, failed, c.fails, c.says, out)
		}
	}
}
