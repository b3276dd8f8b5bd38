// Package addrspace measures how much of its address space the process uses and how much is left.
// It imports next to nothing, so that package early can use it before other packages are
// initialized.
package addrspace

import (
	"strconv"
	"syscall"
)

// Left returns the bytes of address space that the process may still map. ok is false if there is no
// limit (RLIMIT_AS). The Go runtime maps much at its start that it never uses.
func Left() (bytes int64, ok bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur >= 1<<62 {
		return 0, false
	}
	mapped, _, _, ok := Used()
	return max(0, int64(limit.Cur)-mapped), ok
}

// Used returns the bytes of address space that the process has mapped, its resident memory in bytes,
// and how many bytes of that are pages of files, mostly its code. ok is false if the system does not
// tell.
func Used() (mapped, resident, files int64, ok bool) {
	fd, err := syscall.Open("/proc/self/statm", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0, 0, false
	}
	defer syscall.Close(fd)
	var buf [256]byte // the file has seven numbers, so one read is enough
	size, err := syscall.Read(fd, buf[:])
	if err != nil {
		return 0, 0, 0, false
	}
	text, n := string(buf[:size]), [3]int64{}
	for i := range n {
		end := 0
		for end < len(text) && text[end] != ' ' {
			end++
		}
		if end == len(text) {
			return 0, 0, 0, false
		}
		if n[i], err = strconv.ParseInt(text[:end], 10, 64); err != nil {
			return 0, 0, 0, false
		}
		text = text[end+1:]
	}
	page := int64(syscall.Getpagesize())
	return n[0] * page, n[1] * page, n[2] * page, true
}
