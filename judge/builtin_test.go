package judge

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/format"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

var update = flag.Bool("update", false, "write builtin.go anew, from the files of rules, pages, remedies and stacks")

// TestBuiltInSource: what decides is what the files say, which are for people to read and
// to change. Reading them takes longer than most traces do, so the program has them
// as literals.
func TestBuiltInSource(t *testing.T) {
	const file = "builtin.go"
	want := builtInSource(t)
	if *update {
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the files say; go test ./judge -run TestBuiltInSource -update writes it", file)
	}
}

// builtInSource returns a Go file with what the files say.
func builtInSource(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("// Code generated from the YAML files of this folder by go test ./judge -update. DO NOT EDIT.\n\npackage judge\n")
	function := func(name, about string, value any) {
		fmt.Fprintf(&b, "\n// %s %s.\nfunc %[1]s() %[3]s {\n\treturn ", name, about, typeName(reflect.TypeOf(value)))
		writeLiteral(&b, reflect.ValueOf(value), true)
		b.WriteString("\n}\n")
	}
	function("builtInRules", "returns the rules of thresholds.yaml, in their order", definedRules(t))
	var pages map[string]pageEntry
	readBuiltIn(t, "pages.yaml", &pages)
	function("builtInPages", "returns the pages of pages.yaml", pages)
	var book remedyBook
	readBuiltIn(t, "remedies.yaml", &book)
	function("builtInRemedies", "returns the remedies of remedies.yaml and their sources", book)
	function("builtInStacks", "returns the stacks of stacks.yaml, in their order", inOrder(t, "stacks.yaml", func(e *stackEntry, id string) { e.id = id }))
	src, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// definedRules reads the file that says which rules there are.
func definedRules(t *testing.T) (rules []Rule) {
	t.Helper()
	err := eachRule([]byte(defaultsYAML), func(entry *ast.MappingValueNode) error {
		r := Rule{ID: entry.Key.GetToken().Value}
		err := eachKey(entry, func(key string, value ast.Node) error { return r.set(key, value, true) })
		rules = append(rules, r)
		return err
	})
	if err != nil {
		t.Fatalf("thresholds.yaml:%v", err)
	}
	return rules
}

func readBuiltIn(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalWithOptions(text, into, yaml.Strict()); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// inOrder reads a file of entries by id, in the order of the file.
func inOrder[T any](t *testing.T, name string, named func(*T, string)) (out []T) {
	t.Helper()
	var order yaml.MapSlice
	var byID map[string]T
	readBuiltIn(t, name, &order)
	readBuiltIn(t, name, &byID)
	for _, item := range order {
		e := byID[fmt.Sprint(item.Key)]
		named(&e, fmt.Sprint(item.Key))
		out = append(out, e)
	}
	return out
}

// typeName returns a type as this package names it.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Map:
		return "map[" + typeName(t.Key()) + "]" + typeName(t.Elem())
	case reflect.Pointer:
		return "*" + typeName(t.Elem())
	}
	return t.Name()
}

// writeLiteral writes a value as Go source, without fields that are zero. The type
// of what is in slices and maps need not be repeated.
func writeLiteral(b *bytes.Buffer, v reflect.Value, typed bool) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	} else if typed && (v.Kind() == reflect.Slice || v.Kind() == reflect.Map || v.Kind() == reflect.Struct) {
		b.WriteString(typeName(v.Type()))
	}
	switch v.Kind() {
	case reflect.String:
		b.WriteString(strconv.Quote(v.String()))
	case reflect.Slice:
		b.WriteString("{")
		for i := range v.Len() {
			b.WriteString("\n")
			writeLiteral(b, v.Index(i), false)
			b.WriteString(",")
		}
		b.WriteString("\n}")
	case reflect.Map:
		b.WriteString("{")
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			fmt.Fprintf(b, "\n%q: ", k.String())
			writeLiteral(b, v.MapIndex(k), false)
			b.WriteString(",")
		}
		b.WriteString("\n}")
	case reflect.Struct:
		b.WriteString("{")
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				fmt.Fprintf(b, "%s: ", v.Type().Field(i).Name)
				writeLiteral(b, f, true)
				b.WriteString(", ")
			}
		}
		b.WriteString("}")
	case reflect.Float64:
		b.WriteString(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	default:
		fmt.Fprint(b, v.Interface())
	}
}
