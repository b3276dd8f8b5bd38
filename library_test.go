package assay_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/test"
)

// TestLibraryPage runs the program of docs/library.md, which must print what the command prints.
func TestLibraryPage(t *testing.T) {
	if !test.Long() {
		t.Skip("it compiles a program")
	}
	page, err := os.ReadFile("docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(page), "```go\n")
	program, _, ok := strings.Cut(program, "```")
	const input = "testdata/gen/host_bound.json.gz"
	program = strings.Replace(program, "trace.json.gz", input, 1)
	if !ok || !strings.Contains(program, input) {
		t.Fatalf("the page has the program %q", program)
	}
	dir := t.TempDir()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	source, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	places, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "cmd/libraryexample/main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{source: program, overlay: string(places)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := printed(t, "go", "run", "-overlay", overlay, "./cmd/libraryexample")
	if want := printed(t, "go", "run", "./cmd/assay", "summary", input); got != want {
		t.Errorf("the program prints\n%s\nthe command\n%s", got, want)
	}
}

func printed(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
