package view

import (
	"cmp"
	"slices"

	"assay/summary"
)

// A DeviceIdle is the idle time of one GPU by cause.
type DeviceIdle struct {
	At   int // index of the device
	Rows []summary.Idle
}

// IdleOfDevices returns the devices that have rows of idle time, by descending share of idle time in the
// window, and all rows of these. Rows of a device that the summary does not list are left out, because they
// have no window as a denominator.
func IdleOfDevices(s *summary.Summary) (devices []DeviceIdle, all []summary.Idle) {
	rows := map[summary.GPU][]summary.Idle{}
	for _, r := range s.Idle {
		at := summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}
		rows[at] = append(rows[at], r)
	}
	for i, d := range s.Devices {
		if own := rows[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}]; len(own) > 0 {
			devices = append(devices, DeviceIdle{i, own})
			all = append(all, own...)
		}
	}
	slices.SortStableFunc(devices, func(a, b DeviceIdle) int {
		return cmp.Compare(IdleShare(s.Devices[b.At].Activity), IdleShare(s.Devices[a.At].Activity))
	})
	return devices, all
}

// IdleGPUs returns the number of GPUs that the devices are.
func IdleGPUs(s *summary.Summary, devices []DeviceIdle) int {
	var list []summary.Device
	for _, d := range devices {
		list = append(list, s.Devices[d.At])
	}
	return GPUsOf(s, list)
}

// An OwnerIdle is the idle time with one cause in ns, over all states of the thread.
type OwnerIdle struct {
	ID string
	NS int64
}

// Owners adds up the rows of each cause, in the order of [summary.Owners].
func Owners(rows []summary.Idle) (out []OwnerIdle) {
	t := summary.Idles().By(rows, "owner").ByKeys()
	for i := range t.Rows {
		out = append(out, OwnerIdle{t.Text(&t.Rows[i], "owner"), t.Main(&t.Rows[i])})
	}
	return out
}
