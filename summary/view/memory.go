package view

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/summary"
)

// PeakOf returns the peak of allocated memory in bytes, or of reserved memory if only that is known, 0 if
// neither is.
func PeakOf(m summary.Memory) int64 {
	switch {
	case m.PeakAllocated != nil:
		return *m.PeakAllocated
	case m.PeakReserved != nil:
		return *m.PeakReserved
	}
	return 0
}

// Memory returns the rows of memory by descending peak, devices before hosts.
func Memory(s *summary.Summary) []summary.Memory {
	rows := slices.Clone(s.Memory)
	host := func(m summary.Memory) int {
		if m.OnHost {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b summary.Memory) int {
		return cmp.Or(cmp.Compare(host(a), host(b)), cmp.Compare(PeakOf(b), PeakOf(a)), cmp.Compare(a.Input, b.Input),
			cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device))
	})
	return rows
}

// MemoryLabels names the rows like their devices.
func MemoryLabels(s *summary.Summary, rows []summary.Memory) []string {
	place := map[summary.GPU]string{}
	for i, label := range DeviceLabels(s) {
		d := s.Devices[i]
		place[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}] = label
	}
	several, out := Numbered(s), []string{}
	for _, m := range rows {
		at := summary.GPU{Input: m.Input, Rank: m.Rank, Device: m.Device}
		label, ok := place[at]
		switch {
		case m.OnHost && len(s.Inputs) < 2:
			label = "host"
		case m.OnHost:
			label = fmt.Sprintf("%s rank %d CPU", InputNumber(m.Input), m.Rank)
		case !ok:
			label = DeviceLabel(at, several)
		}
		out = append(out, label)
	}
	return out
}

// Snapshots returns the snapshots sorted: devices that ran out of memory first, in this order if every failure has a
// time, then by the most reserved memory.
func Snapshots(s *summary.Summary) []summary.Snapshot {
	rows := slices.Clone(s.Snapshots)
	known := !slices.ContainsFunc(rows, func(m summary.Snapshot) bool { return m.Failed > 0 && failedAt(m) == 0 })
	slices.SortStableFunc(rows, func(a, b summary.Snapshot) int {
		earlier := 0
		if known {
			earlier = cmp.Compare(failedAt(a), failedAt(b))
		}
		return cmp.Or(cmp.Compare(min(1, b.Failed), min(1, a.Failed)), earlier, cmp.Compare(MostReserved(b), MostReserved(a)), cmp.Compare(a.Input, b.Input), cmp.Compare(a.Device, b.Device))
	})
	return rows
}

// failedAt returns when the first allocation of a snapshot failed, or 0 if none did or that is unknown.
func failedAt(m summary.Snapshot) int64 {
	if m.Failed == 0 || len(m.OutOfMemory) == 0 || m.OutOfMemory[0].NS == nil {
		return 0
	}
	return *m.OutOfMemory[0].NS
}

// FailedLater says which of several snapshots failed after the first one of [Snapshots], and how much later by the clocks
// of the hosts. It is empty if not every failure has a time.
func FailedLater(s *summary.Summary) (out []string) {
	rows := Snapshots(s)
	labels := SnapshotLabels(s, rows)
	for i := range rows {
		switch {
		case rows[i].Failed == 0:
			return out
		case failedAt(rows[i]) == 0:
			return nil
		case i > 0:
			out = append(out, fmt.Sprintf("%s failed %s later", labels[i], unit.Duration(failedAt(rows[i])-failedAt(rows[0]))))
		}
	}
	return out
}

// MostReserved returns the highest known amount of reserved memory in bytes.
func MostReserved(m summary.Snapshot) int64 {
	if m.Peak != nil {
		return max(m.Reserved, m.Peak.HighestReserved)
	}
	return m.Reserved
}

// SnapshotLabels names the devices of snapshots like the devices of traces.
func SnapshotLabels(s *summary.Summary, rows []summary.Snapshot) (out []string) {
	for _, m := range rows {
		out = append(out, DeviceLabel(summary.GPU{Input: m.Input, Rank: m.Rank, Device: m.Device}, Numbered(s)))
	}
	return out
}

// MemoryUses returns what the memory of a snapshot is for, one row for each owner, the largest first.
func MemoryUses(s *summary.Summary, of *summary.Snapshot) (out []summary.MemoryUse) {
	for _, u := range s.MemoryUses {
		if u.Input != of.Input || u.Rank != of.Rank || u.Device != of.Device || of.Moment == nil {
			continue
		}
		if i := slices.IndexFunc(out, func(o summary.MemoryUse) bool { return o.Owner == u.Owner }); i >= 0 {
			out[i].Bytes, out[i].Count = summary.Plus(out[i].Bytes, u.Bytes), summary.Plus(out[i].Count, u.Count)
			continue
		}
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b summary.MemoryUse) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Owner, b.Owner))
	})
	return out
}
