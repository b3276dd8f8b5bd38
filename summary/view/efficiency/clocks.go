package efficiency

import (
	"slices"

	"assay/summary"
)

// Monitored returns what monitors recorded of a metric while the GPUs of s ran, over all GPUs of a machine.
// It returns nil if no monitor shares a clock with them.
func Monitored(s *summary.Summary, metric string) *summary.Monitored {
	for i := range s.Monitored {
		m := &s.Monitored[i]
		if m.Metric == metric && m.Place == "" && m.Whole() && m.Mean != nil && m.Min != nil && m.Max != nil &&
			slices.ContainsFunc(s.Efficiency.Devices, func(d summary.EfficiencyDevice) bool { return d.Input == m.Beside }) {
			return m
		}
	}
	return nil
}

// PeakClock returns the clock in Hz that the peaks of all GPUs assume, or 0 if it is not known or differs
// between them.
func PeakClock(s *summary.Summary) float64 {
	mhz := 0.
	for i, d := range s.Efficiency.Devices {
		if d.PeakMHz == nil || i > 0 && *d.PeakMHz != mhz {
			return 0
		}
		mhz = *d.PeakMHz
	}
	return mhz * 1e6
}

// A Working has the clocks of GPUs while they were busy, as monitors recorded them.
type Working struct {
	GPUs      int
	Samples   int64
	Low, High float64  // the lowest and the highest median of a GPU, in Hz
	Throttled *float64 // share of busy time in which a limit lowered a clock, mean over the GPUs
}

// WorkingClocks returns the clocks of the GPUs of s while they were busy. It returns false if they are
// missing for one GPU.
func WorkingClocks(s *summary.Summary) (w Working, ok bool) {
	sum, limited := 0., 0
	for _, d := range s.Efficiency.Devices {
		if d.Clock == nil {
			return Working{}, false
		}
		hz := d.Clock.Median * 1e6
		if w.GPUs == 0 || hz < w.Low {
			w.Low = hz
		}
		w.High, w.GPUs, w.Samples = max(w.High, hz), w.GPUs+1, w.Samples+d.Clock.Samples
		if d.Throttled != nil {
			sum, limited = sum+*d.Throttled, limited+1
		}
	}
	if limited > 0 && limited == w.GPUs {
		mean := sum / float64(limited)
		w.Throttled = &mean
	}
	return w, w.GPUs > 0
}
