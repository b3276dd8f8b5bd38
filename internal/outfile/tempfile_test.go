package outfile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestClose: what is listed goes away, what has got its name stays.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var r Registry
	for range 2 { // it can be used again
		made := func(name string) string {
			f, err := r.Create(func() (*os.File, error) { return os.Create(filepath.Join(dir, name)) })
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			return f.Name()
		}
		left, removed, kept := made("left"), made("removed"), made("kept.tmp")
		sub, err := r.Mkdir("sub-*")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, "in"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := r.Remove(removed); err != nil {
			t.Fatal(err)
		}
		if err := r.swap(nil, []stagedFile{{kept, filepath.Join(dir, "kept")}}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(left); err != nil {
			t.Error("a listed file went away early")
		}
		r.Close()
		list, err := os.ReadDir(dir)
		if err != nil || len(list) != 1 || list[0].Name() != "kept" {
			t.Errorf("%v, %v; want the file that got its name", list, err)
		}
	}
}

// TestCreateFails: what could not be made is not listed.
func TestCreateFails(t *testing.T) {
	var r Registry
	defer r.Close()
	if _, err := r.Create(func() (*os.File, error) { return os.Open("nothing is here") }); err == nil || len(r.paths) > 0 {
		t.Errorf("%v, %v", err, r.paths)
	}
}

// TestOnSignal: a function that was taken off the list is not called.
func TestOnSignal(t *testing.T) {
	var r Registry
	calls := ""
	r.OnSignal(func() { calls += "a" })
	cancel := r.OnSignal(func() { calls += "b" })
	r.OnSignal(func() { calls += "c" })
	cancel()
	mu.Lock()
	r.clear()
	mu.Unlock()
	r.Close()
	if calls != "ac" && calls != "ca" {
		t.Errorf("called %q, want a and c", calls)
	}
}

// TestMkdirAll: a directory that was made goes away unless a file is in it, and one
// that was there stays.
func TestMkdirAll(t *testing.T) {
	dir := t.TempDir()
	var r Registry
	for _, name := range []string{"", "new/empty", "full"} {
		if err := r.MkdirAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "full", "in"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	r.Close()
	for name, want := range map[string]bool{"": true, "new": true, "new/empty": false, "full/in": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%q: %v, want it to be there: %v", name, err, want)
		}
	}
	if err := r.MkdirAll(filepath.Join(dir, "full", "in")); err == nil {
		t.Error("a directory in the place of a file was made")
	}
	r.Close()
}
