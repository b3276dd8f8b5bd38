package ncu

import "slices"

// FLOPs returns the floating-point operations of a launch in a precision, and
// whether its counters were collected. If one of the counters is missing, the
// sum is unknown, because a partial sum is not a measurement.
func (c *Capture) FLOPs(l *Launch, p Precision) (float64, bool) {
	if p == Tensor {
		ops, _, ok := c.tensorOps(l)
		return ops, ok
	}
	sum := 0.0
	for _, op := range operations(p) {
		n, ok := c.Value(l, op.sum)
		if !ok {
			if n, ok = c.perCycle(l, op.rate); !ok {
				return 0, false
			}
		}
		sum += float64(op.weight * n)
	}
	return sum, true
}

// tensorOps returns the largest of the counters of tensor cores, and its part.
func (c *Capture) tensorOps(l *Launch) (most float64, part string, ok bool) {
	for _, m := range l.Metrics {
		key := &c.Keys[m.Key]
		n, known := m.Value, key.Quantity == TensorOps
		if key.Quantity == TensorOpsRate {
			n, known = c.ofCycles(l, m.Value)
		}
		if known && (!ok || n > most) {
			most, part, ok = n, key.Part, true
		}
	}
	return most, part, ok
}

// perCycle returns the number of events of a rate.
func (c *Capture) perCycle(l *Launch, q Quantity) (float64, bool) {
	rate, ok := c.Value(l, q)
	if !ok {
		return 0, false
	}
	return c.ofCycles(l, rate)
}

// ofCycles converts a rate per cycle to the number of events of a launch.
func (c *Capture) ofCycles(l *Launch, rate float64) (float64, bool) {
	hz, ok := c.Value(l, SMFrequency)
	ns, timed := c.Value(l, Duration)
	return rate * hz * (ns / 1e9), ok && timed
}

// Bytes returns the bytes that a launch read from and wrote to DRAM.
func (c *Capture) Bytes(l *Launch) (float64, bool) {
	if n, ok := c.Value(l, DRAMBytes); ok {
		return n, true
	}
	read, okRead := c.Value(l, DRAMRead)
	written, okWritten := c.Value(l, DRAMWrite)
	if okRead && okWritten {
		return read + written, true
	}
	rate, ok := c.Value(l, DRAMRate)
	ns, timed := c.Value(l, Duration)
	return rate * (ns / 1e9), ok && timed
}

// Peak returns the peak floating-point operations per second of the device in a
// precision, at the clock of the launch.
func (c *Capture) Peak(l *Launch, p Precision) (float64, bool) {
	perCycle, ok := c.Value(l, p.peak())
	if _, part, counted := c.tensorOps(l); p == Tensor && counted {
		perCycle, ok = c.partValue(l, PeakTensor, part)
	}
	hz, clocked := c.Value(l, SMFrequency)
	return perCycle * hz, ok && clocked && perCycle > 0 && hz > 0
}

// partValue is [Capture.Value] for one part of a quantity.
func (c *Capture) partValue(l *Launch, q Quantity, part string) (float64, bool) {
	for _, m := range l.Metrics {
		if k := &c.Keys[m.Key]; m.Text == 0 && k.Quantity == q && k.Part == part {
			return m.Value, true
		}
	}
	return 0, false
}

// PeakRate returns the peak bandwidth of the device's DRAM in bytes per second.
// If the counters do not contain it, it is computed from a rate and its share
// of the peak.
func (c *Capture) PeakRate(l *Launch) (float64, bool) {
	perCycle, ok := c.Value(l, PeakDRAM)
	hz, clocked := c.Value(l, DRAMFrequency)
	if ok && clocked && perCycle > 0 && hz > 0 {
		return perCycle * hz, true
	}
	rate, ok := c.Value(l, DRAMRate)
	share, known := c.Value(l, DRAMShare)
	// A share of a percent or less has too few digits to divide by.
	if !ok || !known || share < 1 || rate <= 0 {
		return 0, false
	}
	return rate / (share / 100), true
}

// Limiters returns the limiters of a launch's theoretical occupancy: those of
// "registers", "shared memory", "barriers", "warps" and "blocks" that permit
// the fewest blocks per SM. It is nil if the limits were not collected.
func (c *Capture) Limiters(l *Launch) (names []string) {
	limits := []struct {
		q    Quantity
		name string
	}{{LimitRegisters, "registers"}, {LimitShared, "shared memory"}, {LimitBarriers, "barriers"}, {LimitWarps, "warps"}, {LimitBlocks, "blocks"}}
	least := 0.0
	for _, limit := range limits {
		n, ok := c.Value(l, limit.q)
		switch {
		case !ok || n <= 0: // a limit of 0 blocks is not possible: the kernel ran
		case names == nil || n < least:
			names, least = []string{limit.name}, n
		case n == least:
			names = append(names, limit.name)
		}
	}
	return slices.Clip(names)
}
