package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/internal/unit"
)

// A wrongValue says what is wrong with the value of a flag. The name of the flag goes before it.
type wrongValue string

func (w wrongValue) Error() string { return string(w) }

// A word is one of the values that a flag can have, and what the help says of it.
type word struct{ name, note string }

// An enum is the value of a flag that is one of a few words.
type enum struct {
	to    *string
	words []word
}

// choose registers a flag whose value is one of the words, or of those that the usage explains itself.
// The usage has %s where help lists the words.
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

// only makes words that need no note.
func only(names ...string) (out []word) {
	for _, name := range names {
		out = append(out, word{name: name})
	}
	return out
}

// either lists alternatives: "text, md or json".
func either(list []string) string { return series(list, " or ") }

// series joins a list, with the word before the last.
func series(list []string, word string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + word + list[last]
}

// A size is the value of a flag for a number of bytes, such as 100MB.
type size struct {
	text  string // as the user wrote it, "" for no value
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
