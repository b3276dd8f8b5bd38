package memory

import "assay/torchprof/memory"

// upToSnapshot returns the device with the entries up to the moment that its segments show, and the number of entries
// that changed memory later. Some versions of PyTorch read the history after the segments and note the snapshot in it,
// others read it before, so that the last note in a file is that of the snapshot before. The blocks of the segments
// tell which moment it is: the one after which they are live.
func upToSnapshot(d *memory.Device) (cut *memory.Device, later int64) {
	taken := len(d.Entries)
	for taken > 0 && d.Entries[taken-1].Action != memory.Taken {
		switch taken--; d.Entries[taken].Action {
		case memory.Other, memory.OutOfMemory:
		default:
			later++
		}
	}
	if taken == 0 {
		return d, 0
	}
	if later == 0 || len(d.Blocks) > 0 && unlike(d, len(d.Entries)) < unlike(d, taken) {
		return d, 0
	}
	copied := *d
	copied.Entries = d.Entries[:taken]
	return &copied, later
}

// unlike counts the blocks that are live either in the segments or after the first entries, and not in both.
func unlike(d *memory.Device, entries int) (n int) {
	open := make(map[int64]bool)
	for i := range d.Entries[:entries] {
		switch e := &d.Entries[i]; e.Action {
		case memory.Alloc:
			open[e.Address] = true
		case memory.FreeCompleted:
			delete(open, e.Address)
		}
	}
	for _, b := range d.Blocks {
		switch {
		case b.State == memory.Inactive:
		case open[b.Address]:
			delete(open, b.Address)
		default:
			n++
		}
	}
	return n + len(open)
}
