package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
	"assay/unit"
)

// A timeScale prints all times of a column in one unit with equally many
// decimals, or all sizes.
type timeScale struct {
	unit     string
	size     int64 // ns or bytes per unit
	decimals int
}

// scaleOf returns the scale that suits the largest of the times: it has five
// significant digits, and no more than three decimals.
func scaleOf(times ...int64) timeScale {
	largest := int64(0)
	for _, ns := range times {
		largest = max(largest, ns)
	}
	return scaleIn([]timeScale{{"ns", 1, 0}, {"µs", 1e3, 0}, {"ms", 1e6, 0}, {"s", 1e9, 0}}, largest)
}

// sizeScaleOf is scaleOf for sizes in bytes.
func sizeScaleOf(sizes ...int64) timeScale {
	largest := int64(0)
	for _, n := range sizes {
		largest = max(largest, n)
	}
	return scaleIn([]timeScale{{"B", 1, 0}, {"KiB", 1 << 10, 0}, {"MiB", 1 << 20, 0}, {"GiB", 1 << 30, 0}}, largest)
}

// scaleIn returns the last of the scales whose unit is not above the largest
// number, with the decimals that suit it.
func scaleIn(scales []timeScale, largest int64) timeScale {
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

// text prints ns without its unit, rounded half up: "1,234.5". A time that is
// not zero does not print as zero.
func (s timeScale) text(ns int64) string {
	if ns < 0 {
		return "-" + s.text(-max(ns, -math.MaxInt64))
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

func (s timeScale) join(whole, part int64) string {
	if s.decimals == 0 {
		return unit.Count(whole)
	}
	return fmt.Sprintf("%s.%0*d", unit.Count(whole), s.decimals, part)
}

// head returns the title of a column of this scale: "total (ms)".
func (s timeScale) head(title string) string { return title + " (" + s.unit + ")" }

// mean returns total/n rounded half up, or 0 if n is 0.
func mean(total, n int64) int64 {
	if n <= 0 {
		return 0
	}
	m, rest := total/n, total%n
	if rest >= n-rest {
		m++
	}
	return m
}

// median returns the middle of the times, or the mean of the middle two if their number
// is even. There must be at least one.
func median(times []int64) int64 {
	sorted := slices.Sorted(slices.Values(times))
	n := len(sorted)
	low, high := sorted[(n-1)/2], sorted[n/2]
	if low < 0 && high > math.MaxInt64+low {
		return low/2 + high/2 // their distance is more than int64 holds
	}
	return low + mean(high-low, 2)
}

// ranges prints a set of numbers with its runs joined: "0–3, 8".
func ranges(numbers []int) string {
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

// fourDigits prints a duration in the unit that suits it with four significant
// digits, so that the durations of a column compare by eye: "241.0 µs". Whole
// nanoseconds have no fraction.
func fourDigits(ns int64) string {
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

// apportion splits n cells over the parts in proportion, by largest remainder,
// so that the cells always sum to n. A part under half a cell gets no cell, because a
// whole cell would exaggerate it. The parts must not be negative; if all are zero, so are
// the cells.
func apportion(n int, parts ...int64) []int {
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

// A fraction is a part of a whole, as whole numbers, so that ranks are exact.
type fraction struct{ num, den int64 }

// quantile returns the bucket of the value that is not below the given part of all
// values. A histogram has no exact values. It is [unit.None] if there are no values.
func quantile(h summary.Histogram, part fraction) string {
	n := h.Count()
	if n <= 0 {
		return unit.None
	}
	above := n/part.den*(part.den-part.num) + n%part.den*(part.den-part.num)/part.den
	seen := int64(0)
	for _, b := range h.Buckets {
		if seen = summary.Plus(seen, b.Count); seen >= n-above {
			return bucketText(b.FromNS)
		}
	}
	return unit.None
}

// bucketText prints the durations that a bucket counts: "10–15 µs".
func bucketText(from int64) string {
	edges := summary.Edges()
	i, found := slices.BinarySearch(edges, from)
	switch {
	case !found:
		return unit.None
	case i+1 == len(edges):
		return "≥ " + unit.Duration(from)
	case i == 0:
		return "< " + unit.Duration(edges[1])
	}
	low, high := unit.Duration(from), unit.Duration(edges[i+1])
	number, of, _ := strings.Cut(low, " ")
	if _, other, _ := strings.Cut(high, " "); of == other {
		low = number
	}
	return low + "–" + high
}

// perGPU returns the mean of a sum over all GPUs, for a sentence: " (52.7 ms per GPU,
// mean of 8)".
func (b *builder) perGPU(sum int64) string {
	n := int64(len(b.Devices))
	if n < 2 {
		return " (" + unit.Duration(sum) + ")"
	}
	return fmt.Sprintf(" (%s per GPU, mean of %d)", unit.Duration(mean(sum, n)), n)
}
