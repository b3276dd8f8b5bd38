//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"assay/internal/outfile"
)

// endOnQuit makes SIGQUIT end the process as SIGTERM does, with exit status 131. By default the
// runtime of Go would print all goroutines and leave unfinished files.
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

// openFiles reports whether the process may open n more files. If so, it makes the runtime of Go
// start its poller, which needs two of them: if the poller starts later and no file is left, the
// process crashes.
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
