// Package jsonschema describes JSON that this program writes, from the Go types that it is encoded from, as JSON
// Schemas of draft 2020-12. Nothing is listed twice: names and optional members come from the tags that package
// encoding/json reads. The same description tells which members a reader can ask for: see [Schema.Lookup].
package jsonschema

import (
	"encoding"
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Draft is the dialect of the schemas.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// A Shaper is a type with a MarshalJSON method that says what it writes: JSONShape returns a value whose fields or
// elements are encoded without such a method.
type Shaper interface{ JSONShape() any }

// A Schema describes a JSON value.
type Schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	ID          string             `json:"$id,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        any                `json:"type,omitempty"` // a name, or a list of two
	Const       any                `json:"const,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	AnyOf       []*Schema          `json:"anyOf,omitempty"`
	Additional  *Schema            `json:"additionalProperties,omitempty"`
	Not         *Schema            `json:"not,omitempty"`
	Defs        map[string]*Schema `json:"$defs,omitempty"`

	target *Schema // of Ref
}

// Notes describe members by the type that has them and their name in JSON; "" describes none.
type Notes func(of reflect.Type, name string) string

// A Document is an output: its members are those of several values, in one object.
type Document struct {
	Name  string // the value of its member "schema"; "" if it has none
	Title string
	Parts []any
	Notes Notes // nil for none
	// Closed makes the schema refuse members that it does not name. Outputs may get more members, so published
	// schemas are open; tests use closed ones.
	Closed bool
}

// Schema returns the description of the document.
func (d Document) Schema() *Schema {
	m := maker{Document: d, defs: map[string]*Schema{}, names: map[reflect.Type]string{}}
	out := m.closed(&Schema{Type: "object", Properties: map[string]*Schema{}})
	for _, part := range d.Parts {
		m.fields(out, reflect.TypeOf(part), reflect.TypeOf(part))
	}
	if d.Name != "" {
		out.Properties["schema"] = &Schema{Const: d.Name}
		if !slices.Contains(out.Required, "schema") {
			out.Required = append(out.Required, "schema")
		}
	}
	out.Dialect, out.Title, out.Defs = Draft, d.Title, m.defs
	return out
}

// A maker makes one schema.
type maker struct {
	Document
	defs  map[string]*Schema
	names map[reflect.Type]string
}

func (m *maker) closed(s *Schema) *Schema {
	if m.Closed {
		s.Additional = &Schema{Not: &Schema{}}
	}
	return s
}

var (
	textType   = reflect.TypeFor[encoding.TextMarshaler]()
	jsonType   = reflect.TypeFor[json.Marshaler]()
	timeType   = reflect.TypeFor[time.Time]()
	numberType = reflect.TypeFor[json.Number]()
)

// of describes the values of a type.
func (m *maker) of(t reflect.Type) *Schema {
	if shape, ok := reflect.Zero(t).Interface().(Shaper); ok && t.Kind() != reflect.Pointer {
		return m.shaped(t, reflect.TypeOf(shape.JSONShape()))
	}
	switch {
	case t == numberType:
		return &Schema{Type: "number"}
	case t == timeType, t.Kind() != reflect.Pointer && t.Implements(textType):
		return &Schema{Type: "string"}
	case t.Kind() != reflect.Pointer && t.Implements(jsonType):
		return &Schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(m.of(t.Elem()))
	case reflect.Struct:
		return m.def(t, t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &Schema{Type: "string"}
		}
		return &Schema{Type: []string{"array", "null"}, Items: m.of(t.Elem())}
	case reflect.Array:
		return &Schema{Type: "array", Items: m.of(t.Elem())}
	case reflect.Map:
		return &Schema{Type: []string{"object", "null"}, Additional: m.of(t.Elem())}
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Interface:
		return &Schema{}
	}
	return &Schema{Type: "integer"}
}

