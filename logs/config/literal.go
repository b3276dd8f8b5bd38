package config

import (
	"math"
	"strconv"
	"strings"
)

// parseNumber returns a finite number.
func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = strconv.ErrRange
	}
	return v, err
}

// deepest is the largest number of brackets within each other that are followed.
const deepest = 32

// A literal is a value of Python or JSON that is read line by line: dictionaries, lists and calls with arguments.
type literal struct {
	path []string // the keys of the open brackets; "" for elements of lists
	key  string   // of the value that follows
	done bool     // the first bracket is closed

	value   string // of key, until a comma or a bracket ends it; a line may be cut within a number
	emit    func(path, value string)
	strange bool // brackets are too deep: this is no configuration
}

// line reads the next line.
func (l *literal) line(s string) {
	for i := 0; i < len(s) && !l.done && !l.strange; {
		switch c := s[i]; {
		case c == ' ' || c == '\t':
			i++
		case c == '{' || c == '[' || c == '(':
			l.path, l.key, l.value = append(l.path, l.key), "", ""
			l.strange = len(l.path) > deepest
			i++
		case c == '}' || c == ']' || c == ')':
			l.end()
			l.path = l.path[:max(0, len(l.path)-1)]
			l.done = len(l.path) == 0
			i++
		case c == ',':
			l.end()
			i++
		case c == ':' || c == '=':
			l.key, l.value = l.value, ""
			i++
		case c == '\'' || c == '"':
			text, n := quoted(s[i:])
			l.value, i = text, i+n
		default:
			n := strings.IndexAny(s[i:], ",:=()[]{}'\" \t")
			if n < 0 {
				n = len(s) - i
			}
			l.value, i = s[i:i+max(n, 1)], i+max(n, 1)
		}
	}
	if l.key == "" { // a key ends on its line
		l.value = ""
	}
}

// end ends a value.
func (l *literal) end() {
	if l.key != "" && l.value != "" {
		l.emit(joined(l.path[min(1, len(l.path)):], l.key), l.value)
	}
	l.key, l.value = "", ""
}

// quoted returns the text in quotes at the beginning of s, and its length with the quotes.
func quoted(s string) (text string, n int) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return s[1:i], i + 1
		}
	}
	return s[1:], len(s)
}

// joined returns a path.
func joined(path []string, last string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString(p + ".")
	}
	return b.String() + last
}
