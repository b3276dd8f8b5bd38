package view

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
)

// An Idle is idle time of one owner, state and name: a reason, on one device
// or on several.
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

// Reason returns the cause of the time and, for host wait, what the host did.
func (s Idle) Reason() string {
	return Reason(s.Owner, s.State, "")
}

// Reason names an owner of idle time, its state and what it was in, as far
// as they are known.
func Reason(owner, state, name string) string {
	var parts []string
	for _, s := range []string{owner, state} {
		if s != "" {
			parts = append(parts, OwnerText(s))
		}
	}
	if name != "" {
		parts = append(parts, label.Clip(label.Clean(name), 44))
	}
	return strings.Join(parts, ", ")
}

// OwnerText prepares the name of an owner or of a state.
func OwnerText(s string) string { return label.Clip(label.Clean(s), 30) }

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

// A DeviceIdle is the idle time of one device and its causes.
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

// SumOwners adds up rows by cause, in the order of [summary.Owners].
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
