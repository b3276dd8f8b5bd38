package summary

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/summary/row"
)

var update = flag.Bool("update", false, "write the lists of docs/json.md that follow from the table of members")

// TestPage: the lists of docs/json.md and docs/usage.md that follow from the table of members are up to date: what the
// rows are, the keys and measures of each kind, which rows are rolled up, and the order of kinds.
func TestPage(t *testing.T) {
	upToDate(t, "../docs/json.md", func(page string) string {
		page = replaced(t, page, "\n## Members of a summary\n", "\nschema ", "left_out ", membersList(t))
		page = replaced(t, page, "\n## Keys and measures\n", "\n```text\n", "```\n", keysAndMeasures())
		return replaced(t, page, "\n| rows | of the inputs with `rolled_up` |\n", "|---|---|\n", "| all others ", foldTable(t))
	})
	upToDate(t, "../docs/usage.md", func(page string) string {
		var names []string
		for _, k := range Described() {
			names = append(names, k.Name)
		}
		return replaced(t, page, "\n## Sums by any keys\n", "in the capture, of:\n", ".\n", strings.Join(names, ", "))
	})
}

// upToDate compares a page with what it should be, or writes it.
func upToDate(t *testing.T, path string, with func(string) string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := with(string(before))
	if page == string(before) {
		return
	}
	if !*update {
		t.Fatalf("lists of %s differ from the table of members; go test ./summary -run TestPage -update writes them", path)
	}
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replaced replaces what is between two texts, the first of which is behind another one.
func replaced(t *testing.T, page, behind, from, to, text string) string {
	t.Helper()
	head, rest, ok := strings.Cut(page, behind)
	lead, rest, ok2 := strings.Cut(rest, from)
	_, tail, ok3 := strings.Cut(rest, to)
	if !ok || !ok2 || !ok3 {
		t.Fatalf("the page has no list between %q and %q behind %q", from, to, behind)
	}
	return head + behind + lead + from + text + to + tail
}

// membersList says what the rows of each member are. Inputs come first, though they have no entry.
func membersList(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`            "assay/summary/1"` + "\n")
	b.WriteString("inputs             the files: path, format, size, SHA-256, rank, whether they are complete; the part that was measured (window); whether it only captures graphs (graph_source); calls that let a stream wait for an event (stream_waits, stream_waits_unknown)\n")
	for _, m := range members {
		says := reflect.ValueOf(m).Elem().FieldByName("Says").String()
		if says == "" {
			t.Errorf("members, %s: Says is missing: what the rows are", m.Name())
		}
		width := 18
		if strings.Contains(m.Name(), ".") {
			width = 22
		}
		fmt.Fprintf(&b, "%-*s %s\n", width, m.Name(), says)
	}
	return b.String()
}

// keysAndMeasures lists the columns of each kind, as lines of at most 110 characters.
func keysAndMeasures() string {
	var b strings.Builder
	const indent = 17
	member := map[*row.Kind]string{}
	for _, m := range members {
		if k := m.Kind(); k != nil && k.Name != m.Name() {
			member[k] = " (" + m.Name() + ")"
		}
	}
	for _, k := range Described() {
		lists := map[bool][]string{}
		for _, c := range k.Columns {
			name := c.Name
			if c.JSON != "" && c.JSON != c.Name {
				name += " (" + c.JSON + ")"
			}
			lists[c.Adds == 0] = append(lists[c.Adds == 0], name)
		}
		name := k.Name + member[k]
		line := name + strings.Repeat(" ", max(1, indent-len(name)))
		start := true
		for _, word := range strings.Fields(strings.Join(lists[true], ", ") + "; " + strings.Join(lists[false], ", ")) {
			if !start && len(line)+1+len(word) > 110 {
				b.WriteString(line + "\n")
				line, start = strings.Repeat(" ", indent), true
			}
			if !start {
				line += " "
			}
			line, start = line+word, false
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// foldTable says what roll-up does with the rows of each member that does not stay as it is.
func foldTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, row := range []struct {
		fold fold
		says string
	}{
		{slim, "without strips, histograms, lists of gaps and other data for pictures"}, {few, "all, or only sums"}, {away, "only sums"},
	} {
		var names []string
		for _, m := range members {
			if fold(reflect.ValueOf(m).Elem().FieldByName("Fold").Uint()) == row.fold {
				names = append(names, "`"+m.Name()+"`")
			}
		}
		if slices.Sort(names); len(names) == 0 {
			t.Errorf("no rows are folded as %d", row.fold)
		}
		b.WriteString("| " + strings.Join(names, ", ") + " | " + row.says + " |\n")
	}
	return b.String()
}
