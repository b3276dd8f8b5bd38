package clocks

import (
	"testing"
	"time"

	"assay/summary"
)

// program returns a log of steps of 30 s from one hour to another.
func program(from, to float64) *Track {
	t := at(from, to, nil)
	for ns := t.first; ns < t.last; ns += 30 * second {
		t.steps = append(t.steps, span{step: int64(len(t.steps)), start: ns, end: ns + 30*second})
	}
	return t
}

// used returns a monitor of a GPU from one hour to another, which is in use in some of them.
func used(from, to float64, hours ...[2]float64) *Track {
	t := at(from, to, monitor)
	set := samples{place: "gpu 0", metric: "gpu.util", unit: "share"}
	for ns := t.first; ns <= t.last; ns += 10 * second {
		hour, v := from+float64(ns-t.first)/3600e9, 0.0
		for _, h := range hours {
			if hour > h[0] && hour < h[1] {
				v = 0.9
			}
		}
		set.t, set.v = append(set.t, ns), append(set.v, v)
	}
	t.sets = []samples{set}
	return t
}

// TestOtherZone: of a monitor and a log without zones, the load of the monitor must fit the steps, by its beginning and its
// end, as if they had one clock. If it fits only with a difference of quarters of an hour, they are not joined.
func TestOtherZone(t *testing.T) {
	serving := at(13, 14, nil)
	serving.busy = []span{{start: serving.first, end: serving.last}}
	given := used(7, 22, [2]float64{9, 19})
	given.setting.Given = true
	for _, tc := range []struct {
		name  string
		other *Track
		from  float64 // of the steps
		to    float64
		fits  time.Duration
	}{
		{"one clock", used(7, 22, [2]float64{8, 18}), 8, 18, 0},
		{"an hour ahead, in a job of ten", used(7, 22, [2]float64{9, 19}), 8, 18, -time.Hour},
		{"eight hours behind", used(0, 22, [2]float64{1, 11}), 9, 19, 8 * time.Hour},
		{"five and a half hours ahead", used(7, 22, [2]float64{13.5, 15.5}), 8, 10, -5*time.Hour - 30*time.Minute},
		{"the user says that it is right", given, 8, 18, 0},
		{"another program starts later", used(7, 22, [2]float64{9, 20}), 8, 18, 0},
		{"20 minutes, which is no zone", used(7, 22, [2]float64{8.34, 18.34}), 8, 18, 0},
		{"another program before and after it", used(7, 22, [2]float64{7.2, 21}), 8, 18, 0},
		{"idle GPUs", used(7, 22), 8, 18, 0},
		{"a load of five minutes", used(7, 22, [2]float64{9, 9.08}), 8, 8.08, 0},
		{"a server an hour ahead", serving, 12, 13, -time.Hour},
	} {
		s := &summary.Summary{Inputs: make([]summary.Input, 2)}
		c := align([]*Track{program(tc.from, tc.to), tc.other})[1].row
		if got := time.Duration(c.Fits); got != tc.fits || (c.LeftOut == summary.OtherZone) != (tc.fits != 0) {
			t.Errorf("%s: fits with %v, left out %q, want %v", tc.name, got, c.LeftOut, tc.fits)
		}
		if Join(s, []*Track{program(tc.from, tc.to), tc.other}); tc.fits != 0 && len(s.Monitored) > 0 {
			t.Errorf("%s: joined", tc.name)
		}
	}
}

// TestOtherZoneOfRestarts: the load of a monitor is that of all starts of a job, of which none fits it alone. A monitor whose
// load is that of all of them is right, also if one start fits it with another zone.
func TestOtherZoneOfRestarts(t *testing.T) {
	for _, tc := range []struct {
		name  string
		load  [][2]float64
		steps [][2]float64
		fits  time.Duration
	}{
		{"two starts, two hours ahead", [][2]float64{{10, 10.5}, {10.7, 12}}, [][2]float64{{8, 8.5}, {8.7, 10}}, -2 * time.Hour},
		{"three starts, five hours behind", [][2]float64{{3, 3.4}, {3.6, 4}, {4.2, 7}}, [][2]float64{{8, 8.4}, {8.6, 9}, {9.2, 12}}, 5 * time.Hour},
		{"one clock", [][2]float64{{8, 8.5}, {8.7, 10}}, [][2]float64{{8, 8.5}, {8.7, 10}}, 0},
		{"one clock, with another program after it", [][2]float64{{8, 8.5}, {8.7, 10}, {10.1, 10.6}}, [][2]float64{{8, 8.5}, {8.7, 10}}, 0},
		{"a start that was not logged", [][2]float64{{8, 8.5}, {8.7, 10}}, [][2]float64{{8, 8.5}}, 0},
	} {
		var list []*Track
		for _, s := range tc.steps {
			list = append(list, program(s[0], s[1]))
		}
		c := align(append(list, used(2, 20, tc.load...)))[len(list)].row
		if got := time.Duration(c.Fits); got != tc.fits || (c.LeftOut == summary.OtherZone) != (tc.fits != 0) {
			t.Errorf("%s: fits with %v, left out %q, want %v", tc.name, got, c.LeftOut, tc.fits)
		}
	}
}

// TestOtherZoneOfOneProgram: a monitor that fits one of two programs is right, whatever the other one is off.
func TestOtherZoneOfOneProgram(t *testing.T) {
	list := align([]*Track{program(8, 10), program(9, 11), used(7, 12, [2]float64{8, 10})})
	if c := list[2].row; c.LeftOut != "" {
		t.Errorf("left out: %q", c.LeftOut)
	}
}

// TestIdleInSteps: a monitor that shows a load only outside the steps of all programs is not of them, or has another clock.
func TestIdleInSteps(t *testing.T) {
	given := used(7, 22, [2]float64{11, 19})
	given.setting.Given = true
	for _, tc := range []struct {
		name     string
		monitor  *Track
		programs []*Track
		left     bool
	}{
		{"the load comes later, for longer", used(7, 22, [2]float64{11, 19}), []*Track{program(8, 10)}, true},
		{"of two starts", used(7, 22, [2]float64{13, 19}), []*Track{program(8, 10), program(10.5, 12)}, true},
		{"one of two starts has the load", used(7, 22, [2]float64{10.6, 19}), []*Track{program(8, 10), program(10.5, 12)}, false},
		{"a load that begins in the last step", used(7, 22, [2]float64{9.995, 19}), []*Track{program(8, 10)}, false},
		{"no load at all", used(7, 22), []*Track{program(8, 10)}, false},
		{"a short load at another time", used(7, 22, [2]float64{11, 11.1}), []*Track{program(8, 10)}, false},
		{"the user says that it is right", given, []*Track{program(8, 10)}, false},
		{"the steps are before the monitor", used(11, 22, [2]float64{12, 19}), []*Track{program(8, 10)}, false},
	} {
		all := align(append(tc.programs, tc.monitor))
		if got := all[len(all)-1].row.LeftOut; (got == summary.IdleInSteps) != tc.left {
			t.Errorf("%s: left out %q", tc.name, got)
		}
	}
}
