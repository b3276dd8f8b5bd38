package nsysstats

import (
	"fmt"
	"math"
	"strconv"
)

// whole returns a count or a number of nanoseconds.
func whole(n int64) string { return strconv.FormatInt(n, 10) }

// tenths returns a number with one decimal. An exact half is rounded up, as in
// SQLite, which nsys stats uses: 0.25 becomes 0.3. Most decimals that look like
// a half are not one in binary: 841.15 is smaller and is rounded down.
func tenths(x float64) string {
	if quarters := x * 4; quarters == math.Trunc(quarters) {
		x = math.Nextafter(x, math.Inf(1)) // no longer a quarter, so not a half
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// megabytes returns bytes in units of 10^6 bytes, with three decimals.
func megabytes(bytes float64) string { return strconv.FormatFloat(bytes/1e6, 'f', 3, 64) }

// share returns part as a percentage of all.
func share(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) * 100 / float64(all)
}

// plural returns a number with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
