package perfetto

import (
	"math"
	"slices"

	"assay/internal/protoscan"
)

// The clocks that have names. Those from 64 to 127 belong to a sequence.
const (
	clockRealtime = 1
	clockBoot     = 6

	firstOwnClock, lastOwnClock = 64, 127
)

// An ownClock is a clock of a sequence: its times may be counted from the one before, in a unit.
type ownClock struct {
	incremental bool
	unit        int64
	last        int64 // in units
	base, boot  int64 // a time in ns and the time of the clock of the trace
}

// clocks places the times of all clocks on that of the trace, which is the time since the machine started.
type clocks struct {
	offsets map[uint64][]offset
	unix    int64 // to be added for Unix time
	hasUnix bool
}

// An offset is what to add to a time of a clock from a snapshot on. Those of one clock are kept in the order of time.
type offset struct{ from, add int64 }

// What clocks take of the memory, and how many of them one snapshot may read: machines have about ten.
const (
	bytesOfOffset, bytesOfOwnClock, bytesOfClock = 32, 128, 192

	mostReadings = 256
)

// A reading is the time of a clock in a snapshot.
type reading struct {
	id, time, unit uint64
	incremental    bool
}

// snapshot takes the times of several clocks at one moment.
func (r *reader) snapshot(s *sequence, b []byte) {
	all, surplus := r.readings[:0], false
	protoscan.Each(b, func(f protoscan.Field) {
		if f.Number != 1 || f.Type != protoscan.Bytes {
			return
		}
		if len(all) == mostReadings {
			surplus = true
			return
		}
		it := reading{unit: 1}
		protoscan.Each(f.Text, func(f protoscan.Field) {
			switch f.Number {
			case 1:
				it.id = f.Bits
			case 2:
				it.time = f.Bits
			case 3:
				it.incremental = f.Bits != 0
			case 4:
				it.unit = max(1, f.Bits)
			}
		})
		all = append(all, it)
	})
	if r.readings = all; surplus {
		r.damaged++
	}
	at := slices.IndexFunc(all, func(r reading) bool { return r.id == clockBoot })
	if at < 0 || all[at].time > latest {
		return
	}
	c, boot := &r.clocks, int64(all[at].time)
	if c.offsets == nil {
		c.offsets = map[uint64][]offset{}
	}
	for _, it := range all {
		ns, ok := product(it.time, it.unit)
		if !ok {
			continue
		}
		if it.id >= firstOwnClock && it.id <= lastOwnClock {
			own := ownClock{incremental: it.incremental, unit: int64(it.unit), last: int64(it.time), base: ns, boot: boot}
			if have := s.own[it.id]; have != nil {
				*have = own
			} else if r.take(bytesOfOwnClock) {
				s.own[it.id] = &own
			}
			continue
		}
		if it.id == clockRealtime && !c.hasUnix {
			c.unix, c.hasUnix = ns-boot, true
		}
		r.addOffset(it.id, offset{ns, boot - ns})
	}
}

// addOffset adds what is known of a clock from a time on. Where the clock was set back, what was known of later times no
// longer holds.
func (r *reader) addOffset(clock uint64, it offset) {
	list, have := r.clocks.offsets[clock]
	if !have && !r.take(bytesOfClock) {
		return
	}
	n := len(list)
	for n > 0 && list[n-1].from >= it.from {
		n--
	}
	r.used -= int64(len(list)-n) * bytesOfOffset
	if list = list[:n]; r.take(bytesOfOffset) {
		list = append(list, it)
	}
	r.clocks.offsets[clock] = list
}

// latest is the latest time that is plausible: sums of two times do not overflow.
const latest = math.MaxInt64 / 4

// product returns the product of a time and its unit, or false if it is implausible.
func product(time, unit uint64) (int64, bool) {
	if unit > 1<<40 || time > latest/unit {
		return 0, false
	}
	return int64(time * unit), true
}

// time returns the time of a packet on the clock of the trace, or false if its clock is not described.
func (c *clocks) time(s *sequence, p *packet) (at int64, ok bool) {
	clock := uint64(clockBoot)
	if p.hasClock {
		clock = p.clock
	} else if s.hasClock {
		clock = s.clock
	}
	if clock >= firstOwnClock && clock <= lastOwnClock {
		own := s.own[clock]
		if own == nil {
			return 0, false
		}
		t := p.time
		if own.incremental {
			t += uint64(own.last)
			own.last = int64(t)
		}
		ns, ok := product(t, uint64(own.unit))
		return ns - own.base + own.boot, ok
	}
	ns, ok := product(p.time, 1)
	if !ok || clock == clockBoot {
		return ns, ok
	}
	list := c.offsets[clock]
	if len(list) == 0 {
		return ns, len(c.offsets) == 0 // without any snapshot, all times have one clock
	}
	after, _ := slices.BinarySearchFunc(list, ns, func(o offset, at int64) int {
		if o.from <= at {
			return -1
		}
		return 1
	})
	return ns + list[max(0, after-1)].add, true
}
