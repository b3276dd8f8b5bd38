//go:build ignore

// Facts prints how large the module is: go run .ci/facts.go, or make facts. Generated files
// and test data do not count.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

func main() {
	top, packages := map[string]bool{}, map[string]bool{}
	var exported, lines, support, tests, over120, over140 int
	err := fs.WalkDir(os.DirFS("."), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != "." && (d.Name() == "testdata" || d.Name()[0] == '.') {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(file) != ".go" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil || strings.HasPrefix(string(text), "// Code generated ") {
			return err
		}
		n := strings.Count(string(text), "\n")
		for line := range strings.Lines(string(text)) {
			columns := utf8.RuneCountInString(strings.TrimRight(line, "\n")) + 3*(len(line)-len(strings.TrimLeft(line, "\t")))
			if columns > 120 {
				over120++
			}
			if columns > 140 {
				over140++
			}
		}
		if strings.HasSuffix(file, "_test.go") {
			tests += n
			return nil
		}
		lines += n
		if folder, _, below := strings.Cut(file, "/"); below {
			top[folder] = true
		}
		packages[path.Dir(file)] = true
		if strings.HasPrefix(file, "internal/test/") || strings.HasPrefix(file, "internal/webbuild/") {
			support += n
			return nil
		}
		names, err := exportedOf(file, text)
		exported += names
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("folders at the top    %6d\npackages              %6d\nexported names        %6d  without fields, and those of test support\n", len(top), len(packages), exported)
	fmt.Printf("lines outside tests   %6d  of which test support %d\nlines of tests        %6d\n", lines, support, tests)
	fmt.Printf("lines over 120        %6d  columns, a tab is 4\nlines over 140        %6d\n", over120, over140)
}

// exportedOf counts the exported functions, methods of exported types, types, variables and
// constants of a file.
func exportedOf(file string, text []byte) (n int, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil || f.Name.Name == "main" {
		return 0, err
	}
	if !ast.FileExports(f) {
		return 0, nil
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			n++
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					n++
				case *ast.ValueSpec:
					n += len(s.Names)
				}
			}
		}
	}
	return n, nil
}
