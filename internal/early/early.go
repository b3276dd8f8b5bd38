// Package early ends the process with a message, and with exit status 3, if the limit on
// its address space leaves too little to work with. The main package imports it for that
// effect.
//
// The check is part of the initialization of this package, which imports next to nothing
// and is therefore initialized before the packages with tables. If the runtime of Go gets
// no memory for those, it ends the process with a dump before the main function is called.
package early

import (
	"strconv"
	"syscall"

	"assay/internal/addrspace"
)

// MinSpace is how many bytes of addresses must be left at the start. The runtime of Go
// takes them in blocks of 64 MiB, and reading needs as much.
const MinSpace = 128 << 20

// exitTrouble is the exit status of a process that could not do its work.
const exitTrouble = 3

var _ = check()

// check ends the process if too little is left.
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
