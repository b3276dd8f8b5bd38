package settings

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// tree returns the tree of a text, nil if it is empty.
func tree(t *testing.T, text string) ast.Node {
	t.Helper()
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Docs) == 0 {
		return nil
	}
	return file.Docs[0].Body
}

// TestEachEntry: every entry comes in its order and has its line; the first that is
// wrong ends the walk.
func TestEachEntry(t *testing.T) {
	for _, tc := range []struct{ in, want, err string }{
		{"a: 1\n# between\nb:\n  c: 2\nd: 3\n", "a@1 b@3 d@5", ""},
		{"\na: 1\n", "a@2", ""},
		{"a: 1\nstop: 2\nb: 3\n", "a@1", "2: here"},
		{"{}", "", ""},
		{"\n\n- a\n", "", "3: want a mapping of limits, got sequence"},
		{"\ntext\n", "", "2: want a mapping of limits, got string"},
		{"~", "", "1: want a mapping of limits, got null"},
	} {
		var got []string
		err := EachEntry(tree(t, tc.in), "limits", func(e *ast.MappingValueNode) error {
			if e.Key.String() == "stop" {
				return Errorf(e.Key, "here")
			}
			got = append(got, fmt.Sprintf("%s@%d", e.Key, Line(e.Key)))
			return nil
		})
		if strings.Join(got, " ") != tc.want || tc.err != text(err) {
			t.Errorf("%q: %q, %q; want %q, %q", tc.in, got, text(err), tc.want, tc.err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestScalar: a value is as it was written, not as YAML understands it.
func TestScalar(t *testing.T) {
	for in, want := range map[string]string{
		"15%": "15%", "0.10": "0.10", "0x10": "0x10", "1_000": "1_000", "yes": "yes", "true": "true", ".inf": ".inf",
		`"<= 5%"`: "<= 5%", "'it''s'": "it's", "two words # and why": "two words",
	} {
		if got, err := Scalar(tree(t, in)); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"~": "want one value, got null", "[1]": "want one value, got sequence", "{a: 1}": "want one value, got mapping",
	} {
		if got, err := Scalar(tree(t, in)); got != "" || text(err) != want {
			t.Errorf("%q: %q, %q; want %q", in, got, text(err), want)
		}
	}
}

// TestErrorf: the cause can be found again.
func TestErrorf(t *testing.T) {
	err := Errorf(tree(t, "\n\n\nx"), "rule %q: %w", "a", io.EOF)
	if text(err) != `4: rule "a": EOF` || !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if Line(nil) != 1 {
		t.Errorf("no node is in line %d", Line(nil))
	}
}

// TestMistake: what the YAML package says fits one line, and has the line of the
// text.
func TestMistake(t *testing.T) {
	_, syntax := parser.ParseBytes([]byte("a: 1\nb: [c\n"), 0)
	var into struct{ A int }
	kind := yaml.NodeToValue(tree(t, "\n\na: x\n"), &into, yaml.Strict())
	field := yaml.NodeToValue(tree(t, "a: 1\nb: 2\n"), &into, yaml.Strict())
	for _, tc := range []struct {
		name string
		err  error
		line int
		has  string
		ok   bool
	}{
		{"syntax", syntax, 2, "sequence end token", true},
		{"a value of another type", kind, 3, "cannot unmarshal string", true},
		{"an unknown field", field, 2, `unknown field "b"`, true},
		{"wrapped", fmt.Errorf("outside: %w", field), 2, `unknown field "b"`, true},
		{"of another package", io.ErrUnexpectedEOF, 7, "unexpected EOF", false},
	} {
		if tc.err == nil {
			t.Fatalf("%s: no error", tc.name)
		}
		line, got, ok := Mistake(7, tc.err)
		if line != tc.line || ok != tc.ok || !strings.Contains(got, tc.has) || strings.Contains(got, "\n") {
			t.Errorf("%s: line %d, %q, %v; want line %d, %q, %v", tc.name, line, got, ok, tc.line, tc.has, tc.ok)
		}
	}
}

func TestIsKebab(t *testing.T) {
	for in, want := range map[string]bool{
		"a": true, "gpu-idle": true, "h100-2gpu": true, "3": true,
		"": false, "-": false, "a-": false, "-a": false, "a--b": false, "A": false, "a_b": false, "a b": false, "a.b": false, "é": false, "a\n": false,
	} {
		if got := IsKebab(in); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}
