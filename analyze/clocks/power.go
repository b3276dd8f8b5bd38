package clocks

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/stat"
	"assay/summary"
)

// Limits of the power of one GPU, in watts. Superchips of two GPUs draw up to 2,700 W; nothing that trains draws less
// than the lower limit. Numbers outside are in another unit.
const (
	leastPower = 2
	mostPower  = 3000
)

// jobPower sets the mean power of the GPUs of attempts, from samples of monitors of the same time. A GPU that several
// inputs recorded counts once.
func jobPower(s *summary.Summary, all []*placed) {
	var list []*placed
	for _, m := range all {
		if m.Track != nil && m.hasPower() {
			list = append(list, m)
		}
	}
	if len(list) == 0 || len(s.Attempts) == 0 {
		return
	}
	list = list[:min(len(list), maxJoined)]
	for _, m := range list {
		switch {
		case m.row.LeftOut != "" && m.row.LeftOut != summary.NoOverlap: // its time is unknown
		case m.implausible():
			m.row.Power = summary.PowerImplausible
		default:
			m.row.Power = summary.PowerElsewhere
		}
	}
	for i := range s.Attempts {
		a := &s.Attempts[i]
		if a.StartNS == nil || a.Input >= len(all) || all[a.Input].Track == nil || all[a.Input].row.Frame == "" {
			continue
		}
		own := all[a.Input]
		sp := span{start: *a.StartNS, end: *a.EndNS}.moved(own.shift)
		if p := powerOf(machinesOf(s, own, list, sp), sp); p != nil {
			a.Power = p
		}
	}
}

func (t *Track) hasPower() bool {
	return slices.ContainsFunc(t.sets, func(s samples) bool { return s.isPower() })
}

func (s *samples) isPower() bool {
	return s.metric == "gpu.power" && strings.HasPrefix(s.place, "gpu ")
}

// implausible reports whether the values of a monitor are not watts of one GPU.
func (t *Track) implausible() bool {
	for i := range t.sets {
		if set := &t.sets[i]; set.isPower() {
			if most := slices.Max(set.v); most > mostPower || most < leastPower || math.IsNaN(most) {
				return true
			}
		}
	}
	return false
}

// machinesOf returns the monitors whose samples of power are of a time of an input. Of those that recorded the same GPUs,
// only the one with most samples is in it.
func machinesOf(s *summary.Summary, own *placed, list []*placed, sp span) (out []*placed) {
	of := slices.DeleteFunc(slices.Clone(list), func(m *placed) bool {
		return m.row.Power == "" || m.row.Power == summary.PowerImplausible || !m.monitor && m != own ||
			m.row.Frame != own.row.Frame || m.from() > sp.end || m.to() < sp.start
	})
	slices.SortStableFunc(of, func(a, b *placed) int { return b.powerSamples(sp) - a.powerSamples(sp) })
	for _, m := range of {
		if m.powerSamples(sp) == 0 {
			continue
		}
		if slices.ContainsFunc(out, func(o *placed) bool {
			return sameMachine(o, m, s.Inputs[o.row.Input].Path, s.Inputs[m.row.Input].Path)
		}) {
			if m.row.Power == summary.PowerElsewhere {
				m.row.Power = summary.PowerSameGPUs
			}
			continue
		}
		out = append(out, m)
	}
	return out
}

// powerSamples returns the number of samples of power in a time.
func (p *placed) powerSamples(sp span) (n int) {
	for i := range p.sets {
		if set := &p.sets[i]; set.isPower() {
			from, _ := slices.BinarySearch(set.t, sp.start-p.shift)
			to, _ := slices.BinarySearch(set.t, sp.end-p.shift)
			n += to - from
		}
	}
	return n
}

var machineNumber = lazyregexp.New(`\d+`)

// sameMachine reports whether two monitors recorded the same GPUs: with two tools, twice into files of other names, or one
// file is a copy of the other. Files of equal names but for numbers are of several machines, or of one time after the other.
func sameMachine(a, b *placed, x, y string) bool {
	if a.follows(b) {
		return false
	}
	if a.tool != b.tool {
		return true
	}
	x, y = path.Clean(strings.ReplaceAll(x, `\`, "/")), path.Clean(strings.ReplaceAll(y, `\`, "/"))
	numbered := machineNumber().ReplaceAllString(x, "#") == machineNumber().ReplaceAllString(y, "#")
	allowed := 0.01 // two samples of one moment
	if numbered {
		allowed = 0
	}
	return a.agrees(b, allowed)
}

// agrees reports whether all GPUs that two monitors have in common draw the same power, up to a share.
func (p *placed) agrees(o *placed, allowed float64) bool {
	common := 0
	for i := range p.sets {
		x := &p.sets[i]
		k := slices.IndexFunc(o.sets, func(y samples) bool { return y.isPower() && y.place == x.place })
		if !x.isPower() || k < 0 {
			continue
		}
		common++
		y := &o.sets[k]
		var off []float64
		for n, at := range y.t {
			m, ok := slices.BinarySearch(x.t, at+o.shift-p.shift)
			if !ok && allowed == 0 {
				return false
			}
			if v := x.v[min(m, len(x.v)-1)]; v > 0 {
				off = append(off, math.Abs(y.v[n]-v)/v)
			}
		}
		if len(off) == 0 || stat.Median(off) > allowed {
			return false
		}
	}
	return common > 0
}

// follows reports whether the times of two monitors hardly overlap: files that a monitor wrote one after the other.
func (p *placed) follows(o *placed) bool {
	both := min(p.to(), o.to()) - max(p.from(), o.from())
	return both < min(p.to()-p.from(), o.to()-o.from())/10
}

// powerOf returns the mean power of the GPUs of some monitors in a time, or nil without samples. A GPU that several programs
// of one input recorded counts once, and one in files of one time after the other too.
func powerOf(list []*placed, sp span) *summary.AttemptPower {
	out := summary.AttemptPower{}
	sum, covered := 0.0, int64(0)
	var earlier [][]*placed // of one machine
	gpus := map[string]bool{}
	for _, m := range list {
		machine := slices.IndexFunc(earlier, func(of []*placed) bool {
			return !slices.ContainsFunc(of, func(o *placed) bool { return !m.follows(o) })
		})
		if machine < 0 {
			machine, earlier = len(earlier), append(earlier, nil)
		}
		earlier[machine] = append(earlier[machine], m)
		parts := map[string]part{}
		for i := range m.sets {
			if set := &m.sets[i]; set.isPower() {
				w := weigh(set, m.shift, m.open)
				if p := w.within([]span{sp}); p.n >= summary.MinSamples && p.n > parts[set.place].n {
					parts[set.place] = p
				}
			}
		}
		for _, place := range slices.Sorted(maps.Keys(parts)) { // in order, so that sums are equal each time
			p := parts[place]
			sum, covered = sum+p.sum, covered+p.ns
			gpus[fmt.Sprint(machine, place)] = true
			m.row.Power = summary.PowerCounts
		}
	}
	if covered == 0 {
		return nil
	}
	out.GPUs = int64(len(gpus))
	out.Watts, out.NS = sum/float64(covered), min(covered/out.GPUs, sp.end-sp.start)
	return &out
}
