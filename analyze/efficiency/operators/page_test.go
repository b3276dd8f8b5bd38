package operators

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/operators.md anew")

// TestPage checks that the page of operators has the table of models.
func TestPage(t *testing.T) {
	const page, last = "../../../docs/operators.md", "the operator exists in place, too.\n"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text, _, found := strings.Cut(string(b), last)
	if !found {
		t.Fatalf("%s: %q is not there", page, last)
	}
	for _, reason := range reasonNames[1:] {
		if !strings.Contains(text, "\n| "+reason+" | ") {
			t.Errorf("%s: the reason %q is missing", page, reason)
		}
	}
	for _, s := range subjects {
		for i := range s.models {
			for _, library := range strings.Split(s.models[i].Library, ", ") {
				if !strings.Contains(text, library) {
					t.Errorf("%s: the source of %s is missing", page, library)
				}
			}
		}
	}
	want := text + last + formulaTables()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(b) != want {
		t.Errorf("%s is not up to date: go test ./analyze/efficiency/operators -run TestPage -update", page)
	}
}

// formulaTables returns one Markdown table for each subject.
func formulaTables() string {
	var b strings.Builder
	for _, s := range subjects {
		b.WriteString("\n### " + s.title + "\n\n| operators | library | arguments | FLOPs | bytes | |\n|---|---|---|---|---|---|\n")
		for i := range s.models {
			m := &s.models[i]
			b.WriteString("| " + strings.Join([]string{names(m), m.Library, cell(m.Args), cell(m.FLOPs), cell(m.Bytes), strings.Join(marks(m), ", ")}, " | ") + " |\n")
		}
	}
	return b.String()
}

// names returns the operators of a model, with a common namespace once.
func names(m *Model) string {
	var list []string
	space := ""
	for _, name := range m.Names() {
		prefix, base := "", name
		if i := strings.LastIndex(name, "::"); i >= 0 && !strings.Contains(name, "<") {
			prefix, base = name[:i+2], name[i+2:]
		}
		if prefix != space || prefix == "" {
			base, space = prefix+base, prefix
		}
		if m.inPlace {
			base += "[_]"
		}
		list = append(list, "`"+base+"`")
	}
	return strings.Join(list, " ")
}

func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "_", "\\_", "*", "\\*", "[", "\\[").Replace(s)
}

func marks(m *Model) []string {
	var list []string
	for _, f := range []struct {
		name string
		is   bool
	}{{"matrix", m.Unit == Matrix}, {"vector", m.Unit == Vector}, {"own", m.own}, {"values", m.Values}, {"kernel", m.kernel}} {
		if f.is {
			list = append(list, f.name)
		}
	}
	return list
}
