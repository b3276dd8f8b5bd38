package forms

import (
	"bytes"
	"math"
	"strconv"

	"assay/logs"
)

// A kind classifies the text at the position of a value.
type kind uint8

const (
	junk    kind = iota // not a value
	number              // a number, perhaps with a unit; also nan and inf
	missing             // None, N/A, a hyphen, or nothing
)

// A reading is the parsed text at the position of a value.
type reading struct {
	kind  kind
	value float64
	unit  []byte // directly after the number: "%", "ms", "tokens/s"; empty if there is none

	paren      bool // a second number in parentheses follows
	parenValue float64
	parenUnit  []byte
}

// words are the values that are not written with digits.
var words = map[string]reading{
	"": {kind: missing}, "None": {kind: missing}, "null": {kind: missing}, "N/A": {kind: missing}, "[N/A]": {kind: missing}, "n/a": {kind: missing}, "-": {kind: missing}, "--": {kind: missing},
	"True": {kind: number, value: 1}, "true": {kind: number, value: 1}, "False": {kind: number}, "false": {kind: number},
	"nan": {kind: number, value: math.NaN()}, "NaN": {kind: number, value: math.NaN()}, "-nan": {kind: number, value: math.NaN()},
	"inf": {kind: number, value: math.Inf(1)}, "Infinity": {kind: number, value: math.Inf(1)}, "+inf": {kind: number, value: math.Inf(1)}, "Inf": {kind: number, value: math.Inf(1)},
	"-inf": {kind: number, value: math.Inf(-1)}, "-Infinity": {kind: number, value: math.Inf(-1)}, "-Inf": {kind: number, value: math.Inf(-1)},
}

// maxValue is the maximum length of a value in bytes. Longer texts are not numbers.
const maxValue = 128

// read reads a value. It may be surrounded by spaces, quotes, the call of a NumPy or PyTorch
// type or closing brackets, and may be followed by a unit and a second number after a slash or
// in parentheses. "1.5/2.5" is a current value and an average; the first is used.
func read(b []byte) reading {
	b = trim(b)
	if len(b) > maxValue {
		return reading{}
	}
	if len(b) > 0 && (b[0] == '\'' || b[0] == '"') {
		b = trim(bytes.Trim(b, `'"`))
	}
	if len(b) > 0 && (b[0] == '+' || b[0] == '-' || b[0] == '.' || '0' <= b[0] && b[0] <= '9') {
		if r, ok := readNumber(b); ok {
			return r
		}
	}
	if w, ok := words[string(b)]; ok {
		return w
	}
	if i := bytes.IndexByte(b, '('); i > 0 && (bytes.HasPrefix(b, []byte("np.")) || bytes.HasPrefix(b, []byte("tensor(")) || bytes.HasPrefix(b, []byte("numpy."))) {
		inner := bytes.TrimRight(b[i+1:], ")")
		if end := bytes.IndexByte(inner, ','); end >= 0 {
			inner = inner[:end]
		}
		return read(inner)
	}
	return reading{}
}

