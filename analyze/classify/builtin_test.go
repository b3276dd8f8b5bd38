package classify

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test"
)

var update = flag.Bool("update", false, "write builtin.go anew, from kernels.yaml")

// TestBuiltIn: the text shown to users equals the rules in use.
func TestBuiltIn(t *testing.T) {
	rules := mustParse(t, BuiltIn()).rules
	test.Generated(t, "builtin.go", source(rules), *update)
	if diff := cmp.Diff(rules, builtInRules, cmp.AllowUnexported(rule{}, pattern{})); diff != "" && !*update {
		t.Errorf("builtin.go is not what kernels.yaml says (-yaml +go):\n%s", diff)
	}
}

// source returns a Go file with the rules, one on each line.
func source(rules []rule) []byte {
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
	return b.Bytes()
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
