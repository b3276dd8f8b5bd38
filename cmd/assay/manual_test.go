package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/docs"
	"assay/internal/test"
	"assay/summary"
)

// TestHelpPages prints every page of the manual by its name, which must not be that
// of a command or topic.
func TestHelpPages(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	var usage, list bytes.Buffer
	run(env{stdout: &usage}, []string{"help"})
	run(env{stdout: &list}, []string{"help", "pages"})
	pages := docs.Pages()
	if files := test.Files(t, "docs/*.md"); len(files) != len(pages) {
		t.Errorf("%d pages of %d files", len(pages), len(files))
	}
	for _, p := range pages {
		text := readPage(t, "docs/"+p.Name+".md")
		var stdout bytes.Buffer
		if got := run(env{stdout: &stdout}, []string{"help", p.Name}); got != exitOK || stdout.String() != text {
			t.Errorf("assay help %s: exit status %d, and %d bytes that differ from the page", p.Name, got, stdout.Len())
		}
		if first, _, _ := strings.Cut(text, "\n"); first != "# "+p.Title || p.Title == "" {
			t.Errorf("docs/%s.md begins with %q, want a title", p.Name, first)
		}
		if !regexp.MustCompile(`(?s)Pages:[^.]*\b` + p.Name + `\b`).MatchString(usage.String()) {
			t.Errorf("assay help does not name the page %s", p.Name)
		}
		if !strings.Contains(list.String(), p.Title+"\n") {
			t.Errorf("assay help pages does not list %q", p.Title)
		}
	}
}

// TestContractPage compares docs/json.md with the summary: every member and every
// cause of idle time is on the page, and nothing else is in these lists.
func TestContractPage(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	text := readPage(t, "docs/json.md")
	list := func(heading string) (names []string) {
		_, rest, _ := strings.Cut(text, heading)
		_, rest, _ = strings.Cut(rest, "```text\n")
		rest, _, _ = strings.Cut(rest, "```")
		for line := range strings.Lines(rest) {
			names = append(names, strings.Fields(line)[0])
		}
		slices.Sort(names)
		return names
	}
	members := []string{"schema", "inputs", "issues", "left_out"}
	for _, k := range summary.Members() {
		members = append(members, k.Name())
	}
	slices.Sort(members)
	sameNames(t, "Members of a summary", list("## Members of a summary"), members)
	owners := summary.Owners()
	slices.Sort(owners)
	sameNames(t, "Identifiers", list("## Identifiers"), owners)
}

// sameNames reports the names that the first list of a section of docs/json.md lacks, and
// those that it has and should not. Both lists are sorted.
func sameNames(t *testing.T, section string, got, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("docs/json.md, %s: the list lacks %s", section, name)
		}
	}
	for i, name := range got {
		if !slices.Contains(want, name) || i > 0 && got[i-1] == name {
			t.Errorf("docs/json.md, %s: the list has %s, which a summary does not have, or has it twice", section, name)
		}
	}
}

// TestWhereToLook checks that every path in the table of questions of CONTRIBUTING.md exists.
func TestWhereToLook(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	_, table, _ := strings.Cut(readPage(t, "CONTRIBUTING.md"), "| you look for |")
	table, _, _ = strings.Cut(table, "\n\n")
	paths := code.FindAllString(table, -1)
	for _, path := range paths {
		if _, err := os.Stat(strings.Trim(path, "`")); err != nil {
			t.Errorf("CONTRIBUTING.md leads to %s: %v", path, err)
		}
	}
	if len(paths) < 12 {
		t.Errorf("%d paths were found", len(paths))
	}
}

// TestWhereThingsAre looks for every package of the module in CONTRIBUTING.md, and for
// packages there that do not exist.
func TestWhereThingsAre(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	want := packages(t)
	var got []string
	for line := range strings.Lines(readPage(t, "CONTRIBUTING.md")) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			continue
		}
		for _, name := range code.FindAllString(cells[1], -1) {
			got = append(got, strings.Trim(name, "`"))
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("CONTRIBUTING.md does not say what is in %s", name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("CONTRIBUTING.md lists %s, which is not a package", name)
		}
	}
}

// packages returns the directories below the working one that hold Go files other
// than tests, with slashes.
func packages(t *testing.T) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		if dir := filepath.ToSlash(filepath.Dir(path)); dir != "." && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return nil
	})
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d packages: %v", len(dirs), err)
	}
	return dirs
}
