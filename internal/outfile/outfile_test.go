package outfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestFailedFile: a file whose content fails keeps what was there, and nothing else is left.
func TestFailedFile(t *testing.T) {
	dir, failed := t.TempDir(), errors.New("no more rows")
	path := filepath.Join(dir, "out.json")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	var w Writer
	defer w.Stop()
	err := w.File(path, func(to io.Writer) error {
		io.WriteString(to, "half")
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("error %v, want %v", err, failed)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "before" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%d files are left, %v; want 1", len(left), err)
	}
}

// TestStaged: a staged file gets its name when it is committed, and none without.
func TestStaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	encode := func(to io.Writer) error { _, err := io.WriteString(to, "whole"); return err }
	for _, commit := range []bool{false, true} {
		var w Writer
		if err := w.Stage(path, encode); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("the file is there before it is committed")
		}
		if commit {
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		w.Stop()
		want := 0
		if commit {
			want = 1
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != want {
			t.Errorf("commit %v: %d files are left, %v; want %d", commit, len(left), err, want)
		}
	}
}

// TestCheckFile: an output is refused if it is an input under any name, a directory, or in
// a directory that is missing.
func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	input, linked := filepath.Join(dir, "in.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(input, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(input, linked); err != nil {
		t.Skip(err)
	}
	for _, tc := range []struct {
		path      string
		ok, input bool
	}{
		{path: "-", ok: true},
		{path: ""},
		{path: dir},
		{path: filepath.Join(dir, "none", "out.json")},
		{path: filepath.Join(dir, "out.json"), ok: true},
		{path: input, input: true},
		{path: linked, input: true},
	} {
		err := CheckFile(tc.path, []string{filepath.Join(dir, "gone.json"), input})
		if (err == nil) != tc.ok || errors.Is(err, ErrInput) != tc.input {
			t.Errorf("%q: %v; want no error: %v, an input: %v", tc.path, err, tc.ok, tc.input)
		}
	}
	for name, want := range map[string]bool{"link.json": true, "out.json": false} {
		err := Overwrites(dir, []string{name}, func() []string { return []string{input} })
		if errors.Is(err, ErrInput) != want {
			t.Errorf("Overwrites %s: %v, want an error: %v", name, err, want)
		}
	}
}

// TestAppend checks that a text goes behind what is there, and that the size is that of the file
// before.
func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for i, want := range []string{"0", "01", "012"} {
		err := Append(path, func(w io.Writer, size int64) error {
			_, err := w.Write([]byte{'0' + byte(size)})
			return err
		})
		if text, _ := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("after %d: %q, %v, want %q", i, text, err, want)
		}
	}
	failed := errors.New("failed")
	if err := Append(path, func(io.Writer, int64) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a failed write is reported as %v", err)
	}
}

// TestWriteLink: a file that is no regular one stays what it is, and its content is replaced.
func TestWriteLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("a longer text"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{link, file} {
		err := Write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, path)
			return err
		})
		if text, _ := os.ReadFile(file); err != nil || string(text) != path {
			t.Errorf("%s: %q, %v", path, text, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is replaced: %v, %v", info, err)
		}
	}
}

// TestAbandoned: what a killed process left of the files that are written is removed after an hour, and
// nothing that another process may still write, or that has another name.
func TestAbandoned(t *testing.T) {
	dir := t.TempDir()
	kept := []string{
		".summary.json.00112233445566aa",  // young
		".other.json.00112233445566bb",    // of a file that is not written
		".summary.json.00112233445566",    // too short
		".summary.json.00112233445566zz",  // not of hexadecimal digits
		"summary.json.00112233445566cc",   // not hidden
		".summary.json.bak.0011223344556", // of the user
	}
	gone := []string{".summary.json.ffeeddccbbaa9988", ".report.md.0000000000000000", ".old.png.0123456789abcdef"}
	for i, name := range append(slices.Clone(kept), gone...) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if age := time.Now().Add(-2 * time.Hour); i > 0 {
			if err := os.Chtimes(path, age, age); err != nil {
				t.Fatal(err)
			}
		}
	}
	var w Writer
	defer w.Stop()
	for _, name := range []string{"summary.json", "report.md"} {
		if err := w.Stage(filepath.Join(dir, name), func(to io.Writer) error { _, err := fmt.Fprint(to, name); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(filepath.Join(dir, "old.png"), filepath.Join(dir, "report.md")); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(append(kept, "summary.json", "report.md")))
	var left []string
	found, err := os.ReadDir(dir)
	for _, f := range found {
		left = append(left, f.Name())
	}
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %q, %v; want %q", left, err, want)
	}
}
