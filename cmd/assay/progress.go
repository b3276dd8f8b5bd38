package main

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"assay/internal/ingest"
)

// showProgress draws a bar on w while f is read, if w is a terminal and the
// reading takes over a second. The caller must call the function it returns
// when the reading ends.
func showProgress(w io.Writer, f *ingest.File, path string) (done func()) {
	tty, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(tty.Fd())) {
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
		draw(w, f, path, stop)
	}()
	return func() { close(stop); <-stopped }
}

func draw(w io.Writer, f *ingest.File, path string, stop <-chan struct{}) {
	size := int64(-1) // of a pipe: unknown
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	bar := progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription("reading "+printable(filepath.Base(f.Path))),
		progressbar.OptionShowBytes(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		bar.Set64(f.Stored())
		select {
		case <-stop:
			bar.Clear()
			return
		case <-tick.C:
		}
	}
}
