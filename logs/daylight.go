package logs

import (
	"slices"
	"time"

	"assay/internal/diag"
	"assay/internal/stat"
)

const (
	hour     = int64(3600e9)
	leastSet = 20 // values before a change of the clock, so that their usual distance is known
)

// A clockSet is a change of the clock of a log for daylight saving time: from the value with a number on, its times are ahead
// by the hour, or behind.
type clockSet struct {
	at    int64 // the local hour at which the clock was set forward, or to which it would have gone
	ahead int64
	line  int64 // of the first record of a step after it; 0 if unknown
}

// daylight takes back an hour by which the clock of a log was set, so that it is no stall and the log goes on. Only
// local times with a date, and values at regular distances on both sides of the change, show this.
func (b *Builder) daylight() {
	if c := b.log.Clock; !c.Known || c.Zoned || !c.Dated {
		return
	}
	longest := []int64(nil)
	for i := range b.series {
		if t := b.series[i].Points.Time; len(t) > len(longest) && !slices.Contains(t, NoTime) {
			longest = t
		}
	}
	set, ok := setIn(longest)
	if !ok {
		return
	}
	for i := 1; i < len(b.log.Course.Beats); i++ {
		if a, z := b.log.Course.Beats[i-1].Time, b.log.Course.Beats[i].Time; set.line == 0 && (set.ahead > 0 && a < set.at && z >= set.at || set.ahead < 0 && z < a) {
			set.line = b.log.Course.Beats[i].Line
		}
	}
	for i := range b.series {
		set.move(b.series[i].Points.Time)
	}
	c := &b.log.Course
	for i := range c.Beats {
		if set.line > 0 && c.Beats[i].Line >= set.line && c.Beats[i].Time != NoTime {
			c.Beats[i].Time -= set.ahead
		}
	}
	for i := range c.Marks {
		for _, at := range []*int64{&c.Marks[i].Time, &c.Marks[i].Seen} {
			if *at != NoTime && (set.ahead > 0 && *at >= set.at || set.ahead < 0 && set.line > 0 && c.Marks[i].Line >= set.line) {
				*at -= set.ahead
			}
		}
	}
	for i := range c.Gaps { // one in the hour that comes twice stays as it is
		for _, at := range []*int64{&c.Gaps[i].From, &c.Gaps[i].To} {
			if *at >= set.at {
				*at -= set.ahead
			}
		}
	}
	if c.Last != NoTime && (set.ahead < 0 || c.Last >= set.at) {
		c.Last -= set.ahead
	}
	if set.ahead < 0 {
		b.issues.Remove("log-clock-back")
	}
	b.issues.Add(diag.Issue{Code: "log-clock-daylight", Severity: diag.Info})
}

// setIn finds the change in the times of regular values: a Sunday on which an hour of the night is left out, or comes twice.
func setIn(t []int64) (clockSet, bool) {
	if len(t) < 2*leastSet {
		return clockSet{}, false
	}
	var steps []int64
	for i := 1; i < len(t); i++ {
		if t[i] > t[i-1] {
			steps = append(steps, t[i]-t[i-1])
		}
	}
	usual := stat.Median(steps)
	for i := leastSet; i < len(t); i++ {
		for _, ahead := range []int64{hour, -hour} {
			d := t[i] - t[i-1] - ahead
			border := (t[i-1]/hour + 1) * hour // the hour that ends after the last time before
			after := border
			if ahead < 0 {
				after = border - hour
			}
			night := time.Unix(0, border).UTC()
			if d >= 0 && d <= 2*usual+2e9 && usual < hour/6 && t[i] >= after+max(0, ahead) &&
				night.Weekday() == time.Sunday && night.Hour() <= 3 && slices.Contains([]time.Month{3, 4, 9, 10, 11}, night.Month()) {
				return clockSet{at: border, ahead: ahead}, true
			}
		}
	}
	return clockSet{}, false
}

// move takes the hour back in the times of a series.
func (s clockSet) move(t []int64) {
	after := false
	for i, at := range t {
		switch {
		case at == NoTime:
			continue
		case s.ahead > 0:
			after = at >= s.at
		case at >= s.at || i > 0 && !after && t[i-1] != NoTime && at < t[i-1]-hour/2:
			after = true
		}
		if after {
			t[i] -= s.ahead
		}
	}
}
