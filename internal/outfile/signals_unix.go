//go:build unix

package outfile

import (
	"os"
	"syscall"
)

// ending returns the signals that end the process and that it can act on. SIGQUIT is one
// of them, because the runtime of Go would print its goroutines and remove nothing.
func ending() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
}
