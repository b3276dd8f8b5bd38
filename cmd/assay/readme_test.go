package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test"
)

// manual returns the Markdown files that this test reads: the README, the pages of
// docs, and the files next to the README that it links. Paths are relative to the
// root of the module, with slashes.
func manual(t *testing.T) []string {
	t.Helper()
	pages := test.Files(t, "docs/*.md")
	if len(pages) < 10 {
		t.Fatalf("%d pages in docs", len(pages))
	}
	for i := range pages {
		pages[i] = filepath.ToSlash(pages[i])
	}
	return append([]string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}, pages...)
}

// console matches a block that shows a command and its output.
var console = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// TestManualCommands runs the command of every console block of the README and of
// docs, and compares the output. -update writes the output into the pages.
func TestManualCommands(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	blocks := 0
	for _, page := range manual(t) {
		old := readPage(t, page)
		text := console.ReplaceAllStringFunc(old, func(block string) string {
			blocks++
			line, want, _ := strings.Cut(console.FindStringSubmatch(block)[1], "\n")
			got := printed(t, page, line)
			if diff := cmp.Diff(want, got); diff != "" && !*update {
				t.Errorf("%s: %s: page(-) now(+)\n%s", page, line, diff)
			}
			return "```console\n" + line + "\n" + got + "```"
		})
		if *update && text != old {
			if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if blocks < 5 {
		t.Errorf("%d console blocks were found", blocks)
	}
}

// printed runs a line of a console block, and returns what it prints on standard output. Directories of
// -o are below a temporary one.
func printed(t *testing.T, page, line string) string {
	t.Helper()
	command, ok := strings.CutPrefix(line, "$ go run ./cmd/assay ")
	if !ok {
		t.Errorf("%s: a console block begins with %q, want \"$ go run ./cmd/assay \"", page, line)
		return ""
	}
	args := strings.Fields(command)
	for i, arg := range args {
		if i > 0 && args[i-1] == "-o" {
			args[i] = filepath.Join(t.TempDir(), arg)
		}
	}
	var stdout bytes.Buffer
	if got := run(env{strings.NewReader(""), &stdout, io.Discard}, args); got != exitOK {
		t.Errorf("%s: %s: exit status %d", page, line, got)
	}
	return stdout.String()
}

// TestManualLinks follows every relative link of the manual to its file and heading,
// and looks for pages that the README does not link and pictures that no page shows.
func TestManualLinks(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	linked := map[string][]string{} // the pages that link a file
	for _, page := range manual(t) {
		for _, link := range links(readPage(t, page)) {
			if strings.Contains(link, "://") {
				continue
			}
			file, heading, _ := strings.Cut(link, "#")
			target := page
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(page), file))
			}
			linked[target] = append(linked[target], page)
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s points to no file", page, link)
			} else if heading != "" && !slices.Contains(anchors(readPage(t, target)), heading) {
				t.Errorf("%s: %s has no heading for the link %s", page, target, link)
			}
		}
	}
	for _, page := range manual(t)[1:] {
		if !slices.Contains(linked[page], "README.md") {
			t.Errorf("the README does not link %s", page)
		}
	}
	for _, picture := range test.Files(t, "docs/*.png") {
		if len(linked[filepath.ToSlash(picture)]) == 0 {
			t.Errorf("no page shows %s", picture)
		}
	}
}

// TestLinks checks what TestManualLinks relies on.
func TestLinks(t *testing.T) {
	const text = "# One `two`: 3-4\n\n[a](x.md#b-c), ![p](p.png)\n\n```sh\n# no heading [a](no.md)\n```\n`[b](no.md)`\n\n## One, two\n\n## One two\n"
	if got, want := links(text), []string{"x.md#b-c", "p.png"}; !slices.Equal(got, want) {
		t.Errorf("links are %q, want %q", got, want)
	}
	if got, want := anchors(text), []string{"one-two-3-4", "one-two", "one-two-1"}; !slices.Equal(got, want) {
		t.Errorf("anchors are %q, want %q", got, want)
	}
}

var (
	fenced   = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```$")
	code     = regexp.MustCompile("`[^`\n]*`")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// links returns the targets of the links and pictures in a Markdown text.
func links(text string) (targets []string) {
	text = code.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		targets = append(targets, m[1])
	}
	return targets
}

// anchors returns the names that GitHub gives to the headings of a Markdown text:
// in lower case, without punctuation, with hyphens for spaces, numbered if equal.
func anchors(text string) (names []string) {
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		name := strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if seen[name]++; seen[name] > 1 {
			names = append(names, name+"-"+string(rune('0'+seen[name]-1)))
			continue
		}
		names = append(names, name)
	}
	return names
}

// TestReadmeLength keeps the README a front page.
func TestReadmeLength(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	if n := strings.Count(readPage(t, "README.md"), "\n"); n > 200 {
		t.Errorf("the README has %d lines, over 200; what has a subject of its own belongs in docs", n)
	}
}

func readPage(t *testing.T, page string) string {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
