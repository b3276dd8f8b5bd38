package clocks

import (
	"strings"
	"testing"
	"time"

	"assay/summary"
)

// at returns a track from one time of 2 March to another, in hours.
func at(from, to float64, change func(*Track)) *Track {
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC).UnixNano()
	hour := func(h float64) int64 { return day + int64(h*3600)*second }
	t := &Track{known: true, dated: true, first: hour(from), last: hour(to)}
	if change != nil {
		change(t)
	}
	return t
}

func zoned(t *Track)   { t.zoned = true }
func monitor(t *Track) { t.monitor = true }

// yearless is a log that does not write its year, whose times are taken to be of 1970.
func yearless(t *Track) {
	shift, _ := yearShift(t.first, 1970, false)
	t.dated, t.first, t.last = false, t.first+shift, t.last+shift
}

// clocksOf joins tracks, and returns the rows of their clocks.
func clocksOf(list ...*Track) []summary.Clock {
	s := &summary.Summary{Inputs: make([]summary.Input, len(list))}
	Join(s, list)
	return s.Clocks
}

// TestZones: a zone that is not stated is assumed only if one zone fits.
func TestZones(t *testing.T) {
	// Trap: timestamps without year or zone.
	for _, c := range []struct {
		name    string
		tracks  []*Track
		left    string // of the first track
		assumed string // of the first track
		shift   time.Duration
	}{
		{name: "a monitor of three minutes, a trace within, two hours behind", tracks: []*Track{at(14, 14.05, monitor), at(12.01, 12.02, zoned)}, assumed: "zone", shift: -2 * time.Hour},
		{name: "a zone of half an hour", tracks: []*Track{at(14.5, 14.55, monitor), at(9.01, 9.02, zoned)}, assumed: "zone", shift: -5*time.Hour - 30*time.Minute},
		{name: "a monitor of a day, so that several zones fit", tracks: []*Track{at(0, 24, monitor), at(12.01, 12.02, zoned)}, left: summary.ZoneUnknown},
		{name: "another minute, so that no zone fits", tracks: []*Track{at(14.1, 14.15, monitor), at(12.01, 12.02, zoned)}, left: summary.ZoneUnknown},
		{name: "two logs without a zone", tracks: []*Track{at(0, 24, monitor), at(12, 13, nil)}, assumed: "same-zone"},
		{name: "two logs at other times", tracks: []*Track{at(0, 1, monitor), at(12, 13, nil)}, left: summary.NoOverlap, assumed: "same-zone"},
		{name: "no year, beside one", tracks: []*Track{at(12, 13, yearless), at(12, 14, monitor)}, assumed: "year same-zone", shift: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC).Sub(time.Date(1970, 3, 2, 0, 0, 0, 0, time.UTC))},
		{name: "no year, and another month beside", tracks: []*Track{at(12, 13, yearless), at(24*40, 24*41, monitor)}, left: summary.YearUnknown},
		{name: "a trace of another month, so that no zone can fit", tracks: []*Track{at(24*40, 24*41, monitor), at(12.01, 12.02, zoned)}, left: summary.NoOverlap},
		{name: "no times", tracks: []*Track{{}, at(12, 14, monitor)}, left: summary.NoTimes},
	} {
		got := clocksOf(c.tracks...)
		if len(got) != len(c.tracks) {
			t.Errorf("%s: %d clocks", c.name, len(got))
			continue
		}
		if g := got[0]; g.LeftOut != c.left || strings.Join(g.Assumed, " ") != c.assumed || g.ShiftNS != int64(c.shift) {
			t.Errorf("%s: left out %q, assumed %q, shifted by %s; want %q, %q, %s", c.name, g.LeftOut, g.Assumed, time.Duration(g.ShiftNS), c.left, c.assumed, c.shift)
		}
	}
	if got := clocksOf(at(1, 2, zoned), at(1, 2, nil)); got != nil {
		t.Error("without a monitor there is nothing to join")
	}
}

// TestParseSetting: what --clock-offset takes.
func TestParseSetting(t *testing.T) {
	for text, want := range map[string]Setting{"+1.5s": {Shift: 1500 * time.Millisecond}, "-2h": {Shift: -2 * time.Hour}} {
		if got, err := ParseSetting(text); err != nil || got.Shift != want.Shift || got.Zone != nil || !got.Given {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]time.Duration{"UTC": 0, "UTC+2": 2 * time.Hour, "UTC-05:30": -5*time.Hour - 30*time.Minute, "UTC+0530": 5*time.Hour + 30*time.Minute} {
		if got, err := ParseSetting(text); err != nil || got.Zone == nil || *got.Zone != int64(want) {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "later", "UTC+", "UTC+99", "UTC*2", "100000h"} {
		if _, err := ParseSetting(text); err == nil || !strings.Contains(err.Error(), "want a time such as") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestLeapDay: a log without its year that has a 29 February fits leap years only, and its days follow
// each other. The truth is the calendar of package time.
func TestLeapDay(t *testing.T) {
	for year, want := range map[int]bool{2024: true, 2025: false, 2028: true, 2100: false, 2000: true} {
		shift, ok := yearShift(time.Date(1970, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano(), year, true)
		if ok != want {
			t.Errorf("%d: %t", year, ok)
		}
		got := time.Date(1970, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(shift))
		if ok && !got.Equal(time.Date(year, 2, 29, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%d: %v", year, got)
		}
	}
}
