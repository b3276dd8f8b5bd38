package metric

import (
	"errors"
	"fmt"
	"strconv"

	"assay/summary"
)

var errNoSnapshot = errors.New("no memory snapshot: write one with torch.cuda.memory._dump_snapshot()")

// snapshots calls f for the snapshots of the selected devices.
func (v selection) snapshots(f func(*summary.Snapshot)) error {
	chosen := false
	for i := range v.Snapshots {
		if s := &v.Snapshots[i]; v.sel.hasDevice(s.Rank, s.Device) {
			chosen = true
			f(s)
		}
	}
	switch {
	case len(v.Snapshots) == 0:
		return errNoSnapshot
	case !chosen:
		return errors.New("no such device in the snapshots")
	}
	return nil
}

// largest returns the largest of the sums, or an error that lists the names that exist.
func largest(sums []int64, names map[string]bool, what string) (Value, error) {
	switch {
	case len(names) == 0:
		return Value{}, fmt.Errorf("no %s of memory: record the history of allocations with stacks, or profile_memory=True",
			what)
	case len(sums) == 0:
		return Value{}, fmt.Errorf("no such %s; there is %s", what, few(sorted(names)))
	}
	most := sums[0]
	for _, n := range sums {
		most = max(most, n)
	}
	return whole(most), nil
}

// memoryKind measures purposes in snapshots, and categories in memory timelines.
func (v selection) memoryKind() (Value, error) {
	var sums []int64
	names := map[string]bool{}
	for i := range v.Snapshots {
		s := &v.Snapshots[i]
		sum, found := int64(0), false
		for _, k := range s.Kinds {
			names[k.Name] = true
			if v.sel.has("kind", k.Name) {
				sum, found = sum+k.Bytes, true
			}
		}
		if found && v.sel.hasDevice(s.Rank, s.Device) {
			sums = append(sums, sum)
		}
	}
	for i := range v.MemoryTimelines {
		t := &v.MemoryTimelines[i]
		sum, found := int64(0), false
		for _, c := range t.Categories {
			names[c.Name] = true
			if v.sel.has("kind", c.Name) {
				sum, found = sum+c.AtPeak, true
			}
		}
		if found && v.sel.hasNumber("rank", int64(t.Rank)) && v.sel.Value("device") == "" {
			sums = append(sums, sum)
		}
	}
	return largest(sums, names, "kind")
}

// memorySite measures frames in snapshots, and operators in traces.
func (v selection) memorySite() (Value, error) {
	var sums []int64
	names := map[string]bool{}
	for i := range v.Snapshots {
		s := &v.Snapshots[i]
		sum, found := int64(0), false
		for _, o := range s.Owners {
			names[strconv.Quote(o.Frame)] = true
			if v.sel.has("site", o.Frame) {
				sum, found = sum+o.Bytes, true
			}
		}
		if found && v.sel.hasDevice(s.Rank, s.Device) {
			sums = append(sums, sum)
		}
	}
	for i := range v.Memory {
		m := &v.Memory[i]
		sum, found := int64(0), false
		for _, l := range m.Live {
			names[strconv.Quote(l.Op)] = true
			if v.sel.has("site", l.Op) {
				sum, found = sum+l.Bytes, true
			}
		}
		if found && !m.OnHost && v.sel.hasDevice(m.Rank, m.Device) {
			sums = append(sums, sum)
		}
	}
	return largest(sums, names, "site")
}

func (v selection) memoryFree() (Value, error) {
	var free, reserved int64
	err := v.snapshots(func(s *summary.Snapshot) {
		free, reserved = free+s.Free(), reserved+s.Reserved
	})
	if err != nil {
		return Value{}, err
	}
	return ratio(free, reserved), nil
}

func (v selection) memoryGrowth() (out Value, err error) {
	found := false
	err = v.snapshots(func(s *summary.Snapshot) {
		if h := s.History; h != nil && h.Growth != nil && h.Growth.Steps > 0 {
			if g := ratio(h.Growth.Bytes, h.Growth.Steps); !found || g.V > out.V {
				out, found = g, true
			}
		}
	})
	if err == nil && !found {
		err = errors.New("no steps in the history of the snapshot: mark them with record_function, and record at least five")
	}
	return out, err
}

// histories adds up a number over the histories of the selected devices.
func (v selection) histories(of func(*summary.Snapshot) int64) (Value, error) {
	sum, found := int64(0), false
	err := v.snapshots(func(s *summary.Snapshot) {
		if s.History != nil {
			sum, found = sum+of(s), true
		}
	})
	if err == nil && !found {
		err = errors.New("no history in the snapshot: call torch.cuda.memory._record_memory_history() before")
	}
	return whole(sum), err
}

func (v selection) driverAllocs() (Value, error) {
	return v.histories(func(s *summary.Snapshot) int64 { return s.History.SegmentAllocs })
}

func (v selection) failedAllocs() (Value, error) {
	return v.histories(func(s *summary.Snapshot) int64 { return s.Failed })
}
