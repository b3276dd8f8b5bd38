package ncu

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// A notation is what stands between the digits of numbers. Which of point and
// comma is before the fraction depends on the locale of the machine, and one
// number alone may not tell: 12,345 may be either. Others in the same input do.
type notation struct {
	fraction byte // '.' or ','; 0 while nothing has told
}

// A number is a cell as far as it can be read by itself.
type number struct {
	value float64

	// doubt is the one separator of a number that may be before a fraction or
	// between thousands; 0 if there is no doubt. Until something tells, a point
	// is taken for the first and a comma for the second.
	doubt byte
}

// maxNumber is the length of the longest number: exponents and all, none of ncu
// has more than some thirty characters.
const maxNumber = 64

// number reads a cell, and false if it is none. A share in percent has no
// thousands, so there is no doubt about its separator.
func (n *notation) number(text string, percent bool) (number, bool) {
	if open := strings.Index(text, " ("); open > 0 {
		text = text[:open] // the values of each instance follow
	}
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxNumber {
		return number{}, false
	}
	mantissa, exponent := cutExponent(text)
	digits, at, sep, told, ok := n.split(mantissa, percent)
	if !ok {
		return number{}, false
	}
	plain := digits
	if told == sep && sep != 0 {
		plain = digits[:at] + "." + digits[at:]
	}
	value, err := strconv.ParseFloat(plain+exponent, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return number{}, false
	}
	out := number{value: value}
	if sep != 0 && told == 0 { // in doubt
		out.doubt = sep
		if sep == '.' {
			out.value /= 1000
		}
	}
	return out, true
}

// cutExponent cuts "e+09" off.
func cutExponent(text string) (mantissa, exponent string) {
	if i := strings.IndexAny(text, "eE"); i > 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

const noSeparator = 0xff

// split takes the separators out of a number. Sep is the one of point and comma
// that may be before the fraction, which at says where; told is which of both is
// before fractions, if that is known or this number shows it. It notes what the
// number shows.
func (n *notation) split(text string, percent bool) (digits string, at int, sep, told byte, ok bool) {
	var out strings.Builder
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		out.WriteByte(text[0])
		text = text[1:]
	}
	sign := out.Len()
	count := map[byte]int{}
	marks, after := 0, 0 // other separators of thousands; digits behind the last separator
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
	case count[sep] > 1 && len(count) > 1: // as in 1,2.3,4
		return "", 0, 0, 0, false
	case count[sep] > 1: // it is between thousands, whatever the other is
		n.show(other(sep))
		return digits, 0, 0, noSeparator, true
	case len(count) > 1, marks > 0, percent, after != 3, len(before) > 3, before == "", before == "0":
		n.show(sep)
		return digits, at, sep, sep, true
	}
	return digits, at, sep, n.fraction, true
}

// show notes which separator a number shows to be before fractions. The first
// that does decides about those that are in doubt.
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

// whole reads a whole number: a count or an id.
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