// trim removes spaces, and characters that end a list or a record.
func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 {
		switch c := b[len(b)-1]; {
		case isSpace(c), c == ',', c == ';', c == '}', c == ']' && b[0] != '[', c == '|':
			b = b[:len(b)-1]
		default:
			return b
		}
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// readNumber reads a number and its unit.
func readNumber(b []byte) (reading, bool) {
	v, n := parseFloat(b)
	if n == 0 {
		return reading{}, false
	}
	r := reading{kind: number, value: v}
	rest := trim(b[n:])
	switch {
	case len(rest) == 0:
		return r, true
	case rest[0] == '/' && len(rest) > 1 && (isDigit(rest[1]) || rest[1] == '-' || rest[1] == 'n'):
		return r, true // the average of the steps so far
	case rest[0] == ',' && rest[len(rest)-1] == ')': // "(least, most)" of all ranks
		if v, n := parseFloat(trim(rest[1:])); n > 0 {
			r.value = v
			return r, true
		}
		return reading{}, false
	case rest[0] == '.' && len(rest) == 1:
		return r, true // the end of a sentence
	}
	end := 0
	for end < len(rest) && !isSpace(rest[end]) && rest[end] != '(' && rest[end] != '[' {
		if rest[end] == '/' && end+1 < len(rest) && isDigit(rest[end+1]) {
			break // "1GB/2GB"
		}
		end++
	}
	r.unit = bytes.TrimRight(rest[:end], ".")
	rest = trim(rest[end:])
	switch {
	case len(rest) == 0 || rest[0] == '/' || rest[0] == '[':
		return r, len(r.unit) > 0 || len(rest) == 0
	case rest[0] == '(':
		if second, m := parseFloat(trim(rest[1:])); m > 0 {
			unit, _, _ := bytes.Cut(trim(rest[1:])[m:], []byte(")"))
			r.paren, r.parenValue, r.parenUnit = true, second, perPlace(trim(unit))
		}
		return r, true
	case isDigit(rest[0]): // "6.5 TF/s/GPU 105.0 GB/s/GPU"
		second, n := parseFloat(rest)
		first, unit := perPlace(r.unit), perPlace(trim(rest[n:]))
		_, _, known := logs.ScaleOf(string(first), false)
		if _, _, ok := logs.ScaleOf(string(unit), false); ok && known && len(unit) > 0 {
			r.unit, r.paren, r.parenValue, r.parenUnit = first, true, second, unit
			return r, true
		}
	}
	return reading{}, false
}

// perPlace returns a unit without the words "per GPU", which the metric says too.
func perPlace(unit []byte) []byte {
	for _, place := range []string{" per rank", " per GPU", " per gpu", " per device", "/GPU"} {
		unit = bytes.TrimSuffix(unit, []byte(place))
	}
	return unit
}

// powers are the powers of ten that a float64 has exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseFloat reads a decimal number at the beginning of b, in which commas may group the
// digits by three. It returns the number of bytes read, 0 if there is no number. A comma
// after more than three digits or after a leading 0 may be a decimal comma, and ends the
// number.
func parseFloat(b []byte) (v float64, n int) {
	i, negative := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	start := i
	var mantissa uint64
	digits, after, commas, group := 0, 0, 0, start
	for ; i < len(b); i++ {
		c := b[i]
		if isDigit(c) {
			if digits < 19 {
				mantissa = mantissa*10 + uint64(c-'0')
			}
			digits++
			continue
		}
		if c == ',' && i > group && i-group <= 3 && b[start] != '0' && groups(b[i+1:]) {
			commas++
			group = i + 1
			continue
		}
		break
	}
	if i < len(b) && b[i] == '.' && (digits > 0 || i+1 < len(b) && isDigit(b[i+1])) {
		j := i + 1
		for ; j < len(b) && isDigit(b[j]); j++ {
			if digits < 19 {
				mantissa = mantissa*10 + uint64(b[j]-'0')
				after++
			}
			digits++
		}
		if j > i+1 {
			i = j
		} else if j == len(b) || !isLetter(b[j]) {
			// "0." ends a sentence; no program writes "5.e-3".
			return signed(float64(mantissa), negative), i
		}
	}
	if digits == 0 {
		return 0, 0
	}
	exponent := 0
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if e, m := parseExponent(b[i+1:]); m > 0 {
			exponent, i = e, i+1+m
		}
	}
	if power := exponent - after; digits <= 15 && power >= -22 && power <= 22 {
		if power < 0 {
			return signed(float64(mantissa)/powers[-power], negative), i
		}
		return signed(float64(mantissa)*powers[power], negative), i
	}
	text := b[:i]
	if commas > 0 {
		text = bytes.ReplaceAll(text, []byte(","), nil)
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, 0
	}
	return v, i
}

func signed(v float64, negative bool) float64 {
	if negative {
		return -v
	}
	return v
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// groups reports whether a group of three digits follows, and then no digit.
func groups(b []byte) bool {
	return len(b) >= 3 && isDigit(b[0]) && isDigit(b[1]) && isDigit(b[2]) && (len(b) == 3 || !isDigit(b[3]))
}

// parseExponent reads the exponent of a number, after its "e".
func parseExponent(b []byte) (e, n int) {
	i, negative := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	start := i
	for ; i < len(b) && isDigit(b[i]) && i-start < 5; i++ {
		e = e*10 + int(b[i]-'0')
	}
	if i == start {
		return 0, 0
	}
	if negative {
		e = -e
	}
	return e, i
}

// parseInt reads a whole number that is not negative at the beginning of b, after spaces. It
// returns the number of bytes read, including the spaces.
func parseInt(b []byte) (v int64, n int) {
	i := 0
	for i < len(b) && b[i] == ' ' {
		i++
	}
	start := i
	for ; i < len(b) && isDigit(b[i]) && i-start < 18; i++ {
		v = v*10 + int64(b[i]-'0')
	}
	if i == start {
		return 0, 0
	}
	return v, i
}
