package unit

import (
	"fmt"
	"math"
	"strconv"
)

// Value prints a value in a base unit of metrics: "ns", "byte", "share", "token/s". A unit
// without a form of its own is left out.
func Value(v float64, of string) string {
	whole := func(print func(int64) string) string {
		if math.Abs(v) >= math.MaxInt64/2 {
			return plain(v)
		}
		return print(int64(math.Round(v)))
	}
	switch of {
	case "ns":
		return whole(FineDuration)
	case "byte":
		return whole(FineBytes)
	case "byte/s":
		return whole(FineBytes) + "/s"
	case "share":
		return percent(v)
	case "flop/s":
		return FLOPRate(v)
	case "token/s", "request/s", "sample/s", "step/s":
		return plain(v) + "/s"
	case "watt":
		return plain(v) + " W"
	case "celsius":
		return plain(v) + " °C"
	case "hertz":
		return plain(v/1e6) + " MHz"
	}
	return plain(v)
}

// percent prints a share with one decimal.
func percent(share float64) string {
	const parts = 1e9
	if math.Abs(share) > 1e6 {
		return plain(share*100) + "%"
	}
	return Share(int64(math.Round(share*parts)), parts)
}

// plain prints a number with four significant digits, and whole numbers in full.
func plain(v float64) string {
	switch a := math.Abs(v); {
	case v == math.Trunc(v) && a < 1e15:
		return Count(int64(v))
	case a >= 1000 && a < 1e15:
		return Count(int64(math.Round(v)))
	case a < 1e-4:
		return fmt.Sprintf("%.3g", v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
