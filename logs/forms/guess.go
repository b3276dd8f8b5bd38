package forms

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"assay/internal/redact"
	"assay/logs"
)

const (
	// guessLines is the number of lines in which the same names must have values.
	guessLines = 5
	// guessSample is the number of bytes of a text that are searched.
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
	for _, line := range bytes.FieldsFunc(sample, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if len(line) > 2000 || !bytes.ContainsAny(line, "=:") {
			continue
		}
		keys := guessKeys(redact.Line(line))
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
	form := guessForm(best.keys)
	if !reads(form, sample) {
		return ""
	}
	return form
}

// guessKeys returns the names before numbers in a line, with the separator after them.
func guessKeys(line []byte) (keys []string) {
	add := func(key, value []byte, sign string) bool {
		name := bareKey(key)
		ok := len(name) > 0 && len(name) <= 40 && plainKey(string(name)) && read(value).kind == number
		if ok {
			keys = append(keys, string(key[bytes.Index(key, name):])+sign)
		}
		return ok
	}
	for len(line) > 0 {
		var word []byte
		word, line = nextWord(line)
		last := len(word) - 1
		switch n := bytes.IndexAny(word, "=:"); {
		case n > 0 && n < last:
			add(word[:n], word[n+1:], string(word[n:n+1]))
		case n > 0 && word[n] == ':':
			if value, rest := nextWord(line); add(word[:n], value, ": ") {
				line = rest
			}
		}
	}
	return keys
}

// guessForm returns a form for lines with the given keys. Its anchor is the longest key, and
// a key that is likely the time of a step becomes step.time.
func guessForm(keys []string) string {
	anchor := slices.MaxFunc(keys, func(a, b string) int { return len(a) - len(b) })
	if len(anchor) < minLiteral {
		return ""
	}
	key, metric := bareName(keys[0]), bareName(keys[0])
	for _, k := range keys {
		switch name := bareName(k); strings.ToLower(name) {
		case "dt", "step_time", "iter_time", "batch_time", "time_per_step", "sec_per_step", "s/step", "s/it":
			key, metric = name, "step.time s"
		case "step_time_ms", "iter_time_ms", "batch_time_ms", "ms/step", "ms/it":
			key, metric = name, "step.time ms"
		case "loss", "train_loss":
			if !strings.HasPrefix(metric, "step.time") {
				key, metric = name, "train.loss"
			}
		}
	}
	if strings.ContainsAny(metric, " |") && !strings.HasPrefix(metric, "step.time") {
		metric = "value"
	}
	return fmt.Sprintf("forms: [{id: my-log, anchor: [%q], fields: {%q: %q}}]", anchor, key, metric)
}

// bareName returns a key without what surrounds it and without its sign.
func bareName(key string) string {
	return string(bareKey([]byte(strings.TrimRight(key, ":= "))))
}

// reads reports whether a form reads values from a text. A form that is proposed to a user
// must work.
func reads(form string, text []byte) bool {
	set, err := Parse([]byte(form), "form")
	if err != nil {
		return false
	}
	log, err := Read(bytes.NewReader(text), "sample", set, logs.Limits{})
	if err != nil {
		return false
	}
	return slices.ContainsFunc(log.Series, func(s logs.Series) bool { return s.N >= guessLines })
}
