package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Line returns the line of a node, 1 if it has none.
func Line(n ast.Node) int {
	if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		return n.GetToken().Position.Line
	}
	return 1
}

// Errorf returns an error that starts with the line of a node.
func Errorf(n ast.Node, format string, args ...any) error {
	return fmt.Errorf("%d: %w", Line(n), fmt.Errorf(format, args...))
}

// Mistake takes an error of the YAML package apart, whose own message is a picture
// of the source over several lines: the line it is about, or the one given if it
// names none, and what is wrong. Other errors are not ok and stand as they are.
func Mistake(line int, err error) (at int, text string, ok bool) {
	mistake := yaml.Error(nil)
	if !errors.As(err, &mistake) {
		return line, err.Error(), false
	}
	if t := mistake.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	text, _, _ = strings.Cut(mistake.GetMessage(), "\n")
	return line, text, true
}

// EachEntry calls f for the entries of a node that must be a mapping of something,
// until one is wrong.
func EachEntry(n ast.Node, of string, f func(*ast.MappingValueNode) error) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return Errorf(n, "want a mapping of %s, got %s", of, strings.ToLower(n.Type().YAMLName()))
	}
	for it := m.MapRange(); it.Next(); {
		if err := f(it.KeyValue()); err != nil {
			return err
		}
	}
	return nil
}

// Scalar returns the text of a single value, as it was written.
func Scalar(n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.NullNode:
		// A scalar to YAML, but here it is a value that was forgotten.
	case ast.ScalarNode:
		return n.GetToken().Value, nil
	}
	return "", fmt.Errorf("want one value, got %s", strings.ToLower(n.Type().YAMLName()))
}

// IsKebab reports whether s has the shape of ids and categories, lower-case words
// joined by hyphens, which need no quotes in flags, file names and JSON.
func IsKebab(s string) bool {
	for word := range strings.SplitSeq(s, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}

// body returns the content of the only document of a file, or nil if it has none.
func body(text []byte) (n ast.Node, err error) {
	file, err := Parse(text)
	if over := (*LimitError)(nil); errors.As(err, &over) {
		return nil, err
	}
	if err != nil {
		return nil, Malformed(1, err)
	}
	for i, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		if i > 0 {
			return nil, Errorf(doc.Body, "second YAML document, want one")
		}
		n = doc.Body
	}
	return n, nil
}

// Mapping calls f for the entries of a file that is a mapping of something, until one is wrong. The
// file may be empty.
func Mapping(text []byte, of string, f func(*ast.MappingValueNode) error) error {
	n, err := body(text)
	if err != nil || n == nil {
		return err
	}
	return EachEntry(n, of, f)
}

// List returns the nodes of a file that has one list and nothing else: the name of the
// list, which the file must have as its only key, and what one of its items is called.
func List(text []byte, name, item string) ([]ast.Node, error) {
	n, err := body(text)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, fmt.Errorf("1: no %s: want a list called %s", name, name)
	}
	top, ok := n.(*ast.MappingNode)
	if !ok || len(top.Values) == 0 {
		return nil, Errorf(n, "want a mapping with the list %s, and nothing else", name)
	}
	for i, member := range top.Values {
		if key := Key(member); key != name || i > 0 {
			return nil, Errorf(member.Key, "unknown field %q, want the list %s, and nothing else", key, name)
		}
	}
	seq, ok := top.Values[0].Value.(*ast.SequenceNode)
	if !ok || len(seq.Values) == 0 {
		return nil, Errorf(top.Values[0].Value, "%s: want a list of at least one %s", name, item)
	}
	return seq.Values, nil
}

// Key returns the key of an entry, without the quotes that JSON has.
func Key(e *ast.MappingValueNode) string {
	if s, ok := e.Key.(*ast.StringNode); ok {
		return s.Value
	}
	return e.Key.String()
}

// Malformed returns an error of the YAML package with its line, else the one given.
func Malformed(line int, err error) error {
	line, text, ok := Mistake(line, err)
	if !ok {
		return fmt.Errorf("%d: %w", line, err)
	}
	return &malformed{fmt.Sprintf("%d: malformed YAML: %s", line, text), err}
}

// malformed is an error of the YAML package in one line.
type malformed struct {
	text string
	err  error
}

func (m *malformed) Error() string { return m.text }

func (m *malformed) Unwrap() error { return m.err }
