// Package membudget finds how much memory a process may take: the limits that its
// machine, its control groups and its user set, and what it takes by now. A Go
// program that runs out of memory ends without a chance to say so, so it must know
// before.
package membudget

// A Bound is a number of bytes that the process may take in all, and who sets it,
// for messages: "the memory limit of its cgroup".
type Bound struct {
	Bytes int64
	By    string
}

// Smallest returns the smallest of the bounds that are known on this system. It is
// not ok where none is known.
func Smallest() (b Bound, ok bool) {
	for _, x := range bounds() {
		if !ok || x.Bytes < b.Bytes {
			b, ok = x, true
		}
	}
	return b, ok
}

// Shares of a bound that may be used. The rest is for what does not count in Go's
// heap, and for other processes.
const (
	cgroupNum, cgroupDen = 7, 8 // its page cache counts, too
	freeNum, freeDen     = 3, 4
	spaceDen             = 2 // freed memory keeps its addresses
)
