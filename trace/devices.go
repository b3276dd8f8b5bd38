package trace

import "slices"

// separateDevices numbers devices anew if one number stands for the devices of several processes: a
// program that merges the traces of ranks keeps args.device, which is 0 in each rank that sees one GPU.
// The work of a device is on tracks of one process then, and each process made calls of its own.
func (t *Trace) separateDevices() {
	type device struct {
		number int64
		pid    string
	}
	var all []device // in the order of the file
	several := false
	pids := make(map[int64]string)
	for i := range t.Tracks {
		if track := &t.Tracks[i]; track.OnDevice {
			d := device{track.Device, track.PID}
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
			if pid, ok := pids[d.number]; ok && pid != d.pid {
				several = true
			}
			pids[d.number] = d.pid
		}
	}
	if !several || t.Meta.DeviceRanks != nil {
		return
	}
	hosts := make(map[string]bool)
	for c := range t.Calls.All() {
		hosts[t.Tracks[c.Track].PID] = true
	}
	owners := make(map[string]bool)
	for _, d := range all {
		owners[d.pid] = true
	}
	if len(hosts) < len(owners) {
		return
	}
	for i := range t.Tracks {
		if track := &t.Tracks[i]; track.OnDevice {
			track.Device = int64(slices.Index(all, device{track.Device, track.PID}))
		}
	}
	old := t.Meta
	t.Meta.Devices, t.Meta.Capacity, t.Meta.Hardware = nil, nil, nil
	for i, d := range all {
		t.Meta.Devices = renumbered(t.Meta.Devices, old.Devices, d.number, i)
		t.Meta.Capacity = renumbered(t.Meta.Capacity, old.Capacity, d.number, i)
		t.Meta.Hardware = renumbered(t.Meta.Hardware, old.Hardware, d.number, i)
	}
}

// renumbered adds what from has of one number to a map by new numbers, and returns the map.
func renumbered[V any](to, from map[int64]V, old int64, number int) map[int64]V {
	if v, ok := from[old]; ok {
		if to == nil {
			to = make(map[int64]V)
		}
		to[int64(number)] = v
	}
	return to
}
