// Package docs holds the pages of the manual, so that the program can print them
// without the source tree. It has no other code.
package docs

import (
	"embed"
	"strings"
)

//go:embed *.md
var files embed.FS

// A Page is one Markdown file of this folder. Its first line is its title.
type Page struct {
	Name  string // the file's name without ".md": what "assay help" takes
	Title string
	Text  string // the whole file
}

// Pages returns all pages, sorted by name. There is no list to keep: a file that is
// added to the folder is a page.
func Pages() []Page {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var pages []Page
	for _, e := range entries {
		b, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		title, _, _ := strings.Cut(string(b), "\n")
		pages = append(pages, Page{strings.TrimSuffix(e.Name(), ".md"), strings.TrimPrefix(title, "# "), string(b)})
	}
	return pages
}
