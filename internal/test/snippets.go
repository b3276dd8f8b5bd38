package test

import (
	"encoding/json"
	"errors"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A Snippet is a fenced block of a page for contributors, and the file that the paragraph before it names.
type Snippet struct{ Language, File, Text string }

var snippetOf = regexp.MustCompile("(?s)\n([^\n]*`([^`\n]+)`[^\n]*:)\n\n```(yaml|go|diff)\n(.*?\n)```\n")

// Snippets returns the blocks of a page that change a file, in their order. It is an error if a block names no
// file, or if there are fewer than least.
func Snippets(t testing.TB, page string, least int) (out []Snippet) {
	t.Helper()
	for _, m := range snippetOf.FindAllStringSubmatch(page, -1) {
		out = append(out, Snippet{m[3], m[2], m[4]})
	}
	if blocks := strings.Count(page, "\n```") / 2; len(out) != blocks || blocks < least {
		t.Fatalf("%d blocks of the page name their file, want %d, and %d or more", len(out), blocks, least)
	}
	return out
}

// Apply changes the file of a snippet below a folder: it creates a Go file, appends to a YAML file, and replaces
// the lines of a diff, which must be there once.
func (s Snippet) Apply(t testing.TB, root string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(s.File))
	before, err := os.ReadFile(path)
	if exists := err == nil; exists == (s.Language == "go") {
		t.Fatalf("%s: a %s block, and the file exists: %v (%v)", s.File, s.Language, exists, err)
	}
	after := string(before)
	switch s.Language {
	case "go":
		if formatted, err := format.Source([]byte(s.Text)); err != nil || string(formatted) != s.Text {
			t.Fatalf("%s is not formatted: %v", s.File, err)
		}
		after = s.Text
	case "yaml":
		after += s.Text
	case "diff":
		after = s.patch(t, after)
	}
	err = os.MkdirAll(filepath.Dir(path), 0o777)
	if err := errors.Join(err, os.WriteFile(path, []byte(after), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// patch replaces the lines of a diff in a text.
func (s Snippet) patch(t testing.TB, text string) string {
	t.Helper()
	old, new := "", ""
	for line := range strings.Lines(s.Text) {
		if line[0] != '+' {
			old += line[1:]
		}
		if line[0] != '-' {
			new += line[1:]
		}
	}
	if n := strings.Count(text, old); n != 1 || old == "" {
		t.Fatalf("%s has %d times:\n%s", s.File, n, old)
	}
	return strings.Replace(text, old, new, 1)
}

// Copy copies files and folders of the module, by their paths in it, into a new folder and returns that.
func Copy(t testing.TB, paths ...string) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, path := range paths {
		from, to := filepath.Join(Module(t), filepath.FromSlash(path)), filepath.Join(root, filepath.FromSlash(path))
		info, err := os.Stat(from)
		if err == nil && info.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
		} else if err == nil {
			var text []byte
			if text, err = os.ReadFile(from); err == nil {
				err = os.MkdirAll(filepath.Dir(to), 0o777)
			}
			if err == nil {
				err = os.WriteFile(to, text, 0o666)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Overlay writes the list of the Go files below a copy that replace, or add to, those of the module.
func Overlay(t testing.TB, root string) (list string) {
	t.Helper()
	files := struct{ Replace map[string]string }{map[string]string{}}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		name, err := filepath.Rel(root, path)
		files.Replace[filepath.Join(Module(t), name)] = path
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

// CompileOver compiles the tests of a package of the module with the files of an overlay, and returns the binary.
func CompileOver(t testing.TB, list, pkg string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "over.test")
	compile := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", list, "-o", binary, "./"+pkg)
	compile.Dir = Module(t)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	return binary
}
