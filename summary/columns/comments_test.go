package columns

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
)

var update = flag.Bool("update", false, "write comments.txt")

// TestComments: comments.txt has the comments of the sources.
func TestComments(t *testing.T) {
	var lines []string
	for _, file := range test.Files(t, filepath.Join("..", "*.go")) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					lines = append(lines, fieldComments(spec.Name.Name, s)...)
				}
			}
			return true
		})
	}
	slices.Sort(lines)
	want := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile("comments.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != commentsFile {
		t.Error("comments.txt is not what the sources say; run go test ./summary/columns -update")
	}
}

// fieldComments returns the lines for the fields of a struct. A comment that names several fields is that of each.
func fieldComments(typeName string, s *ast.StructType) (lines []string) {
	names := map[string]string{} // of fields in the JSON
	for _, f := range s.Fields.List {
		if f.Tag != nil && len(f.Names) == 1 {
			tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
			names[f.Names[0].Name], _, _ = strings.Cut(tag, ",")
		}
	}
	shared := ""
	for _, f := range s.Fields.List {
		text := f.Comment.Text()
		if doc := f.Doc.Text(); doc != "" {
			text, shared = doc, doc
		}
		if len(f.Names) != 1 || names[f.Names[0].Name] == "" {
			continue
		}
		if text == "" { // the first sentence of a shared comment that names the field
			mine := regexp.MustCompile(`\b` + f.Names[0].Name + `\b`)
			for sentence := range strings.SplitSeq(strings.Join(strings.Fields(shared), " "), ". ") {
				if mine.MatchString(sentence) {
					text = sentence
					break
				}
			}
		}
		if text = firstSentence(text, f.Names[0].Name, names); text != "" {
			lines = append(lines, typeName+"."+f.Names[0].Name+"\t"+text)
		}
	}
	return lines
}

var word = regexp.MustCompile(`\[?\b[A-Z][A-Za-z.]*\b\]?`)

// firstSentence returns the first sentence of a comment in one line, in which fields have their names in the JSON.
func firstSentence(text, field string, names map[string]string) string {
	text = strings.Join(strings.Fields(text), " ")
	if at := strings.Index(text, ". "); at >= 0 {
		text = text[:at]
	}
	for _, is := range []string{" is ", " are ", " has "} {
		if rest, ok := strings.CutPrefix(text, field+is); ok {
			text = rest
			break
		}
	}
	text = word.ReplaceAllStringFunc(text, func(w string) string {
		bare := strings.Trim(w, "[]")
		if name, ok := names[bare]; ok && name != "" {
			return name
		}
		return bare
	})
	return strings.TrimSuffix(text, ".")
}
