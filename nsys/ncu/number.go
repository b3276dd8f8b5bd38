package ncu

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// A notation has the separators of numbers. The locale of the machine
// determines whether a point or a comma is the decimal separator. One number
// alone may be ambiguous: 12,345 may be either. Other numbers of the same input
// show it.
type notation struct {
	fraction byte // '.' or ','; 0 if not known yet
}

// A number is the content of a cell, parsed on its own.
type number struct {
	value float64

	// doubt is the one separator of a number that may be a decimal or a
	// thousands separator; 0 if the number is unambiguous. Until another number
	// shows the notation, a point is read as a decimal separator and a comma as
	// a thousands separator.
	doubt byte
}

// maxNumber is the maximum length of a number. Numbers of ncu have about thirty
// characters at most, exponent included.
const maxNumber = 64

// number parses a cell and returns false if it is not a number. A share in
// percent has no thousands separator, so its separator is unambiguous.
func (n *notation) number(text string, percent bool) (number, bool) {
	if open := strings.Index(text, " ("); open > 0 {
		text = text[:open] // the values of each instance follow
	}
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxNumber {
		return number{}, false
	}
	mantissa, exponent := cutExponent(text)
	digits, at, sep, decimal, ok := n.split(mantissa, percent)
	if !ok {
		return number{}, false
	}
	plain := digits
	if decimal == sep && sep != 0 {
		plain = digits[:at] + "." + digits[at:]
	}
	value, err := strconv.ParseFloat(plain+exponent, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return number{}, false
	}
	out := number{value: value}
	if sep != 0 && decimal == 0 { // ambiguous
		out.doubt = sep
		if sep == '.' {
			out.value /= 1000
		}
	}
	return out, true
}

// cutExponent splits off an exponent such as "e+09".
func cutExponent(text string) (mantissa, exponent string) {
	if i := strings.IndexAny(text, "eE"); i > 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

const noSeparator = 0xff

// split removes the separators of a number. Sep is the point or comma that may be
// the decimal separator, and at is its index. Decimal is the decimal separator if
// this number or an earlier one shows it, otherwise 0.
func (n *notation) split(text string, percent bool) (digits string, at int, sep, decimal byte, ok bool) {
	var out strings.Builder
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		out.WriteByte(text[0])
		text = text[1:]
	}
	sign := out.Len()
	count := map[byte]int{}
	marks, after := 0, 0 // other thousands separators; digits after the last separator
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			out.WriteRune(r)
			after++
		case r == '.' || r == ',':
			sep, at, after = byte(r), out.Len(), 0
			count[sep]++
		case unicode.IsSpace(r) || strings.ContainsRune("'’_٬", r):
			marks, after = marks+1, 0
		default:
			return "", 0, 0, 0, false
		}
	}
	digits = out.String()
	if len(digits) == sign {
		return "", 0, 0, 0, false
	}
	before := digits[sign:min(max(at, sign), len(digits))]
	switch {
	case sep == 0:
		return digits, 0, 0, noSeparator, true
	case count[sep] > 1 && len(count) > 1: // such as 1,2.3,4
		return "", 0, 0, 0, false
	case count[sep] > 1: // a thousands separator in any case
		n.show(other(sep))
		return digits, 0, 0, noSeparator, true
	case len(count) > 1, marks > 0, percent, after != 3, len(before) > 3, before == "", before == "0":
		n.show(sep)
		return digits, at, sep, sep, true
	}
	return digits, at, sep, n.fraction, true
}

// show stores the decimal separator that a number shows. The first such number
// determines the ambiguous ones.
func (n *notation) show(sep byte) {
	if n.fraction == 0 {
		n.fraction = sep
	}
}

func other(sep byte) byte {
	if sep == '.' {
		return ','
	}
	return '.'
}

// whole parses a whole number: a count or an id.
func whole(text string) int64 {
	n, digits := int64(0), 0
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			if n > (math.MaxInt64-9)/10 {
				return 0
			}
			n, digits = n*10+int64(r-'0'), digits+1
		case r != ',' && r != '.' && !unicode.IsSpace(r) && r != '\'' && r != '’':
			return 0
		}
	}
	return n
}