// shaped describes a type by what it writes.
func (m *maker) shaped(t, shape reflect.Type) *Schema {
	if shape.Kind() == reflect.Struct {
		return m.def(t, shape)
	}
	return m.of(shape)
}

func orNull(s *Schema) *Schema {
	if name, ok := s.Type.(string); ok {
		null := *s
		null.Type = []string{name, "null"}
		return &null
	}
	if s.Ref != "" {
		return &Schema{AnyOf: []*Schema{s, {Type: "null"}}}
	}
	return s
}

// def returns a reference to the definition of a struct.
func (m *maker) def(t, shape reflect.Type) *Schema {
	name, ok := m.names[t]
	if !ok {
		if name = t.Name(); name == "" {
			s := m.closed(&Schema{Type: "object", Properties: map[string]*Schema{}})
			m.fields(s, t, shape)
			return s
		}
		if m.defs[name] != nil {
			name = strings.ReplaceAll(path.Base(t.PkgPath()), "-", "_") + "." + name
		}
		s := m.closed(&Schema{Type: "object", Properties: map[string]*Schema{}})
		m.names[t], m.defs[name] = name, s
		m.fields(s, t, shape)
	}
	return &Schema{Ref: "#/$defs/" + name, target: m.defs[name]}
}

// fields adds the members of a struct. Those of an outer struct replace those of embedded ones.
func (m *maker) fields(to *Schema, owner, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && indirect(f.Type).Kind() == reflect.Struct {
			m.fields(to, owner, f.Type)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		s := m.of(f.Type)
		to.Required = slices.DeleteFunc(to.Required, func(n string) bool { return n == name })
		if !strings.Contains(rest, "omit") {
			to.Required = append(to.Required, name)
		}
		if text := m.note(owner, name); text != "" {
			noted := *s
			noted.Description = text
			s = &noted
		}
		to.Properties[name] = s
	}
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// note describes a member: what the notes say, and the unit that its name ends in.
func (m *maker) note(owner reflect.Type, name string) string {
	text := ""
	if m.Notes != nil {
		text = m.Notes(owner, name)
	}
	unit := ""
	switch {
	case name == "ns" || strings.HasSuffix(name, "_ns"):
		unit = "nanoseconds"
	case name == "bytes" || strings.HasSuffix(name, "_bytes"):
		unit = "bytes"
	}
	if text != "" && unit != "" {
		return text + ", in " + unit
	}
	return text + unit
}

// Lookup reports whether the documents can have a member at a path, such as ["kernels", "name"]. If not, it returns
// the names of the members at the place where the path ends.
func (s *Schema) Lookup(names []string) (known bool, here []string) {
	at := s
	for i, name := range names {
		for at.target != nil || at.Items != nil || len(at.AnyOf) > 0 {
			switch {
			case at.target != nil:
				at = at.target
			case at.Items != nil:
				at = at.Items
			default:
				at = at.AnyOf[0]
			}
		}
		below := at.Properties[name]
		if below == nil && at.Properties == nil && (at.Additional != nil || at.Type == nil) {
			below = at.Additional // any name
			if below == nil {
				return true, nil
			}
		}
		if below == nil {
			for _, member := range slices.Sorted(maps.Keys(at.Properties)) {
				here = append(here, strings.Join(append(slices.Clone(names[:i]), member), "."))
			}
			return false, here
		}
		at = below
	}
	return true, nil
}

// Paths returns the paths of all members down to a depth.
func (s *Schema) Paths(depth int) (out []string) {
	_, here := s.Lookup([]string{""})
	for _, p := range here {
		out = append(out, p)
		if depth > 1 {
			out = append(out, s.below(p, depth-1)...)
		}
	}
	return out
}

func (s *Schema) below(p string, depth int) (out []string) {
	_, here := s.Lookup(append(strings.Split(p, "."), ""))
	for _, p := range here {
		out = append(out, p)
		if depth > 1 {
			out = append(out, s.below(p, depth-1)...)
		}
	}
	return out
}
