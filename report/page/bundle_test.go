package page_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"assay/internal/test"
)

// TestBundle builds the script and the style again and compares them with those that are
// checked in: run "make web" after a change of report/web.
func TestBundle(t *testing.T) {
	if !test.Long() {
		t.Skip("compiles the builder of the page: make long")
	}
	dir := t.TempDir()
	web, err := filepath.Abs("../web")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", ".", "-web", web, "-o", dir)
	cmd.Dir = "../../internal/webbuild"
	if get := exec.Command("go", "mod", "download"); true {
		get.Dir = cmd.Dir
		if out, err := get.CombinedOutput(); err != nil {
			t.Skipf("esbuild cannot be fetched: %v %s", err, out)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"report.js", "report.css"} {
		built, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(filepath.Join("assets", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(built, have) {
			t.Errorf("assets/%s differs from its sources; run make web", name)
		}
	}
}

// TestSameBytes writes one page twice.
func TestSameBytes(t *testing.T) {
	if !bytes.Equal(htmlOf(t, rankJob(t, 2)), htmlOf(t, rankJob(t, 2))) {
		t.Error("two pages of one input differ")
	}
}
