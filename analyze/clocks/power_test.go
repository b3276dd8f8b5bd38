package clocks

import (
	"fmt"
	"math"
	"testing"

	"assay/summary"
)

// recorded returns a monitor that records the power of GPUs each 5 s from one hour to another.
func recorded(tool string, from, to float64, gpus int, watts func(gpu int, hour float64) float64) *Track {
	t := at(from, to, monitor)
	t.tool = tool
	for gpu := range gpus {
		set := samples{place: fmt.Sprint("gpu ", gpu), metric: "gpu.power", unit: "watt"}
		for ns := t.first; ns <= t.last; ns += 5 * second {
			set.t = append(set.t, ns)
			set.v = append(set.v, watts(gpu, from+float64(ns-t.first)/3600e9))
		}
		t.sets = append(t.sets, set)
	}
	return t
}

// TestPowerOfJobs: a job runs from 12:00 to 13:00 at 600 W and, for the last half of it, 500 W; before and after it its
// GPUs draw 70 W. Only samples of its time count, and each GPU counts once.
func TestPowerOfJobs(t *testing.T) {
	load := func(gpu int, hour float64) float64 {
		switch {
		case hour < 12 || hour > 13:
			return 70
		case hour > 12.5:
			return 500 + float64(gpu)
		}
		return 600 + float64(gpu)
	}
	times := func(f float64) func(int, float64) float64 {
		return func(gpu int, hour float64) float64 { return load(gpu, hour) * f }
	}
	whole := recorded("smi", 10, 15, 8, load)
	for _, tc := range []struct {
		name  string
		list  []*Track
		paths []string
		gpus  int64
		watts float64
		power []string // of each monitor
	}{
		{"one monitor, much longer than the job", []*Track{whole}, []string{"a.csv"}, 8, 553.5, []string{"counts"}},
		{"another time", []*Track{recorded("smi", 14, 15, 8, load)}, []string{"a.csv"}, 0, 0, []string{"other-time"}},
		{"two tools", []*Track{whole, recorded("dcgm", 11, 14, 8, times(1.03))}, []string{"a.csv", "b.csv"}, 8, 0, nil},
		{"a copy", []*Track{whole, recorded("smi", 10, 15, 8, load)}, []string{"n1.csv", "n2.csv"}, 8, 553.5, []string{"counts", "same-gpus"}},
		{"two files of one tool, with other samples", []*Track{whole, recorded("smi", 10, 15, 8, times(1.002))}, []string{"a.csv", "power.csv"}, 8, 553.5, []string{"counts", "same-gpus"}},
		{"two nodes of equal load", []*Track{whole, recorded("smi", 10, 15, 8, times(1.002))}, []string{"node1.csv", "node2.csv"}, 16, 553.5, []string{"counts", "counts"}},
		{"two nodes with other names and other power", []*Track{whole, recorded("smi", 10, 15, 8, times(1.1))}, []string{"red.csv", "blue.csv"}, 16, 581.175, []string{"counts", "counts"}},
		{"files of one time after the other", []*Track{recorded("smi", 10, 12.5, 8, load), recorded("smi", 12.5, 15, 8, load)}, []string{"p1.csv", "p2.csv"}, 8, 553.5, []string{"counts", "counts"}},
		{"kilowatts", []*Track{recorded("smi", 10, 15, 8, times(1e-3))}, []string{"a.csv"}, 0, 0, []string{"implausible"}},
		{"too much for a GPU", []*Track{recorded("smi", 10, 15, 8, times(9))}, []string{"a.csv"}, 0, 0, []string{"implausible"}},
	} {
		log := at(12, 13, nil)
		tracks := append([]*Track{log}, tc.list...)
		s := &summary.Summary{Inputs: make([]summary.Input, len(tracks))}
		for i, p := range tc.paths {
			s.Inputs[i+1].Path = p
		}
		s.Attempts = []summary.Attempt{{StartNS: &log.first, EndNS: &log.last, Steps: 1}}
		Join(s, tracks)
		p := s.Attempts[0].Power
		if p == nil {
			p = &summary.AttemptPower{}
		} else if p.NS < 3500*second || p.NS > 3600*second {
			t.Errorf("%s: samples of %d s, want about 3,600 s", tc.name, p.NS/second)
		}
		if p.GPUs != tc.gpus || tc.watts > 0 && math.Abs(p.Watts-tc.watts) > 1 {
			t.Errorf("%s: %d GPUs at %.1f W, want %d at %.1f W", tc.name, p.GPUs, p.Watts, tc.gpus, tc.watts)
		}
		for i, want := range tc.power {
			if got := s.Clocks[i+1].Power; got != want {
				t.Errorf("%s: monitor %d: %q, want %q", tc.name, i, got, want)
			}
		}
	}
}

// TestPowerOfUnknownTime: a monitor without a date, or in an unknown zone, does not count for the energy.
func TestPowerOfUnknownTime(t *testing.T) {
	load := func(int, float64) float64 { return 600 }
	none := recorded("dmon", 12, 13, 2, load)
	none.known = false
	for name, monitor := range map[string]*Track{"no date": none, "no zone": recorded("smi", 0, 24, 2, load)} {
		log := at(12, 13, zoned)
		s := &summary.Summary{Inputs: make([]summary.Input, 2), Attempts: []summary.Attempt{{StartNS: &log.first, EndNS: &log.last, Steps: 1}}}
		Join(s, []*Track{log, monitor})
		if s.Attempts[0].Power != nil || s.Clocks[1].Power != "" || s.Clocks[1].LeftOut == "" {
			t.Errorf("%s: %+v, %+v", name, s.Attempts[0].Power, s.Clocks[1])
		}
	}
}
