package doctor

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/goccy/go-yaml"

	"assay/internal/test"
)

var update = flag.Bool("update", false, "write builtin.go anew, from questions.yaml")

// TestBuiltInSource checks that builtin.go has what questions.yaml says. Each report asks
// the questions, and reading YAML takes longer than reading most traces, so the program
// has them as literals.
func TestBuiltInSource(t *testing.T) {
	test.Generated(t, "builtin.go", builtInSource(t), *update)
}

// builtInSource returns a Go file with the entries of questions.yaml, in their order.
func builtInSource(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("questions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var order yaml.MapSlice
	var byID map[string]questionEntry
	for _, into := range []any{&order, &byID} {
		if err := yaml.UnmarshalWithOptions(text, into, yaml.Strict()); err != nil {
			t.Fatalf("questions.yaml: %v", err)
		}
	}
	var b bytes.Buffer
	b.WriteString("// Code generated from questions.yaml by go test ./judge/doctor -update. DO NOT EDIT.\n\npackage doctor\n\n")
	b.WriteString("// builtInQuestions returns the questions of questions.yaml, in their order.\nfunc builtInQuestions() []questionEntry {\n\treturn []questionEntry{\n")
	for _, item := range order {
		id := fmt.Sprint(item.Key)
		fmt.Fprintf(&b, "{id: %q, ", id)
		entry := reflect.ValueOf(byID[id])
		for i := range entry.NumField() {
			if text := entry.Field(i).String(); text != "" {
				fmt.Fprintf(&b, "%s: %q, ", entry.Type().Field(i).Name, text)
			}
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n}\n")
	return b.Bytes()
}
