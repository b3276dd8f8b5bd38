//go:build !unix

package outfile

import (
	"os"
	"syscall"
)

// ending returns the signals that end the process and that it can act on.
func ending() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} }
