package efficiency

import (
	"slices"

	"assay/summary"
)

// Monitored returns what monitors recorded of a metric while the GPUs of s ran: of all GPUs of
// a machine together. It returns nil if no monitor has a clock in common with them.
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

// PeakClock returns the clock in Hz that the peaks of all GPUs assume, or 0 if it is not
// known or differs between them.
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
