package classify

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write builtin.go anew, from kernels.yaml")

// TestBuiltIn: the text shown to users equals the rules in use.
func TestBuiltIn(t *testing.T) {
	rules := mustParse(t, BuiltIn()).rules
	const file = "builtin.go"
	want := source(t, rules)
	if *update {
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(rules, builtInRules, cmp.AllowUnexported(rule{}, pattern{})); diff != "" {
		t.Errorf("%s is not what kernels.yaml says, which go test ./analyze/classify -update mends (-yaml +go):\n%s", file, diff)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not as go test ./analyze/classify -update writes it", file)
	}
}

// source returns a Go file with the rules, one on each line.
func source(t *testing.T, rules []rule) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("// Code generated from kernels.yaml by go test ./analyze/classify -update. DO NOT EDIT.\n\npackage classify\n\n")
	b.WriteString("// builtInRules are the rules of kernels.yaml, compiled. Nothing may change them.\nvar builtInRules = []rule{\n")
	for _, ru := range rules {
		class := map[Class]string{Compute: "Compute", Comm: "Comm"}[ru.class]
		fmt.Fprintf(&b, "{id: %q, class: %s, category: %q, ", ru.id, class, ru.category)
		if ru.onFull {
			b.WriteString("onFull: true, ")
		}
		b.WriteString("patterns: []pattern{")
		for i, p := range ru.patterns {
			if i > 0 {
				b.WriteString(", ")
			}
			writePattern(&b, p)
		}
		b.WriteString("}},\n")
	}
	b.WriteString("}\n")
	src, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func writePattern(b *bytes.Buffer, p pattern) {
	fmt.Fprintf(b, "{expr: %s", literal(p.expr))
	writeSets(b, "needs", p.needs)
	if p.sure {
		b.WriteString(", sure: true")
	}
	writeSets(b, "parts", p.parts)
	if p.fold {
		b.WriteString(", fold: true")
	}
	b.WriteString("}")
}

func writeSets(b *bytes.Buffer, field string, sets [][]string) {
	if len(sets) == 0 {
		return
	}
	fmt.Fprintf(b, ", %s: [][]string{", field)
	for i, set := range sets {
		if i > 0 {
			b.WriteString(", ")
		}
		quoted := make([]string, len(set))
		for j, s := range set {
			quoted[j] = literal(s)
		}
		fmt.Fprintf(b, "{%s}", strings.Join(quoted, ", "))
	}
	b.WriteString("}")
}

// literal quotes s in the form that needs fewer backslashes.
func literal(s string) string {
	if q := fmt.Sprintf("%#q", s); strings.Contains(s, `\`) {
		return q
	}
	return fmt.Sprintf("%q", s)
}
