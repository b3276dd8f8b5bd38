package doc

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/unit"
)

// A Scale prints all times, or all sizes, of a column in one unit with the same number of decimals.
type Scale struct {
	Unit     string
	size     int64 // ns or bytes per unit
	decimals int
}

// ScaleOf returns the scale for a column whose largest time is the largest of times. That time gets five
// significant digits, and at most three decimals.
func ScaleOf(times ...int64) Scale {
	largest := int64(0)
	for _, ns := range times {
		largest = max(largest, ns)
	}
	return scaleIn([]Scale{{"ns", 1, 0}, {"µs", 1e3, 0}, {"ms", 1e6, 0}, {"s", 1e9, 0}}, largest)
}

// SizeScaleOf is like ScaleOf for sizes in bytes.
func SizeScaleOf(sizes ...int64) Scale {
	largest := int64(0)
	for _, n := range sizes {
		largest = max(largest, n)
	}
	return scaleIn([]Scale{{"B", 1, 0}, {"KiB", 1 << 10, 0}, {"MiB", 1 << 20, 0}, {"GiB", 1 << 30, 0}}, largest)
}

// scaleIn returns the last of the scales whose unit is not above the largest
// number, with the decimals that suit it.
func scaleIn(scales []Scale, largest int64) Scale {
	s := scales[0]
	for _, next := range scales {
		if largest >= next.size {
			s = next
		}
	}
	if s.size > 1 {
		whole := len(strconv.FormatInt(largest/s.size, 10))
		s.decimals = min(3, max(1, 5-whole))
	}
	return s
}

// Text prints ns without its unit, rounded half up: "1,234.5". A time that is
// not zero does not print as zero.
func (s Scale) Text(ns int64) string {
	if ns < 0 {
		return "-" + s.Text(-max(ns, -math.MaxInt64))
	}
	tens := int64(1)
	for range s.decimals {
		tens *= 10
	}
	whole := ns / s.size
	part := (ns%s.size*tens + s.size/2) / s.size
	if part == tens {
		whole, part = whole+1, 0
	}
	if whole == 0 && part == 0 && ns != 0 {
		return "<" + s.join(0, 1)
	}
	return s.join(whole, part)
}

// Signed prints a difference with its sign.
func (s Scale) Signed(ns int64) string {
	if ns > 0 {
		return "+" + s.Text(ns)
	}
	return s.Text(ns)
}

func (s Scale) join(whole, part int64) string {
	if s.decimals == 0 {
		return unit.Count(whole)
	}
	return fmt.Sprintf("%s.%0*d", unit.Count(whole), s.decimals, part)
}

// Head returns the title of a column of this scale: "total (ms)".
func (s Scale) Head(title string) string { return title + " (" + s.Unit + ")" }

// Mean is [unit.Mean]: total/n rounded half up, or 0 if n is 0.
func Mean(total, n int64) int64 { return unit.Mean(total, n) }

// Ranges prints a set of numbers with consecutive ones joined: "0–3, 8".
func Ranges(numbers []int) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(numbers)))
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		switch j - i {
		case 0:
			parts = append(parts, strconv.Itoa(sorted[i]))
		case 1:
			parts = append(parts, strconv.Itoa(sorted[i]), strconv.Itoa(sorted[j]))
		default:
			parts = append(parts, strconv.Itoa(sorted[i])+"–"+strconv.Itoa(sorted[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// FourDigits prints a duration with four significant digits and its own unit, so that the durations of a
// column can be compared by eye: "241.0 µs". Whole nanoseconds have no fraction.
func FourDigits(ns int64) string {
	number, unit, _ := strings.Cut(unit.FineDuration(ns), " ")
	if unit == "ns" {
		return number + " " + unit
	}
	whole, fraction, _ := strings.Cut(number, ".")
	if missing := 4 - len(whole) - len(fraction); missing > 0 {
		number = whole + "." + fraction + strings.Repeat("0", missing)
	}
	return number + " " + unit
}

// Bar draws the parts of a whole in the given number of cells: the first full, the second
// dark, the third light, the fourth as dots. A part under half a cell is not drawn.
func Bar(cells int, parts ...int64) string {
	glyphs := []string{"█", "▓", "░", "·"}
	var out strings.Builder
	for i, n := range Apportion(cells, parts...) {
		out.WriteString(strings.Repeat(glyphs[i%len(glyphs)], n))
	}
	return out.String()
}

// Apportion splits n cells over the parts in proportion, by largest remainder,
// so that the cells always sum to n. A part under half a cell gets no cell, because a
// whole cell would exaggerate it. The parts must not be negative; if all are zero, so are
// the cells.
func Apportion(n int, parts ...int64) []int {
	cells := make([]int, len(parts))
	total, drawn := 0.0, 0.0
	for _, p := range parts {
		total += float64(p)
	}
	if total == 0 {
		return cells
	}
	small := func(p int64) bool { return float64(n)*(float64(p)/total) < 0.5 }
	for _, p := range parts {
		if !small(p) {
			drawn += float64(p)
		}
	}
	rest := make([]float64, len(parts))
	left := n
	for i, p := range parts {
		if small(p) {
			continue
		}
		exact := float64(n) * (float64(p) / drawn)
		cells[i] = min(int(exact), left)
		rest[i] = exact - float64(cells[i])
		left -= cells[i]
	}
	for ; left > 0; left-- {
		i := largestIndex(rest)
		cells[i]++
		rest[i]--
	}
	return cells
}

// largestIndex returns the index of the first largest value.
func largestIndex[N int | float64](values []N) int {
	best := 0
	for i, v := range values {
		if v > values[best] {
			best = i
		}
	}
	return best
}
