package partial

import (
	"math"

	"assay/summary"
)

// fewest is the number of values that must agree before counters of kernels are of the same launches: durations of
// one kernel may be equal in two reports.
const fewest = 4

// sameCounters reports whether two lists have counters of the same launches: the same kernels, as often, and all
// values that both have equal as printed, with two decimals.
func sameCounters(a, b []summary.Counter) bool {
	if len(a) != len(b) {
		return false
	}
	type launches struct {
		device          int64
		kernel          string
		launches, timed int64
	}
	key := func(c *summary.Counter) launches { return launches{c.Device, c.Kernel, c.Launches, c.Timed} }
	byKey := map[launches]*summary.Counter{}
	for i := range a {
		byKey[key(&a[i])] = &a[i]
	}
	compared := 0
	for i := range b {
		c := byKey[key(&b[i])]
		if c == nil || !asPrinted(float64(c.TotalNS), float64(b[i].TotalNS), c.Timed) {
			return false
		}
		delete(byKey, key(&b[i]))
		if c.Timed > 0 {
			compared++
		}
		other := shares(&b[i])
		for k, x := range shares(c) {
			if y := other[k]; x != nil && y != nil {
				if math.Abs(*x-*y) > 0.0101 {
					return false
				}
				compared++
			}
		}
	}
	return compared >= fewest
}

// shares returns the values in percent and the other averages of a row, in a fixed order.
func shares(c *summary.Counter) []*float64 {
	return []*float64{c.ComputePct, c.MemoryPct, c.DRAMPct, c.L1Pct, c.L2Pct, c.L1HitPct, c.L2HitPct, c.OccupancyPct,
		c.TheoreticalPct, c.Registers, c.Waves}
}

// asPrinted reports whether two sums of durations in ns are equal within the digits that ncu prints: two decimals
// of the unit in which the mean of the launches has at most three digits before the point.
func asPrinted(a, b float64, launches int64) bool {
	if launches <= 0 {
		return a == b
	}
	unit := 1.0
	for mean := a / float64(launches); mean >= 1000; mean /= 1000 {
		unit *= 1000
	}
	return math.Abs(a-b) <= (0.0051*unit+1)*float64(launches)
}

// quantities returns how many values the counters of an input have.
func quantities(s *summary.Summary) (n int) {
	for i := range s.Counters {
		for _, v := range shares(&s.Counters[i]) {
			if v != nil {
				n++
			}
		}
		n += len(s.Counters[i].Work)
	}
	return n
}

// keepRules gives the rows of a summary the conclusions of ncu that only the details page of the same launches has.
func keepRules(to, from *summary.Summary) {
	for i := range to.Counters {
		row := &to.Counters[i]
		for k := range from.Counters {
			of := &from.Counters[k]
			if len(row.Rules) == 0 && of.Kernel == row.Kernel && of.Device == row.Device && of.Launches == row.Launches {
				row.Rules = of.Rules
			}
		}
	}
}
