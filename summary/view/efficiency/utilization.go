package efficiency

import "assay/summary"

// A Range has the lower and upper limit of MFU or HFU. For Most, all GPU time with unknown FLOPs is assumed
// to run at the peak.
type Range struct {
	Least   float64 `json:"least"`
	Most    float64 `json:"most"`
	Unknown float64 `json:"unknown,omitempty"` // GPU time with unknown FLOPs, as a share of GPU time; 0 if Least is exact
	Unrated bool    `json:"unrated,omitempty"` // FLOPs of a type without a peak are missing
	// UnrecordedNS is the idle time in ns during which GPUs ran work that was not recorded. It is part of
	// Unknown.
	UnrecordedNS int64 `json:"unrecorded_ns,omitempty"`
}

// Apart reports whether the ranges do not overlap.
func (r Range) Apart(o Range) bool { return r.Least > o.Most || o.Least > r.Most }

// exactEnough is the share of GPU time with unknown FLOPs up to which a utilization counts as exact.
const exactEnough = 0.01

// Work returns the GPU time in ns that may have FLOPs: all except communication.
func Work(sums *summary.EfficiencySums) int64 {
	return max(0, sums.GPUNS-min(sums.CommNS, sums.GPUNS-sums.FLOPsKnownNS))
}

// MFU returns the model FLOPs utilization of GPUs or steps, weighted by their time. It returns false if it
// is unknown for one of them that has matrix FLOPs.
func MFU(s *summary.Summary, list []*summary.EfficiencySums) (Range, bool) {
	return utilization(s, list, func(sums *summary.EfficiencySums) (*float64, bool) {
		return sums.MFU, sums.MFUFrom == summary.MFUOfUser
	})
}

// HFU returns the hardware FLOPs utilization in the same way. Model FLOPs that the user stated are a lower
// bound for the executed FLOPs.
func HFU(s *summary.Summary, list []*summary.EfficiencySums) (Range, bool) {
	return utilization(s, list, func(sums *summary.EfficiencySums) (*float64, bool) {
		if sums.MFUFrom == summary.MFUOfUser && sums.MFU != nil && sums.HFU != nil && *sums.MFU > *sums.HFU {
			return sums.MFU, false
		}
		return sums.HFU, false
	})
}

// utilization returns the mean of a share. complete means that the share does not depend on which FLOPs are
// known.
func utilization(s *summary.Summary, list []*summary.EfficiencySums, share func(*summary.EfficiencySums) (v *float64, complete bool)) (Range, bool) {
	var atPeak, wall, unknown, all float64
	known, unrated := false, withoutPeak(s)
	var out Range
	lost := unrecorded(s)
	for _, sums := range list {
		wall, all = wall+float64(sums.WallNS), all+float64(sums.GPUNS)
		v, complete := share(sums)
		switch {
		case v != nil:
			atPeak, known = atPeak+*v*float64(sums.WallNS), true
		case sums.MatrixFLOPs > 0:
			return Range{}, false
		}
		if complete {
			continue
		}
		unknown += float64(Work(sums) - sums.FLOPsKnownNS)
		if ns := lost[sums]; ns > 0 {
			unknown, all = unknown+float64(ns), all+float64(ns)
			out.UnrecordedNS = summary.Plus(out.UnrecordedNS, ns)
		}
		if unrated {
			unknown += float64(sums.MatrixNS)
		}
	}
	if !known || wall <= 0 {
		return Range{}, false
	}
	out.Least, out.Most = atPeak/wall, atPeak/wall
	if all == 0 || unknown/all <= exactEnough {
		out.UnrecordedNS = 0
		return out, true
	}
	out.Unknown, out.Unrated = min(1, unknown/all), unrated
	out.Most = max(out.Least, min(1, (atPeak+unknown)/wall))
	return out, true
}

// unrecorded returns the idle time of GPUs during which they ran work that was not recorded, by the sums of
// the GPU.
func unrecorded(s *summary.Summary) map[*summary.EfficiencySums]int64 {
	out := map[*summary.EfficiencySums]int64{}
	for i := range s.Idle {
		r := &s.Idle[i]
		if r.Owner != summary.OwnerNotRecorded {
			continue
		}
		for j := range s.Efficiency.Devices {
			if d := &s.Efficiency.Devices[j]; d.Input == r.Input && d.Rank == r.Rank && d.Device == r.Device {
				out[&d.EfficiencySums] += r.NS
			}
		}
	}
	return out
}

// withoutPeak reports whether FLOPs of matrix operators are known but the peak of their type is not, so
// that they are missing from the utilization.
func withoutPeak(s *summary.Summary) bool {
	peaks := map[summary.GPU]map[string]float64{}
	for i := range s.Efficiency.Devices {
		d := &s.Efficiency.Devices[i]
		peaks[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}] = d.PeakTFLOPS
	}
	for i := range s.Efficiency.Rows {
		r := &s.Efficiency.Rows[i]
		if r.Unit == "matrix" && r.FLOPs != nil && *r.FLOPs > 0 {
			if p := peaks[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}]; len(p) > 0 && p[r.Dtype] <= 0 {
				return true
			}
		}
	}
	return false
}

// Devices returns the sums of all GPUs.
func Devices(s *summary.Summary) []*summary.EfficiencySums {
	out := make([]*summary.EfficiencySums, len(s.Efficiency.Devices))
	for i := range out {
		out[i] = &s.Efficiency.Devices[i].EfficiencySums
	}
	return out
}
