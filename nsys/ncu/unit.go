package ncu

import "strings"

// baseUnit returns the base unit of a printed unit, and the number of base
// units in one printed unit. An unknown unit is its own base.
//
// Versions until 2022 scale values and write "Gbyte/second" and "usecond",
// later ones write "byte/s" and "ns" to CSV; both also accept short forms with
// a prefix, such as "Gbyte/s" and "us".
func baseUnit(unit string) (base string, size float64) {
	unit = strings.TrimSpace(unit)
	above, below, isRate := strings.Cut(unit, "/")
	base, size = simpleUnit(above)
	if !isRate {
		return base, size
	}
	per, perSize := simpleUnit(below)
	switch {
	case per != "ns":
		return base + "/" + per, size / perSize
	case base == "cycle":
		return "hz", size / perSize * 1e9
	}
	return base + "/s", size / perSize * 1e9
}

// simpleUnit is baseUnit for a unit that is not a rate.
func simpleUnit(unit string) (base string, size float64) {
	switch unit {
	case "second", "s", "sec":
		return "ns", 1e9
	case "msecond", "ms", "msec":
		return "ns", 1e6
	case "usecond", "us", "usec", "µs", "μs":
		return "ns", 1e3
	case "nsecond", "ns", "nsec":
		return "ns", 1
	case "minute", "min":
		return "ns", 60e9
	case "B":
		return "byte", 1
	}
	if base, ok := countable(unit); ok {
		return base, 1
	}
	if unit == "" {
		return "", 1
	}
	size, ok := map[byte]float64{'K': 1e3, 'k': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12, 'P': 1e15}[unit[0]]
	if base, known := countable(unit[1:]); ok && known {
		return base, size
	}
	return unit, 1
}

// countable returns the unit without its prefix, for units that can have one.
func countable(unit string) (base string, ok bool) {
	switch unit {
	case "byte", "cycle", "inst", "sector", "request", "thread", "warp", "block", "register", "%":
		return unit, true
	case "hz", "Hz":
		return "hz", true
	case "bytes":
		return "byte", true
	}
	return "", false
}
