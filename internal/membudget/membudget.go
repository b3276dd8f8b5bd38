// Package membudget finds how much memory a process may take, from the limits of the machine, the
// control groups and the user, and how much it takes now. A Go program that runs out of memory
// cannot report it, so it must stay below the limit.
//
// Start with budget.go (Budget); membudget.go combines the limits that bounds_linux.go reads.
package membudget

// A Bound is a limit on the memory of the process, in bytes, and its source for messages: "the
// memory limit of its cgroup".
type Bound struct {
	Bytes int64
	By    string
}

// Smallest returns the smallest of the known bounds, and whether there is any.
func Smallest() (b Bound, ok bool) {
	for _, x := range bounds() {
		if !ok || x.Bytes < b.Bytes {
			b, ok = x, true
		}
	}
	return b, ok
}

// Shares of a bound that the budget may use. The rest is for memory outside of Go's heap and for
// other processes.
const (
	cgroupNum, cgroupDen = 7, 8 // the page cache counts too
	freeNum, freeDen     = 3, 4
	spaceDen             = 2 // freed memory keeps its addresses
)
