package view

import (
	"cmp"
	"slices"

	"assay/summary"
)

// An Idle is the idle time of one cause (owner, state and name), on one GPU or on
// several.
type Idle struct {
	Owner, State, Name string
	NS, Count, Longest int64
}

// SumIdleByState is [SumIdle] with one reason for each owner and state; its name
// is that with the most of it.
func SumIdleByState(rows []summary.Idle) []Idle {
	first := map[[2]string]string{}
	for _, r := range SumIdle(rows) { // largest first
		k := [2]string{r.Owner, r.State}
		if _, ok := first[k]; !ok {
			first[k] = r.Name
		}
	}
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Name = first[[2]string{rows[i].Owner, rows[i].State}]
	}
	return SumIdle(rows)
}

// SumIdle adds up the reasons of rows and returns them largest first, then in
// the order of owners, then by state and name.
func SumIdle(rows []summary.Idle) []Idle {
	out := Group(rows, func(r *summary.Idle) [3]string { return [3]string{r.Owner, r.State, r.Name} }, func(r *summary.Idle) Idle {
		return Idle{Owner: r.Owner, State: r.State, Name: r.Name}
	}, func(sum *Idle, r *summary.Idle) {
		sum.NS = summary.Plus(sum.NS, r.NS)
		sum.Count = summary.Plus(sum.Count, r.Count)
		sum.Longest = max(sum.Longest, r.MaxNS)
	})
	slices.SortFunc(out, func(a, b Idle) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), compareOwners(a.Owner, b.Owner), cmp.Compare(a.State, b.State), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// compareOwners orders owners as they are shown; those of a later version of
// the schema come last, by name.
func compareOwners(a, b string) int {
	at := func(owner string) int {
		if i := slices.Index(summary.Owners(), owner); i >= 0 {
			return i
		}
		return len(summary.Owners())
	}
	return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a, b))
}

// A DeviceIdle is the idle time of one GPU by cause.
type DeviceIdle struct {
	At      int // index of the device
	Rows    []summary.Idle
	Reasons []Idle
}

// IdleOfDevices returns the devices that have rows of idle time, by falling
// share of idle time in the window, and all rows of theirs. Rows of a device
// that the summary does not list have no window to be a share of and are left
// out.
func IdleOfDevices(s *summary.Summary) (devices []DeviceIdle, all []summary.Idle) {
	rows := map[DeviceKey][]summary.Idle{}
	for _, r := range s.Idle {
		at := DeviceKey{r.Input, r.Rank, r.Device}
		rows[at] = append(rows[at], r)
	}
	for i, d := range s.Devices {
		if own := rows[DeviceKey{d.Input, d.Rank, d.Device}]; len(own) > 0 {
			devices = append(devices, DeviceIdle{i, own, SumIdle(own)})
			all = append(all, own...)
		}
	}
	slices.SortStableFunc(devices, func(a, b DeviceIdle) int {
		return cmp.Compare(IdleShare(s.Devices[b.At].Activity), IdleShare(s.Devices[a.At].Activity))
	})
	return devices, all
}

// SumOwners adds up the rows of each owner, in the order of owners.
func SumOwners(rows []summary.Idle) []Idle {
	var plain []summary.Idle
	for _, r := range rows {
		r.State, r.Name = "", ""
		plain = append(plain, r)
	}
	sums := SumIdle(plain)
	slices.SortFunc(sums, func(a, b Idle) int { return compareOwners(a.Owner, b.Owner) })
	return sums
}
