package rowfile

import (
	"fmt"
	"io"
	"strings"

	"assay/internal/label"
	"assay/internal/tabular"
)

// lineColumns is how wide a line of a description is.
const lineColumns = 100

// Describe prints a table and its columns, one line each.
func Describe(t tabular.Table, w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s\n", Line(t.Name+": "+t.Says, lineColumns)); err != nil {
		return err
	}
	for _, c := range t.Columns {
		kind := c.Type.String()
		if c.List {
			kind = "list of " + kind
		}
		if c.Unit != "" {
			kind += " " + c.Unit
		}
		if c.Role != "" {
			kind += ", " + c.Role
		}
		says := c.Says
		if c.Of != "" {
			says = strings.TrimPrefix(says+"; of "+c.Of, "; ")
		}
		line := fmt.Sprintf("  %-26s %-18s %s", c.Name, kind, says)
		if _, err := fmt.Fprintln(w, Line(strings.TrimRight(line, " "), lineColumns)); err != nil {
			return err
		}
	}
	return nil
}

// Line cuts a text to one line of some columns.
func Line(text string, columns int) string {
	text = label.Clean(strings.NewReplacer("`", "").Replace(text))
	if at := strings.Index(text, "see [below]"); at >= 0 { // pages of the manual have what is below
		text = strings.TrimRight(text[:at], " :;")
	}
	for label.Width(text) > columns {
		runes := []rune(strings.TrimSuffix(text, label.Ellipsis))
		text = strings.TrimRight(string(runes[:len(runes)-1]), " ,;:") + label.Ellipsis
	}
	return text
}
