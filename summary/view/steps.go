package view

import (
	"cmp"
	"slices"

	"assay/summary"
)

// A Step is one step of the program on all devices.
type Step struct {
	Name     string
	Kind     string
	Number   int64
	Rows     []int // indices of the rows in the summary
	Windows  int64 // number of devices that ran it
	Min      int64 // ns, shortest wall time of a device
	Max      int64
	Activity summary.Activity // summed over devices
}

// Steps adds up the steps of all devices with the same number and name, and returns them sorted by number
// and name.
func Steps(s *summary.Summary) []Step {
	type key struct {
		number int64
		name   string
	}
	index := map[key]int{}
	var out []Step
	for n, st := range s.Steps {
		k := key{st.Number, st.Name}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, Step{Name: st.Name, Kind: st.Kind, Number: st.Number, Min: st.WallNS, Max: st.WallNS})
		}
		sum := &out[i]
		sum.Windows++
		sum.Rows = append(sum.Rows, n)
		sum.Min = min(sum.Min, st.WallNS)
		sum.Max = max(sum.Max, st.WallNS)
		sum.Activity = sum.Activity.Plus(st.Activity)
	}
	slices.SortFunc(out, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
	})
	return out
}
