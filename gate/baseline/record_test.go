package baseline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordElsewhere makes the record a symbolic link. No command reads it, and
// none writes to the file that it names.
func TestRecordElsewhere(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	const before = "not a record"
	if err := os.WriteFile(other, []byte(before), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{other, other + ".missing"} {
		link := filepath.Join(dir, FileName)
		os.Remove(link)
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
		for _, do := range []func() error{
			func() error { _, err := Open(dir); return err },
			func() error { _, err := Read(dir); return err },
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("a link to %s: got the error %v", target, err)
			}
		}
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != before {
		t.Errorf("the file elsewhere is now %q, %v", text, err)
	}
	if _, err := os.Lstat(other + ".missing"); err == nil {
		t.Error("the link's target was created")
	}
}
