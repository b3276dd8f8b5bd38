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
// names have numbers in several lines ("loss=0.5 lr: 0.1", "loss 0.5"), it returns one line of YAML
// with a form that reads these lines, or else "".
func Guess(sample []byte) string {
	sample = sample[:min(len(sample), guessSample)]
	if form := guessBy(sample, "=:", guessKeys, guessForm); form != "" {
		return form
	}
	return guessBy(sample, " ", guessWords, guessMatch)
}

// guessBy finds the names that have values in most lines with one of the characters of
// signs, and returns their form if it reads these lines.
func guessBy(sample []byte, signs string, keysOf func([]byte) []string, formOf func([]string) string) string {
	type group struct {
		keys []string
		n    int
	}
	groups := map[string]*group{}
	var best *group
	for _, line := range bytes.FieldsFunc(sample, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if len(line) > 2000 || !bytes.ContainsAny(line, signs) {
			continue
		}
		keys := keysOf(redact.Line(line))
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
	form := formOf(best.keys)
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

// guessWords returns the names of a line that are followed by a number: "loss 3.2 | lr 0.1".
func guessWords(line []byte) (keys []string) {
	words := bytes.Fields(line)
	for i := range max(0, len(words)-1) {
		name := words[i]
		if len(name) <= 40 && plainKey(string(name)) && read(name).kind != number && read(bytes.TrimRight(words[i+1], ",;|")).kind == number {
			keys = append(keys, string(name))
		}
	}
	return keys
}

// guessMatch returns a form for lines with names that are followed by their numbers. It is
// read from behind its anchor on.
func guessMatch(keys []string) string {
	key, metric := guessMetric(keys)
	if len(key) < minLiteral-1 || !word(key) || !strings.Contains(metric, ".") { // not of a loss or of a time: the words are prose
		return ""
	}
	return fmt.Sprintf(`forms: [{id: my-log, anchor: ["%s "], match: '^ *(?P<%[1]s>[^ ,;|]+)', fields: {%[1]s: "%s"}}]`, key, metric)
}

// word reports whether a name may be that of a group of an expression.
func word(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" && (name[0] < '0' || name[0] > '9')
}

// guessForm returns a form for lines with the given keys. Its anchor is the longest key, and
// a key that is likely the time of a step becomes step.time.
func guessForm(keys []string) string {
	anchor := slices.MaxFunc(keys, func(a, b string) int { return len(a) - len(b) })
	if len(anchor) < minLiteral {
		return ""
	}
	key, metric := guessMetric(keys)
	return fmt.Sprintf("forms: [{id: my-log, anchor: [%q], fields: {%q: %q}}]", anchor, key, metric)
}

// guessMetric returns the key that says most of a program, and its metric with the unit.
func guessMetric(keys []string) (key, metric string) {
	key, metric = bareName(keys[0]), bareName(keys[0])
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
	return key, metric
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
