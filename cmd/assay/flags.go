package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/internal/unit"
)

// wrongValue is the error of a flag's value. The caller puts the name of the flag in front of it.
type wrongValue string

func (w wrongValue) Error() string { return string(w) }

// word is one of the values that a flag accepts, with a note for the help.
type word struct{ name, note string }

// enum is the value of a flag that accepts a few words.
type enum struct {
	to    *string
	words []word
}

// choose registers a flag that accepts the given words, and the words in explained, which the usage
// text describes itself. The usage has %s where the help lists the words.
func choose(flags *pflag.FlagSet, to *string, name, short, usual, usage string, words []word, explained ...string) {
	var list []string
	for _, w := range words {
		if w.note != "" {
			w.name += " (" + w.note + ")"
		}
		list = append(list, w.name)
	}
	*to = usual
	flags.VarP(&enum{to, append(words, only(explained...)...)}, name, short, fmt.Sprintf(usage, either(list)))
}

func (c *enum) String() string { return *c.to }

func (c *enum) Type() string { return "string" }

func (c *enum) Set(text string) error {
	if !slices.ContainsFunc(c.words, func(w word) bool { return w.name == text }) {
		return wrongValue(fmt.Sprintf(" is %q, want %s", text, either(names(c.words))))
	}
	*c.to = text
	return nil
}

func names(words []word) (out []string) {
	for _, w := range words {
		out = append(out, w.name)
	}
	return out
}

// only makes words without notes.
func only(names ...string) (out []word) {
	for _, name := range names {
		out = append(out, word{name: name})
	}
	return out
}

// either lists alternatives: "text, md or json".
func either(list []string) string { return series(list, " or ") }

// series joins a list with commas, and with the given word before the last element.
func series(list []string, word string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + word + list[last]
}

// size is the value of a flag for a number of bytes, such as 100MB.
type size struct {
	text  string // as the user wrote it; "" if the flag is not given
	bytes int64
	least int64 // the smallest that is accepted
}

func (s *size) String() string { return s.text }

func (s *size) Type() string { return "size" }

func (s *size) Set(text string) (err error) {
	if s.text = text; text == "" {
		s.bytes = 0
		return nil
	}
	if s.bytes, err = unit.ParseBytes(text); err != nil {
		return wrongValue(": " + err.Error())
	}
	if s.bytes < s.least {
		return wrongValue(fmt.Sprintf(" is %q, want at least %s", text, unit.Bytes(s.least)))
	}
	return nil
}
