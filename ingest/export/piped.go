package export

import (
	"io"

	"assay/trace"
)

// Piped runs write and use concurrently: use gets a reader of the events that write writes.
func Piped(write func(io.Writer) error, name string, sel trace.Select, use func(*trace.Reader) error) error {
	from, to := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := write(to)
		to.CloseWithError(err)
		done <- err
	}()
	err := use(trace.NewReader(from, name, sel))
	from.CloseWithError(io.ErrClosedPipe)
	if wrote := <-done; err == nil {
		err = wrote
	}
	return err
}
