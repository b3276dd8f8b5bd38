package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/excerpt"
)

const (
	usualBytes = 20_000
	mostBytes  = 200_000
)

// A call is a command line with the files that it reads, and the part of its JSON that is asked for.
type call struct {
	tool  *tool
	flags []string
	files []found
	part  excerpt.Options
}

// inputSchema returns the JSON Schema of the arguments of a tool.
func (c *Config) inputSchema(t *tool) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, a := range t.arguments {
		p := map[string]any{"description": a.does}
		switch list := map[string]any{"type": "string"}; a.kind {
		case text, find, file:
			p["type"] = "string"
		case texts, each, files, flagged, fields, names:
			p["anyOf"] = []any{map[string]any{"type": "string"}, map[string]any{"type": "array", "items": list}}
		case changes:
			p["type"], p["items"] = "array", list
			p["description"] = a.does + ", each NAME=VALUE or NAME: " + wordList(c.Changes)
		case choice:
			p["type"] = "string"
			p["description"] = a.does + ": " + strings.Join(c.Guides, ", ")
		case number, top, skip, bytes:
			p["type"], p["minimum"] = "integer", 0
		case yes:
			p["type"] = "boolean"
		}
		properties[a.name] = p
		if a.required {
			required = append(required, a.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func wordList(words []Word) string {
	var list []string
	for _, w := range words {
		list = append(list, w.Name+" ("+w.Does+")")
	}
	return strings.Join(list, "; ")
}

// Limits of what one call may name.
const (
	mostValues = 256
	mostText   = 4096 // bytes
)

// call reads the arguments of a call of a tool, and finds its files.
func (s *Server) call(t *tool, raw json.RawMessage) (*call, error) {
	given := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, errors.New("the arguments are no JSON object")
		}
	}
	c := &call{tool: t, part: excerpt.Options{Fields: t.fields, Top: t.top, MaxBytes: usualBytes, Keys: s.Keys, First: s.First, Whole: s.Whole}}
	if t.name == "search_names" {
		c.part.Fields = s.Names
	}
	for name := range given {
		if !slices.ContainsFunc(t.arguments, func(a argument) bool { return a.name == name }) {
			return nil, fmt.Errorf("%s has no argument %q; it has %s", t.name, name, strings.Join(t.argumentNames(), ", "))
		}
	}
	for _, a := range t.arguments {
		v, ok := given[a.name]
		if !ok || v == nil {
			if a.required {
				return nil, fmt.Errorf("%s needs the argument %s: %s", t.name, a.name, a.does)
			}
			continue
		}
		if err := s.add(c, a, v); err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
	}
	if len(t.needs) > 0 && !slices.ContainsFunc(t.needs, func(name string) bool { return given[name] != nil }) {
		return nil, fmt.Errorf("%s needs one of the arguments %s", t.name, strings.Join(t.needs, ", "))
	}
	if given["fields"] == nil && t.document == "comparison" && (given["by"] != nil || given["where"] != nil) {
		c.part.Fields = nil
	}
	document := t.document
	if document == "comparison" && (given["by"] != nil || given["where"] != nil) {
		document = "groups"
	}
	if given["fields"] != nil {
		if wrong := s.CheckFields(c.part.Fields, document); wrong != "" {
			return nil, errors.New(wrong)
		}
	}
	return c, nil
}

func (t *tool) argumentNames() (out []string) {
	for _, a := range t.arguments {
		out = append(out, a.name)
	}
	return out
}

// add adds the value of one argument to a call.
func (s *Server) add(c *call, a argument, v any) error {
	flag := "--" + a.name
	if a.flag != "" {
		flag = "--" + a.flag
	}
	switch a.kind {
	case yes:
		on, ok := v.(bool)
		if !ok {
			return errors.New("want true or false")
		}
		if on {
			c.flags = append(c.flags, flag)
		}
		return nil
	case number, top, skip, bytes:
		return c.number(a, flag, v)
	}
	list, err := textsOf(v)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return nil
	}
	switch a.kind {
	case text:
		c.flags = append(c.flags, flag+"="+list[0])
	case texts:
		c.flags = append(c.flags, flag+"="+strings.Join(list, ","))
	case each:
		for _, value := range list {
			c.flags = append(c.flags, flag+"="+value)
		}
	case names:
		for _, name := range list {
			if strings.HasPrefix(name, "-") {
				return fmt.Errorf("no rule, code or page is named %q", name)
			}
		}
		c.flags = append(c.flags, list...)
	case fields:
		c.part.Fields = nil
		for _, f := range list {
			c.part.Fields = append(c.part.Fields, strings.Split(f, ",")...)
		}
	case find:
		c.part.Find = list[0]
	case changes:
		return s.changes(c, list)
	case choice:
		if slices.Contains(s.Guides, list[0]) {
			c.flags = append(c.flags, flag+"="+list[0])
			return nil
		}
		return s.files(c, list, flag)
	case flagged:
		return s.files(c, list, flag)
	default:
		return s.files(c, list, "")
	}
	return nil
}

// number adds an argument that is a number.
func (c *call) number(a argument, flag string, v any) error {
	f, ok := v.(float64)
	if !ok || f != math.Trunc(f) || f < 0 || f > 1e9 {
		return errors.New("want a whole number, 0 or more")
	}
	n := int(f)
	switch a.kind {
	case top:
		c.part.Top = n
	case skip:
		c.part.Skip = n
	case bytes:
		if n < excerpt.LeastBytes || n > mostBytes {
			return fmt.Errorf("want %d to %d", excerpt.LeastBytes, mostBytes)
		}
		c.part.MaxBytes = n
	default:
		c.flags = append(c.flags, flag+"="+strconv.Itoa(n))
	}
	return nil
}

// changes adds the flags of changes, whose names are checked, because others are flags of the command too.
func (s *Server) changes(c *call, list []string) error {
	for _, change := range list {
		name, value, _ := strings.Cut(strings.TrimLeft(change, "-"), "=")
		if !slices.ContainsFunc(s.Changes, func(w Word) bool { return w.Name == name }) {
			return fmt.Errorf("there is no change %q; there are %s", name, wordList(s.Changes))
		}
		c.flags = append(c.flags, "--"+name+"="+value)
	}
	return nil
}

// files adds files, each with the flag, or as inputs if it is "".
func (s *Server) files(c *call, list []string, flag string) error {
	for _, name := range list {
		f, err := s.folders.find(name)
		if err != nil {
			return err
		}
		f.flag = flag
		c.files = append(c.files, f)
	}
	return nil
}

// textsOf returns a text, or the texts of a list.
func textsOf(v any) (out []string, err error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if len(list) > mostValues {
		return nil, fmt.Errorf("%d values, want at most %d", len(list), mostValues)
	}
	for _, v := range list {
		s, ok := v.(string)
		switch {
		case !ok:
			return nil, errors.New("want a text or a list of texts")
		case len(s) > mostText:
			return nil, fmt.Errorf("a text of %d bytes, want at most %d", len(s), mostText)
		case strings.ContainsRune(s, 0):
			return nil, errors.New("a text has a character that no name has")
		}
		out = append(out, s)
	}
	return out, nil
}
