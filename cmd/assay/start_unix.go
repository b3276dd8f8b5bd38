//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"assay/internal/outfile"
)

// endOnQuit makes SIGQUIT end the process as SIGTERM does, with exit status 131. The
// runtime of Go would print all goroutines, and leave unfinished files.
func endOnQuit() {
	if signal.Ignored(syscall.SIGQUIT) {
		return
	}
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() {
		<-quit
		outfile.Exit(128 + int(syscall.SIGQUIT))
	}()
}

// openFiles reports whether the process may open n more files. Then it makes the
// runtime of Go start its poller, which takes two of them: if the poller starts later
// and there are none, the process ends.
func openFiles(n int) bool {
	taken := make([]int, 0, n)
	enough := true
	for range n {
		fd, err := syscall.Open("/", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			enough = err != syscall.EMFILE && err != syscall.ENFILE
			break
		}
		taken = append(taken, fd)
	}
	for _, fd := range taken {
		syscall.Close(fd)
	}
	if enough {
		if f, err := os.Open(os.DevNull); err == nil {
			f.Close()
		}
	}
	return enough
}
