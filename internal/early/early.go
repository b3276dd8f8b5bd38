// Package early ends the process with a message and exit status 3 if the limit on its address space
// is too small to work with. The main package imports it for that effect.
//
// The check runs when this package is initialized. It imports next to nothing, so it is initialized
// before packages with large tables. Without the check, the Go runtime may run out of memory for
// those tables and dump its stacks before the main function is called.
package early

import (
	"strconv"
	"syscall"

	"assay/internal/addrspace"
)

// MinSpace is the address space, in bytes, that must be left at the start. The Go runtime takes
// blocks of 64 MiB, and reading needs as much. Threads that start after the check take more: with
// cgo, the C library reserves up to 128 MiB for the first of them that allocates.
const MinSpace = 256 << 20

// exitTrouble is the exit status of a process that could not do its work.
const exitTrouble = 3

var _ = check()

// check ends the process if less than MinSpace is left.
func check() bool {
	left, ok := addrspace.Left()
	if !ok || left >= MinSpace {
		return true
	}
	line := "assay: the limit on the address space (ulimit -v) leaves " + mib(left) + ", but assay needs at least " + mib(MinSpace) + "; raise the limit\n"
	syscall.Write(syscall.Stderr, []byte(line))
	syscall.Exit(exitTrouble)
	return false
}

func mib(n int64) string { return strconv.FormatInt(n>>20, 10) + " MiB" }
