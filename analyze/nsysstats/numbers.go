package nsysstats

import (
	"fmt"
	"math"
	"strconv"
)

// whole returns a count or a number of nanoseconds.
func whole(n int64) string { return strconv.FormatInt(n, 10) }

// tenths returns a number with one decimal. What lies exactly in the middle goes
// up, as SQLite rounds, in which nsys stats computes: 0.25 is 0.3. Most decimals
// that look like the middle are not, in binary: 841.15 is less and goes down.
func tenths(x float64) string {
	if quarters := x * 4; quarters == math.Trunc(quarters) {
		x = math.Nextafter(x, math.Inf(1)) // no quarter, so no middle, any more
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// megabytes returns bytes as megabytes of 10^6, with three decimals.
func megabytes(bytes float64) string { return strconv.FormatFloat(bytes/1e6, 'f', 3, 64) }

// share returns how many percent a part is of all.
func share(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) * 100 / float64(all)
}

// plural returns a number with what it counts.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
