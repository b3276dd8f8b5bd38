package forms

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

const (
	// guessLines is in how many lines of a sample the same names must have values.
	guessLines = 5
	// guessSample is how much of a text is looked at.
	guessSample = 1 << 20
)

// Guess looks for lines with values in a text without a known form. If the same
// names have numbers in several lines ("loss=0.5 lr: 0.1"), it returns one line of YAML
// with a form that reads these lines, or else "".
func Guess(sample []byte) string {
	sample = sample[:min(len(sample), guessSample)]
	type group struct {
		keys []string
		n    int
	}
	groups := map[string]*group{}
	var best *group
	scratch := []byte(nil)
	for _, line := range bytes.FieldsFunc(sample, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if len(line) > 2000 || bytes.IndexByte(line, '=') < 0 && !bytes.Contains(line, []byte(": ")) {
			continue
		}
		keys := guessKeys(plain(line, scratch))
		if len(keys) < 2 {
			continue
		}
		id := strings.Join(keys, "\x00")
		g := groups[id]
		if g == nil {
			if len(groups) > 1000 {
				continue
			}
			g = &group{keys: keys}
			groups[id] = g
		}
		if g.n++; best == nil || g.n > best.n {
			best = g
		}
	}
	if best == nil || best.n < guessLines {
		return ""
	}
	return guessForm(best.keys)
}

// guessKeys returns the names that have numbers in a line, with the sign behind them.
func guessKeys(line []byte) (keys []string) {
	for len(line) > 0 {
		var word []byte
		word, line = nextWord(line)
		switch n := bytes.IndexByte(word, '='); {
		case n > 0 && read(word[n+1:]).kind == number && plainKey(string(word[:n])) && n <= 40:
			keys = append(keys, string(word[:n+1]))
		case len(word) > 1 && word[len(word)-1] == ':' && len(word) <= 40 && plainKey(string(word[:len(word)-1])):
			value, rest := nextWord(line)
			if read(value).kind == number {
				keys = append(keys, string(word)+" ")
				line = rest
			}
		}
	}
	return keys
}

// guessForm returns a form for lines with the given keys. Its anchor is the longest of
// them, and a key that is likely the time of a step is shown as one.
func guessForm(keys []string) string {
	anchor := slices.MaxFunc(keys, func(a, b string) int { return len(a) - len(b) })
	if len(anchor) < minLiteral {
		return ""
	}
	field := ""
	for _, key := range keys {
		switch name := strings.TrimRight(key, ":= "); strings.ToLower(name) {
		case "dt", "time", "step_time", "iter_time", "elapsed", "duration", "batch_time":
			field = fmt.Sprintf("%s: step.time s", name)
		case "loss", "train_loss":
			if field == "" {
				field = fmt.Sprintf("%s: train.loss", name)
			}
		}
	}
	if field == "" {
		name := strings.TrimRight(keys[0], ":= ")
		field = fmt.Sprintf("%s: %s", name, name)
	}
	return fmt.Sprintf("forms: [{id: my-log, anchor: [%q], fields: {%s}}]", anchor, field)
}
