package forms

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"assay/logs"
)

// A timeTrack finds the times of all lines, with and without values: when the log begins and ends, and when nothing
// was written for long. To be fast, it looks at one line in every few kilobytes, and at all in between only if time
// passed. Times with and without a year, and with and without a zone, are separate tracks, because lines of several programs
// may mix them.
type timeTrack struct {
	of   [4]track // by kindOf
	seen [4]seen
}

// A seen is the last line with a time before a position of the text.
type seen struct {
	any  bool
	at   int64 // where the line begins
	ns   int64
	upTo int64 // the position
}

type track struct {
	any         bool
	first, last int64
	gaps        []logs.Gap
	least       int64 // of a gap
}

const (
	stampWithin = 160     // bytes of a line that are searched for its time
	sampleEvery = 2 << 10 // bytes
	leastGap    = 5 * second
	maxGaps     = 4096
	lookBack    = 64 << 10
)

// ns returns the time of a stamp as the records of a log have it. One without a year, such as those of C++ programs, is of
// the year in which it is nearest to the last time with one.
func (t *timeTrack) ns(st stamp, kind int) int64 {
	last := &t.of[kind]
	switch {
	case kindOf(st) == kind:
		return st.ns
	case st.dated || !last.any || st.zoned != (kind >= zonedKind):
		return logs.NoTime
	}
	at, year := time.Unix(0, st.ns).UTC(), time.Unix(0, last.last).UTC().Year()
	best := logs.NoTime
	for y := year - 1; y <= year+1; y++ {
		ns := days(y, int(at.Month()), at.Day())*day + st.ns%day
		if best == logs.NoTime || abs(ns-last.last) < abs(best-last.last) {
			best = ns
		}
	}
	return best
}

func abs(ns int64) int64 { return max(ns, -ns) }

// lineStamp returns the time at the beginning of a line. That of Slurm, which is by the clock of another host, is not
// one of the log.
func lineStamp(line []byte) (stamp, bool) {
	line = line[:min(len(line), stampWithin)]
	if bytes.Contains(line, cancelledAt) {
		return stamp{}, false
	}
	return findStamp(line)
}

var cancelledAt = []byte(" CANCELLED AT ")

// track reads the times of the lines of a text, which begins with a line.
func (t *timeTrack) track(b []byte) {
	kind := -1               // of the last line with a time: a sample may miss the lines of another kind
	from, jumped := 0, false // the first line after the last one with a time, and whether lines after it were not looked at
	for at := 0; at < len(b); {
		end := at + lineLength(b[at:])
		st, ok := lineStamp(b[at:end])
		if !ok {
			at = end
			continue
		}
		if tr := &t.of[kindOf(st)]; jumped && (kindOf(st) != kind || tr.any && st.ns-tr.last >= leastGap) {
			t.each(b[from:at])
		}
		kind = kindOf(st)
		t.add(st)
		from, jumped = end, false
		if at = end; end+sampleEvery < len(b) {
			at, jumped = end+sampleEvery, true
			at += lineLength(b[at:])
		}
	}
	if jumped {
		t.each(b[from:])
	}
}

// lineLength returns the length of the first line of a text, with its end.
func lineLength(b []byte) int {
	if n := bytes.IndexByte(b, '\n'); n >= 0 {
		return n + 1
	}
	return len(b)
}

// each reads the time of every line.
func (t *timeTrack) each(b []byte) {
	for len(b) > 0 {
		end := lineLength(b)
		if st, ok := lineStamp(b[:end]); ok {
			t.add(st)
		}
		b = b[end:]
	}
}

// kindOf returns 1 for times with a year, and 2 more for those with a zone.
func kindOf(st stamp) (kind int) {
	if st.dated {
		kind++
	}
	if st.zoned {
		kind += zonedKind
	}
	return kind
}

const zonedKind = 2

func (t *timeTrack) add(st stamp) {
	tr := &t.of[kindOf(st)]
	if !tr.any {
		tr.any, tr.first, tr.last, tr.least = true, st.ns, st.ns, leastGap
		return
	}
	if st.ns-tr.last >= tr.least {
		tr.gaps = append(tr.gaps, logs.Gap{From: tr.last, To: st.ns})
		if len(tr.gaps) > 2*maxGaps {
			tr.thin()
		}
	}
	tr.last = st.ns
}

// thin keeps the longest gaps.
func (tr *track) thin() {
	long := slices.Clone(tr.gaps)
	slices.SortFunc(long, func(a, b logs.Gap) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	tr.least = max(tr.least, long[maxGaps].To-long[maxGaps].From+1)
	tr.gaps = slices.DeleteFunc(tr.gaps, func(g logs.Gap) bool { return g.To-g.From < tr.least })
}

// ends returns the first and the last time, and the gaps, of the lines whose times are of a kind.
func (t *timeTrack) ends(kind int) (first, last int64, gaps []logs.Gap) {
	tr := &t.of[kind]
	if !tr.any {
		return logs.NoTime, logs.NoTime, nil
	}
	first, last, gaps = tr.first, tr.last, tr.gaps
	// Zones differ by a quarter of an hour or more: lines with a zone that are nearer are of the same one.
	if o := &t.of[kind^zonedKind]; o.any && first > o.first && first-o.first < quarter {
		first = o.first
	}
	if o := &t.of[kind^zonedKind]; o.any && last < o.last && o.last-last < quarter {
		last = o.last
	}
	return first, last, gaps
}

const quarter = 900 * second

// before returns the time of the last line of a text that has one of this kind, or NoTime. The text begins at a position
// of the whole text. What was searched for an earlier position is not searched again, because a program that fails may
// write thousands of lines without a time.
func (t *timeTrack) before(b []byte, begin int64, kind int) int64 {
	s, end := &t.seen[kind], begin+int64(len(b))
	for least := max(begin, s.upTo, end-lookBack) - begin; int64(len(b)) > least; {
		at := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
		if st, ok := lineStamp(b[at:]); ok && kindOf(st) == kind {
			s.any, s.at, s.ns = true, begin+int64(at), st.ns
			break
		}
		b = b[:at]
	}
	s.upTo = end
	if !s.any || s.at < end-lookBack {
		return logs.NoTime
	}
	return s.ns
}
