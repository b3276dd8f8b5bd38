//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// maxRSS returns how many bytes of memory a process had at most, or 0 if the
// system does not tell.
func maxRSS(p *os.ProcessState) int64 {
	use, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(use.Maxrss)
	}
	return int64(use.Maxrss) << 10
}
