package main

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"assay/internal/label"
	"assay/internal/redact"

	"github.com/schollz/progressbar/v3"
)

// showProgress draws a progress bar on w from the number of bytes that stored returns, if w is a
// terminal and reading takes over a second. The caller must call the returned function when reading
// ends.
func showProgress(w io.Writer, paths []string, stored func() int64) (done func()) {
	if !isTerminal(w) {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
		}
		draw(w, paths, stored, stop)
	}()
	return func() { close(stop); <-stopped }
}

func draw(w io.Writer, paths []string, stored func() int64, stop <-chan struct{}) {
	what := plural(len(paths), "input", "inputs")
	if len(paths) == 1 {
		what = label.Printable(redact.Mask(filepath.Base(paths[0])))
	}
	bar := progressbar.NewOptions64(sizeOf(paths),
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription("reading "+what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		bar.Set64(stored())
		select {
		case <-stop:
			bar.Clear()
			return
		case <-tick.C:
		}
	}
}

// sizeOf returns the stored size of all inputs in bytes, or -1 if one has no size, for example a
// pipe.
func sizeOf(paths []string) (n int64) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		n += info.Size()
	}
	return n
}
