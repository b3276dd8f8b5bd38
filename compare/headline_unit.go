// How headlines print a change: which parts of it are named, and all values of one sentence in one
// unit.

package compare

import (
	"math"
	"strconv"
	"strings"

	"assay/internal/unit"
)

// Every headline has what was compared, on both sides in one unit, and the parts that explain the
// change, the largest first:
//
//	step 48.6 → 63.6 s (+15.0 s): generation +11.0 s, weight sync +4.0 s
const (
	explained = 0.8  // parts are named until they sum to this share of the delta
	least     = 0.05 // smaller shares of the delta are not named, except for the first

	// Still is the share of a whole below which a change counts as none.
	Still = 0.01
	// ManyTimes is the ratio from which a change is printed as a factor: "×225".
	ManyTimes = 10
)

// Explaining returns the indices of the deltas that explain a change, the largest first: those in
// its direction, until they sum to most of it. Other is the largest one in the other direction if
// the named ones sum to far more than the change, or -1.
func Explaining(deltas []int64, delta int64, most int) (named []int, other int) {
	sum := int64(0)
	used := make([]bool, len(deltas))
	for len(named) < most && float64(magnitude(sum)) < explained*float64(magnitude(delta)) {
		i := -1
		for j, d := range deltas {
			if !used[j] && d != 0 && (d > 0) == (delta > 0) && (i < 0 || magnitude(d) > magnitude(deltas[i])) {
				i = j
			}
		}
		if i < 0 || len(named) > 0 && float64(magnitude(deltas[i])) < least*float64(magnitude(delta)) {
			break
		}
		named, used[i], sum = append(named, i), true, sum+deltas[i]
	}
	other = -1
	if float64(magnitude(sum)) <= (2-explained)*float64(magnitude(delta)) {
		return named, other
	}
	for j, d := range deltas {
		if d != 0 && (d > 0) != (delta > 0) && (other < 0 || magnitude(d) > magnitude(deltas[other])) {
			other = j
		}
	}
	return named, other
}

// A Unit prints the values of one sentence in one unit, with the same number of decimals.
type Unit struct {
	of       string // "ns", "bytes" or ""
	unit     string
	one      float64 // ns or bytes in one unit
	decimals int
}

// UnitOf returns the unit for two values in "ns", "bytes" or counts. It has enough decimals for
// three digits of the smaller value, and for two digits of a clear difference.
func UnitOf(of string, base, new int64) Unit {
	largest, smallest := float64(max(base, new)), float64(min(base, new))
	in := Unit{of: of, one: 1}
	type scale struct {
		unit      string
		one, from float64 // seconds are used up to 600 s, and minutes up to 120 min
	}
	scales := map[string][]scale{
		"ns": {{"ns", 1, 0}, {"µs", 1e3, 1e3}, {"ms", 1e6, 1e6}, {"s", 1e9, 1e9}, {"min", 60e9, 600e9},
			{"h", 3600e9, 7200e9}},
		"bytes": {{"B", 1, 0}, {"KiB", 1 << 10, 1 << 10}, {"MiB", 1 << 20, 1 << 20}, {"GiB", 1 << 30, 1 << 30},
			{"TiB", 1 << 40, 1 << 40}},
	}
	for _, s := range scales[of] {
		if largest >= s.from {
			in.unit, in.one = s.unit, s.one
		}
	}
	if in.one == 1 {
		return in
	}
	in.decimals = max(0, 2-int(math.Floor(math.Log10(max(1, smallest/in.one)))))
	if delta := (largest - smallest) / in.one; delta*in.one >= Still*smallest && delta > 0 {
		digits := -int(math.Floor(math.Log10(delta)))
		in.decimals = max(in.decimals, min(1, 2+digits), min(1+digits, in.decimals+1))
	}
	return in
}

// Number returns a value without the unit.
func (t Unit) Number(v int64) string {
	if t.unit == "" {
		return unit.Count(v)
	}
	places := math.Pow10(t.decimals)
	text := strconv.FormatFloat(math.Round(float64(v)/t.one*places)/places, 'f', t.decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// Text returns a value with the unit.
func (t Unit) Text(v int64) string { return strings.TrimSpace(t.Number(v) + " " + t.unit) }

// Signed returns a difference with its sign.
func (t Unit) Signed(v int64) string {
	if v > 0 {
		return "+" + t.Text(v)
	}
	return t.Text(v)
}

// Delta returns a part of a change, in its own unit if it is too small for that of the whole.
func (t Unit) Delta(ns int64) string {
	if float64(magnitude(ns)) < 5*t.one/math.Pow10(t.decimals) {
		text := unit.Duration(ns)
		if ns > 0 {
			text = "+" + text
		}
		return text
	}
	return t.Signed(ns)
}

// Moved describes the change of a whole: "step 48.6 → 63.6 s (+15.0 s)". A side that is far shorter
// than the other has its own unit, and a large change its factor: "step 250 µs → 4.00 s (+4.00 s,
// ×16,000)".
func (t Unit) Moved(whole string, base, new int64) string {
	const far = ManyTimes
	text, delta := t.Number(base), t.Signed(new-base)
	after := t.Text(new)
	if base > 0 && new/base >= far {
		text = UnitOf(t.of, base, base).Text(base)
	} else if new > 0 && base/new >= far {
		text, after = t.Text(base), UnitOf(t.of, new, new).Text(new)
	}
	if base > 0 && new/base >= ManyTimes {
		delta += ", ×" + unit.Count((new+base/2)/base)
	}
	return whole + " " + text + " → " + after + " (" + delta + ")"
}

// Unchanged describes a whole that changed by less than [Still].
func (t Unit) Unchanged(whole string, base, new int64) string {
	return whole + " unchanged: " + t.Text(new) + " (" + t.Signed(new-base) + ")"
}

func magnitude(v int64) int64 { return max(v, -v) }
