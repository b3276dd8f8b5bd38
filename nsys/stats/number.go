package stats

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	errNumber   = errors.New("not a number")
	errTooLarge = errors.New("does not fit 64 bits")
)

// maxNumber is the maximum length of a number; longer numbers do not fit 64
// bits.
const maxNumber = 64

// number parses a cell: a number of units, each of which has size base units. It
// returns whole base units. Known is false if the cell has a text for a missing
// value.
//
// Numbers may have the separators of any locale. In a column of whole numbers,
// separators between groups of three digits are thousands separators. In any
// other column the last separator is the decimal separator, unless there are
// several of its kind, because the tool always prints decimals there.
func number(text string, size int64, whole bool) (n int64, known bool, err error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && size == 1 && n < math.MaxInt64 {
		return n, true, nil
	}
	switch strings.ToLower(text) {
	case "", "none", "-", "n/a", "nan", "null":
		return 0, false, nil
	}
	if len(text) > maxNumber {
		return 0, false, errNumber
	}
	plain, ok := plainNumber(text, whole)
	if !ok {
		return 0, false, errNumber
	}
	q, ok := new(big.Rat).SetString(plain)
	if !ok {
		return 0, false, errNumber
	}
	q.Mul(q, new(big.Rat).SetInt64(size))
	// Half away from zero: floor(|q| + 1/2).
	twice := new(big.Int).Lsh(new(big.Int).Abs(q.Num()), 1)
	twice.Add(twice, q.Denom())
	twice.Quo(twice, new(big.Int).Lsh(q.Denom(), 1))
	if !twice.IsInt64() || twice.Int64() == math.MaxInt64 {
		return 0, false, errTooLarge
	}
	n = twice.Int64()
	if q.Sign() < 0 {
		n = -n
	}
	return n, true, nil
}

// plainNumber returns a number with a decimal point and without thousands
// separators.
func plainNumber(text string, whole bool) (string, bool) {
	sign, rest := "", text
	if strings.HasPrefix(rest, "-") {
		sign, rest = "-", rest[1:]
	}
	rest, exponent, _ := strings.Cut(strings.ToLower(rest), "e")
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil || e < -30 || e > 30 {
			return "", false
		}
		exponent = "e" + strconv.Itoa(e)
	}
	point := fractionAt(rest, whole)
	var out strings.Builder
	out.WriteString(sign)
	digits := 0
	for i, r := range rest {
		switch {
		case r >= '0' && r <= '9':
			out.WriteRune(r)
			digits++
		case i == point:
			out.WriteByte('.')
		case !isSeparator(r):
			return "", false
		}
	}
	out.WriteString(exponent)
	return out.String(), digits > 0
}

// isSeparator reports whether a locale uses r as thousands or decimal
// separator.
func isSeparator(r rune) bool {
	return strings.ContainsRune(",.'’_٬", r) || unicode.IsSpace(r)
}

// fractionAt returns the index of the decimal separator, or -1.
func fractionAt(text string, whole bool) int {
	last := strings.LastIndexAny(text, ".,")
	if last < 0 {
		return -1
	}
	if strings.Count(text, text[last:last+1]) > 1 {
		return -1
	}
	if whole && groups(text) {
		return -1
	}
	return last
}

// groups reports whether the last separator in text has three digits after it
// and at least one character before it. Earlier groups are not checked, because
// they have two digits in India.
func groups(text string) bool {
	last := strings.LastIndexFunc(text, isSeparator)
	if last <= 0 {
		return false
	}
	_, n := utf8.DecodeRuneInString(text[last:])
	tail := text[last+n:]
	return len(tail) == 3 && strings.Trim(tail, "0123456789") == ""
}
