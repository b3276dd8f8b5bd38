package trace

import "github.com/tidwall/gjson"

// Hardware has the properties of a device from which its peak rates are computed. A property
// that the capture does not state is 0.
type Hardware struct {
	SMs          int64 // SMs or compute units
	Major, Minor int64 // of the compute capability
	ClockHz      int64 // the highest clock of the SMs
	Bandwidth    int64 // of the memory, in bytes/s
	Cache        int64 // bytes of the last level
	HalfRate     int64 // FLOP/s of matrix units at 16 bits, if the capture states it
}

// hardwareMembers are the members of an element of deviceProperties. Kineto writes the first
// three. The others are named like columns of Nsight Systems; assay writes them when it
// converts or trims an export of Nsight Systems.
var hardwareMembers = [...]string{"numSms", "computeMajor", "computeMinor", "clockRate", "memoryBandwidth", "l2CacheSize", "halfRate"}

// values returns the fields in the order of hardwareMembers.
func (h *Hardware) values() [len(hardwareMembers)]*int64 {
	return [...]*int64{&h.SMs, &h.Major, &h.Minor, &h.ClockHz, &h.Bandwidth, &h.Cache, &h.HalfRate}
}

// Members calls yield with the name and the value of each property that is known.
func (h Hardware) Members(yield func(name string, n int64) bool) {
	for i, v := range h.values() {
		if *v != 0 && !yield(hardwareMembers[i], *v) {
			return
		}
	}
}

// hardwareOf returns what an element of deviceProperties states. Numbers below 0 and other
// values count as absent.
func hardwareOf(d gjson.Result) (h Hardware) {
	for i, v := range h.values() {
		if n := d.Get(hardwareMembers[i]); n.Type == gjson.Number {
			*v = max(0, n.Int())
		}
	}
	return h
}
