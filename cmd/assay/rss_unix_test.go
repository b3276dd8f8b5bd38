//go:build unix

package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
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

// peakOf watches how much memory a process takes, until the function that it returns
// is called, which returns the most. It returns 0 where the system has no /proc: there
// [maxRSS] includes the memory of the process that started it.
func peakOf(pid int) func() int64 {
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if _, rest, ok := strings.Cut(string(text), "VmHWM:"); ok {
				if kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64); err == nil {
					most = max(most, kib<<10)
				}
			}
			select {
			case <-stop:
				peak <- most
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 { close(stop); return <-peak }
}
