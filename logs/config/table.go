// Package config reads the configuration that trainers and inference servers print into their logs: as the arguments
// of a call (SGLang), a dictionary of Python in one line (vLLM) or in many (veRL, NeMo RL), as YAML (SkyRL), and as
// arguments of a command line. It knows a setting by its path: see settings.txt. Everything else of a configuration is
// skipped, paths of files and keys of services among it; of the path of a model, its name is kept.
//
// Start with reader.go (Reader). literal.go reads the syntax, table.go the table.
package config

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed settings.txt
var settingsText string

// A key is a setting of a program.
type key struct{ producer, name, unit string }

// A table has the settings that assay knows.
type table struct {
	keys  map[string][]key  // by path; programs that print paths share some
	roots map[string]bool   // first names of the paths of nested configurations
	means map[string]string // by canonical name
}

var settings = sync.OnceValue(func() *table {
	t, err := parse(settingsText)
	if err != nil {
		panic(err) // not possible: the table is part of the program, and a test reads it
	}
	return t
})

// parse reads a table.
func parse(text string) (*table, error) {
	t := &table{keys: map[string][]key{}, roots: map[string]bool{}, means: map[string]string{}}
	var k key
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		head, rest, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("settings.txt:%d: want a text, a colon and a text", n)
		}
		words := strings.Fields(head)
		if len(words) == 3 && words[0] == "setting" {
			k.name, k.unit = words[1], words[2]
			t.means[k.name] = rest
			continue
		}
		if k.name == "" {
			return nil, fmt.Errorf("settings.txt:%d: want a line that begins with setting first", n)
		}
		k.producer = head
		for path := range strings.FieldsSeq(rest) {
			t.keys[path] = append(t.keys[path], k)
			if root, _, nested := strings.Cut(path, "."); nested {
				t.roots[root] = true
			}
		}
	}
	return t, nil
}

// find returns the setting at a path; producer is "" for the configurations that nest their settings.
func (t *table) find(path, producer string) (key, bool) {
	for _, k := range t.keys[path] {
		if k.producer == producer || producer == "" && strings.Contains(path, ".") {
			return k, true
		}
	}
	return key{}, false
}

// valid returns a value as it is kept, and whether it is one of this unit.
func (k key) valid(text string) (string, bool) {
	const longest = 32
	if k.unit == "model" {
		return modelName(text)
	}
	if len(text) > longest || text == "" {
		return "", false
	}
	switch k.unit {
	case "switch":
		text = strings.ToLower(text)
		return text, text == "true" || text == "false"
	case "word":
		return text, isWord(text)
	}
	digits := strings.ReplaceAll(strings.TrimSuffix(text, "."), "_", "")
	v, err := parseNumber(digits)
	return digits, err == nil && v >= 0
}

// modelName returns the last two parts of the path of a model, which name it on all machines: its owner, and its name.
func modelName(path string) (string, bool) {
	const longest = 96
	parts := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '\\' })
	from := max(0, len(parts)-2)
	if from > 0 && (parts[from-1] == "home" || parts[from-1] == "Users") { // the owner is the user of the machine
		from++
	}
	name := strings.Join(parts[from:], "/")
	return name, isWord(strings.ReplaceAll(name, "/", "-")) && len(name) <= longest
}

// isWord reports whether a text is one word, and states a value.
func isWord(text string) bool {
	for _, c := range text {
		if !(c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return text != "" && text != "None" && text != "null"
}
