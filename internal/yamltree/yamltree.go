// Package yamltree is what the readers of settings in YAML share: of rules, limits
// and gates. They walk the tree of a file themselves, so that every message starts
// with the line at fault: "7: want one value, got null". The name of the file, and
// what the values mean, is theirs.
package yamltree

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
