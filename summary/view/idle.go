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

// IdleOfDevices returns the devices that have rows of idle time, by falling
// share of idle time in the window, and all rows of theirs. Rows of a device
// that the summary does not list have no window to be a share of and are left
// out.
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

// An OwnerIdle is the idle time with one cause, whatever its state.
type OwnerIdle struct {
	ID string
	NS int64
}

// Owners adds up the rows of each owner, in the order of owners.
func Owners(rows []summary.Idle) (out []OwnerIdle) {
	t := summary.Idles().By(rows, "owner").ByKeys()
	for i := range t.Rows {
		out = append(out, OwnerIdle{t.Text(&t.Rows[i], "owner"), t.Main(&t.Rows[i])})
	}
	return out
}
