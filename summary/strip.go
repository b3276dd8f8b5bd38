package summary

import "math"

// HalveStrips joins pairs of bins in the activity and queue strips of all GPUs. With many inputs the strips
// would take more memory than all other results.
func (s *Summary) HalveStrips() {
	for i := range s.Devices {
		if strip := s.Devices[i].Strip; strip != nil && strip.BinNS <= math.MaxInt64/2 {
			strip.BinNS *= 2
			for class, row := range strip.NS {
				strip.NS[class] = halved(row)
			}
		}
	}
	for i := range s.Launches {
		row := halved(s.Launches[i].QueueStrip)
		for j := range row {
			row[j] /= 2 // a mean
		}
		s.Launches[i].QueueStrip = row
	}
}

// halved returns the sums of pairs of values.
func halved(row []int64) []int64 {
	if row == nil {
		return nil
	}
	out := make([]int64, (len(row)+1)/2)
	for i, n := range row {
		out[i/2] = Plus(out[i/2], n)
	}
	return out
}
