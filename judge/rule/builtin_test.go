package rule

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"assay/internal/settings"
	"assay/internal/test"
)

var update = flag.Bool("update", false, "write builtin.go from the YAML files of this folder")

// ruleFiles are the files of rules. Their order, and that of the rules in each, is the
// order of precedence.
var ruleFiles = []string{"capture", "idle", "communication", "copies", "timeline", "kernels", "steps", "phases", "counters", "tables", "profiles", "memory", "compilation", "series", "health"}

// TestBuiltInSource compares builtin.go with the YAML files. The program has their
// content as Go data, because reading YAML takes longer than most traces do.
func TestBuiltInSource(t *testing.T) {
	test.Generated(t, "builtin.go", builtInSource(t), *update)
}

// builtInSource returns a Go file with the content of the YAML files.
func builtInSource(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("// Code generated from the YAML files of this folder by go test ./judge/rule -update. DO NOT EDIT.\n\npackage rule\n")
	declare := func(before string, value any, after string) {
		b.WriteString("\n" + before)
		writeLiteral(&b, reflect.ValueOf(value), true)
		b.WriteString(after)
	}
	declare("// builtInRules has the rules of the folder rules, in their order of precedence. Nothing\n// may change them.\nvar builtInRules = ", readRules(t), "\n")
	declare("// builtInSources has the sources of rules/sources.yaml by name. Nothing may change them.\nvar builtInSources = ", readSources(t), "\n")
	function := func(name, file string, value any) {
		declare(fmt.Sprintf("// %s returns the entries of %s, in their order.\nfunc %[1]s() %[3]s {\n\treturn ", name, file, typeName(reflect.TypeOf(value))), value, "\n}\n")
	}
	function("builtInStacks", "stacks.yaml", inOrder(t, "stacks.yaml", func(e *stackEntry, id string) { e.id = id }))
	return b.Bytes()
}

// readRules reads the files of rules. Every file of the folder must be in [ruleFiles].
func readRules(t *testing.T) (rules []ruleEntry) {
	t.Helper()
	for _, name := range ruleFiles {
		file := filepath.Join("rules", name+".yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parseRules(text)
		if err != nil {
			t.Fatalf("%s:%v", file, err)
		}
		rules = append(rules, parsed...)
	}
	files := test.Files(t, "rules/*")
	if len(files) != len(ruleFiles)+1 { // and sources.yaml
		t.Fatalf("the folder has %q, want the files of ruleFiles and sources.yaml", files)
	}
	return rules
}

// parseRules reads a file of rules. An error begins with its line.
func parseRules(text []byte) (rules []ruleEntry, err error) {
	err = settings.Mapping(text, "rules", func(entry *ast.MappingValueNode) error {
		e := ruleEntry{Rule: Rule{ID: entry.Key.GetToken().Value}}
		limits := func(key string, value ast.Node) error { return e.set(key, value, true) }
		err := eachKey(entry, func(key string, value ast.Node) error {
			if key != "remedies" {
				err := decodeKey(&e, key, value, limits)
				if wrong := e.Say.wrong(); err == nil && key == "say" && wrong != "" {
					err = settings.Errorf(value, "say: %s", wrong)
				}
				return err
			}
			return settings.EachEntry(value, "remedies", func(remedy *ast.MappingValueNode) error {
				r := &remedyEntry{ID: remedy.Key.GetToken().Value}
				e.Remedies = append(e.Remedies, r)
				return eachKey(remedy, func(key string, value ast.Node) error {
					err := decodeKey(r, key, value, func(key string, value ast.Node) error {
						return settings.Errorf(value, "remedy %q: unknown key %q", r.ID, key)
					})
					if wrong := r.When.wrong(); err == nil && key == "when" && wrong != "" {
						err = settings.Errorf(value, "remedy %q: when: %s", r.ID, wrong)
					}
					return err
				})
			})
		})
		rules = append(rules, e)
		return err
	})
	return rules, err
}

// decodeKey stores a value in the field of the struct into whose yaml name is key. It
// calls others if there is none.
func decodeKey(into any, key string, value ast.Node, others func(string, ast.Node) error) error {
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") != key {
			continue
		}
		if err := yaml.NodeToValue(value, v.Field(i).Addr().Interface(), yaml.Strict()); err != nil {
			line, text, _ := settings.Mistake(settings.Line(value), err)
			return fmt.Errorf("%d: %s: %s", line, key, text)
		}
		return nil
	}
	return others(key, value)
}

// readSources returns the sources, sorted by name.
func readSources(t *testing.T) []namedSource {
	t.Helper()
	out := inOrder(t, "rules/sources.yaml", func(s *namedSource, name string) { s.Name = name })
	slices.SortFunc(out, func(a, b namedSource) int { return strings.Compare(a.Name, b.Name) })
	return out
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
	case reflect.Pointer:
		return "*" + typeName(t.Elem())
	}
	return t.Name()
}

// writeLiteral writes a value as Go source, without fields that are zero: a line for
// each struct of a slice. The type of what is in slices need not be repeated.
func writeLiteral(b *bytes.Buffer, v reflect.Value, typed bool) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	} else if typed && (v.Kind() == reflect.Slice || v.Kind() == reflect.Struct) {
		b.WriteString(typeName(v.Type()))
	}
	switch v.Kind() {
	case reflect.String:
		b.WriteString(strconv.Quote(v.String()))
	case reflect.Slice:
		end := ""
		if v.Type().Elem().Kind() != reflect.String {
			end = "\n"
		}
		b.WriteString("{" + end)
		for i := range v.Len() {
			writeLiteral(b, v.Index(i), false)
			b.WriteString("," + end)
		}
		b.WriteString("}")
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
