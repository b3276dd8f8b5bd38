package phase

import (
	"bytes"
	"flag"
	"fmt"
	"testing"

	"github.com/goccy/go-yaml"

	"assay/internal/settings"
	"assay/internal/test"
)

var update = flag.Bool("update", false, "write builtin.go anew, from phases.yaml")

// TestBuiltInSource: the text shown to users equals the rules in use.
func TestBuiltInSource(t *testing.T) {
	nodes, err := settings.List([]byte(BuiltIn()), "rules", "rule")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("// Code generated from phases.yaml by go test ./analyze/phase -update. DO NOT EDIT.\n\npackage phase\n\n")
	b.WriteString("// builtInEntries are the rules of phases.yaml. Nothing may change them.\nvar builtInEntries = []entry{\n")
	for _, n := range nodes {
		var e entry
		if err := yaml.NodeToValue(n, &e, yaml.Strict()); err != nil {
			t.Fatalf("phases.yaml:%d: %v", settings.Line(n), err)
		}
		e.Source = "" // for people
		ru, err := e.rule()
		if err != nil {
			t.Fatalf("phases.yaml:%d: %v", settings.Line(n), err)
		}
		var begins, parts [][]string
		for _, p := range ru.patterns {
			begins, parts = append(begins, p.begins), append(parts, p.parts)
		}
		fmt.Fprintf(&b, "{ID: %q, Step: %q, Phase: %q, Match: %#v, IgnoreCase: %v, Producer: %q, begins: %#v, parts: %#v},\n",
			e.ID, e.Step, e.Phase, e.Match, e.IgnoreCase, e.Producer, begins, parts)
	}
	b.WriteString("}\n")
	test.Generated(t, "builtin.go", b.Bytes(), *update)
}
