package metric

import (
	"errors"
	"fmt"

	"assay/internal/stat"
	"assay/summary"
)

// launchesPerStep returns the launch calls of each step. The rows of steps and the counts of a
// device are in the same order.
func (v selection) launchesPerStep() (Value, error) {
	if _, err := v.stepRows(); err != nil {
		return Value{}, err
	}
	if err := v.callsLost(); err != nil {
		return Value{}, err
	}
	var calls []int64
	for _, l := range v.Launches {
		if !v.sel.hasDevice(l.Rank, l.Device) {
			continue
		}
		i := 0
		for _, st := range v.Steps {
			if st.Input != l.Input || st.Rank != l.Rank || st.Device != l.Device {
				continue
			}
			if i < len(l.PerStep) && v.sel.hasStep(st.Number) && st.LaunchesCut == 0 {
				calls = append(calls, l.PerStep[i])
			}
			i++
		}
	}
	if len(calls) == 0 {
		return Value{}, errNoLaunch
	}
	return Value{V: stat.MedianBy(calls, toFloat)}, nil
}

func (v selection) launches() (Value, error) {
	if _, err := v.devices(); err != nil {
		return Value{}, err
	}
	if err := v.callsLost(); err != nil {
		return Value{}, err
	}
	var calls int64
	for _, l := range v.Launches {
		if v.sel.hasDevice(l.Rank, l.Device) {
			calls += l.Calls
		}
	}
	if calls == 0 {
		return Value{}, errNoLaunch
	}
	return whole(calls), nil
}

// callsLost returns an error if the calls of more than one kernel in a thousand were lost.
func (v selection) callsLost() error {
	for _, l := range v.Launches {
		if all := l.Launched + l.Without; v.sel.hasDevice(l.Rank, l.Device) && l.CallsLost > all/1000 {
			return fmt.Errorf("the launch calls of %d of %d GPU operations of rank %d GPU %d were not recorded (launches-missing)", l.CallsLost, all, l.Rank, l.Device)
		}
	}
	return nil
}

// launched adds up the calls that launch kernels. It returns the number of graph launches, and the
// GPU operations that graphs launched and that all calls launched.
func (v selection) launched() (graphs, byGraphs, all int64, err error) {
	any := false
	for _, c := range v.Calls {
		if !v.sel.hasNumber("rank", int64(c.Rank)) || c.Kind != "launch" && c.Kind != "graph-launch" {
			continue
		}
		any = true
		all += c.Launched
		if c.Kind == "graph-launch" {
			graphs += c.Count
			byGraphs += c.Launched
		}
	}
	if !any {
		return 0, 0, 0, errNoLaunch
	}
	return graphs, byGraphs, all, nil
}

func (v selection) graphLaunches() (Value, error) {
	graphs, _, _, err := v.launched()
	return whole(graphs), err
}

func (v selection) graphShare() (Value, error) {
	_, byGraphs, all, err := v.launched()
	switch {
	case err != nil:
		return Value{}, err
	case all == 0:
		return Value{}, errors.New("no work with a known launch")
	}
	return ratio(byGraphs, all), nil
}

func allocated(m *summary.Memory) *int64 { return m.PeakAllocated }
func reserved(m *summary.Memory) *int64  { return m.PeakReserved }

// memories calls f for the selected devices of the allocator: those of traces, and those of
// snapshots whose history has the peak.
func (v selection) memories(f func(*summary.Memory)) error {
	var all []summary.Memory
	for _, m := range v.Memory {
		if !m.OnHost {
			all = append(all, m)
		}
	}
	for _, s := range v.Snapshots {
		if s.Peak != nil {
			all = append(all, summary.Memory{Rank: s.Rank, Device: s.Device, Capacity: s.Capacity,
				PeakAllocated: &s.Peak.Live, PeakReserved: &s.Peak.HighestReserved})
		}
	}
	switch {
	case len(all) == 0 && len(v.Snapshots) > 0:
		return errors.New("no history in the snapshot, so its peak is not known: call torch.cuda.memory._record_memory_history() before")
	case len(all) == 0:
		return errNoMemory
	}
	chosen := false
	for i := range all {
		if v.sel.hasDevice(all[i].Rank, all[i].Device) {
			chosen = true
			f(&all[i])
		}
	}
	if !chosen {
		return errors.New("no such device in what the allocator recorded")
	}
	return nil
}

// peakOf returns a function that measures a peak, on the device where it is highest.
func peakOf(peak func(*summary.Memory) *int64) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		most := int64(-1)
		err := v.memories(func(m *summary.Memory) {
			if n := peak(m); n != nil {
				most = max(most, *n)
			}
		})
		switch {
		case err != nil:
			return Value{}, err
		case most < 0:
			return Value{}, errNoMemory
		}
		return whole(most), nil
	}
}

func (v selection) memoryShare() (Value, error) {
	fullest, known := Value{V: -1}, false
	err := v.memories(func(m *summary.Memory) {
		peak := m.PeakReserved
		if peak == nil {
			peak = m.PeakAllocated
		}
		if peak == nil || m.Capacity == nil || *m.Capacity <= 0 {
			return
		}
		if s := ratio(*peak, *m.Capacity); !known || s.V > fullest.V {
			fullest, known = s, true
		}
	})
	switch {
	case err != nil:
		return Value{}, err
	case !known:
		return Value{}, errors.New("no size of the device's memory; set a gate on memory.peak in its place")
	}
	return fullest, nil
}

func sumOf(ns []int64) (sum int64) {
	for _, n := range ns {
		sum += n
	}
	return sum
}

// toFloat converts numbers whose median may be a half: 3.5 calls per step.
func toFloat(n int64) float64 { return float64(n) }
