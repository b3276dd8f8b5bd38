package monitor

import (
	"strconv"
	"strings"
	"time"

	"assay/logs"
)

const second = int64(time.Second)

// dayOf returns midnight of a date, as if the zone was UTC.
func dayOf(year, month, day string) (int64, bool) {
	y, err1 := strconv.Atoi(year)
	m, err2 := strconv.Atoi(month)
	d, err3 := strconv.Atoi(day)
	if err1 != nil || err2 != nil || err3 != nil || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	if y < 100 {
		y += 2000
	}
	if y < 1970 || y > 2200 {
		return 0, false
	}
	return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).UnixNano(), true
}

// secondsOf returns a time of the day, "13:54:35" or "13:54:35.25", in ns.
func secondsOf(s string) (int64, bool) {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return 0, false
	}
	h, err1 := strconv.Atoi(s[:2])
	m, err2 := strconv.Atoi(s[3:5])
	sec, err3 := strconv.ParseFloat(s[6:], 64)
	if err1 != nil || err2 != nil || err3 != nil || h < 0 || h > 23 || m < 0 || m > 59 || !(sec >= 0 && sec < 61) {
		return 0, false
	}
	return int64(h*3600+m*60)*second + int64(sec*1e9), true
}

// dateTime returns a date and time: "2024/01/16 14:44:16.977", "2026-11-20 11:57:34",
// "2026-11-20T11:57:28+0000", "11/20/26 11:57:27", "08/02/2019 03:16:15 PM".
// A zone behind it ("+0200", "+02:00", "Z") is subtracted.
func dateTime(s string) (int64, bool) {
	s = strings.Replace(strings.TrimSpace(s), "T", " ", 1)
	date, clock, ok := strings.Cut(s, " ")
	if !ok {
		return 0, false
	}
	d, ok := dateOfText(date)
	if !ok {
		return 0, false
	}
	clock, half, _ := strings.Cut(clock, " ")
	zone := int64(0)
	if i := strings.IndexAny(clock, "+Z-"); i > 0 {
		if zone, ok = zoneOf(clock[i:]); !ok {
			return 0, false
		}
		clock = clock[:i]
	}
	t, ok := secondsOf(clock)
	if !ok {
		return 0, false
	}
	return d + halfDay(t, half) - zone, true
}

// zoneOf returns the offset of a zone from UTC in ns: "Z", "+0200", "-05:30".
func zoneOf(s string) (int64, bool) {
	if s == "Z" {
		return 0, true
	}
	digits := strings.Replace(s[1:], ":", "", 1)
	n, err := strconv.Atoi(digits)
	if err != nil || len(digits) != 4 || n/100 > 14 || n%100 > 59 {
		return 0, false
	}
	ns := int64(n/100*60+n%100) * 60 * second
	if s[0] == '-' {
		ns = -ns
	}
	return ns, true
}

// halfDay applies AM and PM to a time of the day.
func halfDay(t int64, half string) int64 {
	const noon = 12 * 3600 * second
	switch {
	case half == "PM" && t < noon:
		return t + noon
	case half == "AM" && t >= noon:
		return t - noon
	}
	return t
}

// dateOfText returns midnight of a date: the year first, or the month first as in the US.
func dateOfText(s string) (int64, bool) {
	sep := "/"
	if strings.Contains(s, "-") {
		sep = "-"
	}
	p := strings.Split(s, sep)
	switch {
	case len(p) != 3:
		return 0, false
	case len(p[0]) == 4:
		return dayOf(p[0], p[1], p[2])
	case sep == "/":
		return dayOf(p[2], p[0], p[1])
	}
	return 0, false
}

// dateOf returns the date in the heading of sysstat: "Linux 6.1 (host) 11/20/26 _x86_64_".
func dateOf(words []string) int64 {
	for _, w := range words {
		if d, ok := dateOfText(w); ok {
			return d
		}
	}
	return logs.NoTime
}

// setTime sets the time of a row from a time of the day. If it goes back by hours, the next
// day has begun.
func (f *Finder) setTime(clock int64, dated bool) {
	const day = 24 * 3600 * second
	if f.day == logs.NoTime {
		f.time = logs.NoTime
		return
	}
	if !dated && clock < f.clock-12*3600*second {
		f.day += day
	}
	f.clock = clock
	f.time = f.day + clock
	f.b.Clock(f.time, true, false)
}
