package clocks

import (
	"slices"
	"time"

	"assay/summary"
)

// A placed is a track with its place on a common clock.
type placed struct {
	*Track
	row   summary.Clock
	shift int64
}

func (p *placed) from() int64 { return p.first + p.shift }
func (p *placed) to() int64   { return p.last + p.open + p.shift }

func (p *placed) assume(what string) { p.row.Assumed = append(p.row.Assumed, what) }

// overlaps reports whether the two tracks overlap if p is shifted by shift.
func (p *placed) overlaps(o *placed, shift int64) bool {
	return p.from()+shift <= o.to() && o.from() <= p.to()+shift
}

// mostZones is the largest difference, in ns, between the clocks of two time zones.
const mostZones = 26 * 3600 * second

// near reports whether the two tracks can overlap, whatever their time zones are.
func (p *placed) near(o *placed) bool {
	return p.from() <= o.to()+mostZones && o.from()-mostZones <= p.to()
}

// align places tracks on common clocks. A track is nil for an input without times. The row of a
// track that cannot be placed states the reason.
func align(tracks []*Track) []*placed {
	out := make([]*placed, len(tracks))
	for i, t := range tracks {
		p := &placed{Track: t, row: summary.Clock{Input: i}}
		out[i] = p
		switch {
		case t == nil || !t.known:
			p.row.LeftOut = summary.NoTimes
			continue
		case t.zoned:
			p.row.Frame = summary.FrameUnix
		default:
			p.row.Frame = summary.FrameLocal
		}
		p.row.Given = t.setting.Given
		p.shift = int64(t.setting.Shift)
		if t.setting.Zone != nil && !t.zoned {
			p.row.Frame = summary.FrameUnix
			p.shift -= *t.setting.Zone
		}
	}
	years(out)
	zones(out)
	offsets(out)
	return out
}

// ok returns the placed tracks for which want is true.
func ok(list []*placed, want func(*placed) bool) (out []*placed) {
	for _, p := range list {
		if p.row.LeftOut == "" && want(p) {
			out = append(out, p)
		}
	}
	return out
}

// years finds the year of tracks whose log does not write it: the only year with which they overlap
// a track with a year. If no track has one, all are assumed to be of the same year.
func years(list []*placed) {
	dated := ok(list, func(p *placed) bool { return p.dated })
	without := ok(list, func(p *placed) bool { return !p.dated })
	if len(without) == 0 {
		return
	}
	if len(dated) == 0 {
		for _, p := range without {
			p.assume(summary.AssumedYear)
		}
		return
	}
	seen := map[int]bool{}
	for _, d := range dated {
		y := time.Unix(0, d.from()).UTC().Year()
		seen[y-1], seen[y], seen[y+1] = true, true, true
	}
	for _, p := range without {
		var fits []int64
		for y := range seen {
			shift, ok := yearShift(p.first, y, p.leap)
			if !ok {
				continue
			}
			if slices.ContainsFunc(dated, func(d *placed) bool {
				return p.from()+shift <= d.to()+mostZones && d.from()-mostZones <= p.to()+shift
			}) {
				fits = append(fits, shift)
			}
		}
		if len(fits) != 1 {
			p.row.LeftOut, p.row.Frame = summary.YearUnknown, ""
			continue
		}
		p.shift += fits[0]
		p.assume(summary.AssumedYear)
	}
}

// yearShift returns the ns from a time in 1970 to the same date and time in another year. A log with
// a 29 February was read as if in a leap year, so it fits only leap years: otherwise ok is false.
func yearShift(ns int64, year int, leap bool) (shift int64, ok bool) {
	first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	if leap {
		return first.UnixNano(), first.AddDate(0, 2, -1).Day() == 29
	}
	t := time.Unix(0, ns).UTC()
	return time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(),
		time.UTC).UnixNano() - ns, true
}

// zones finds the time zone of tracks without one, if other tracks have Unix time. It assumes that
// all such tracks are in the same zone: the only one in use with which a monitor and a program
// overlap. If several fit, or none, tracks with a zone are joined only with others that have one.
func zones(list []*placed) {
	local := ok(list, func(p *placed) bool { return p.row.Frame == summary.FrameLocal })
	unix := ok(list, func(p *placed) bool { return p.row.Frame == summary.FrameUnix })
	if len(local) == 0 {
		return
	}
	fits := map[int64]bool{}
	for _, a := range local {
		for _, b := range unix {
			if a.monitor == b.monitor {
				continue
			}
			for _, zone := range zonesInUse() {
				if a.overlaps(b, -zone) {
					fits[zone] = true
				}
			}
		}
	}
	for _, p := range local {
		if len(fits) != 1 {
			if len(local) > 1 {
				p.assume(summary.AssumedSameZone)
			}
			continue
		}
		for zone := range fits {
			p.shift -= zone
		}
		p.row.Frame = summary.FrameUnix
		p.assume(summary.AssumedZone)
	}
}

// zonesInUse returns the offsets of the world's time zones from UTC, in ns.
func zonesInUse() (out []int64) {
	const quarter = 15 * 60 * second
	for n := -12 * 4; n <= 14*4; n++ {
		hours, rest := n/4, n%4
		switch {
		case rest == 0,
			rest == 2 && (hours == 3 || hours == 4 || hours == 5 || hours == 6 || hours == 9 || hours == 10),
			rest == -2 && (hours == -3 || hours == -2 || hours == -9),
			rest == 3 && (hours == 5 || hours == 8 || hours == 12):
			out = append(out, int64(n)*quarter)
		}
	}
	return out
}
