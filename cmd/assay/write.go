package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"assay/internal/ingest"
	"assay/report"
)

// A reportFiles names the files of a report.
type reportFiles struct {
	json, markdown string
	pictures       []string // all that any report of the kind can have
}

// writeReport writes every file of the report and returns their names, the
// report itself first.
func writeReport(dir string, doc masked[report.Doc], files reportFiles) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	out := newWriter()
	defer out.stop()
	write := func(name string, r result) {
		if err == nil {
			err = out.file(filepath.Join(dir, name), r)
			names = append(names, name)
		}
	}
	// The report comes last: where it is, its pictures are.
	write(files.json, doc.as(report.Doc.JSON))
	for _, chart := range doc.value.Charts() {
		write(chart.File(), mask(chart).as(report.Chart.PNG))
	}
	write(files.markdown, doc.as(report.Doc.Markdown))
	if err != nil {
		return nil, err
	}
	// Pictures of an earlier report that this one does not have would mislead.
	for _, old := range files.pictures {
		if !slices.Contains(names, old) {
			if err := os.Remove(filepath.Join(dir, old)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
	}
	last := len(names) - 1
	names[0], names[last] = names[last], names[0]
	return names, nil
}

// A writer writes files that appear only when they are complete. Until its
// stop is called, a signal to end makes it remove the unfinished file before
// the process ends.
type writer struct {
	mu         sync.Mutex // held while a file appears or goes away, and from the signal to the end
	unfinished string     // the temporary name of the file that is being written, or ""

	signals chan os.Signal
	watched chan struct{} // closed when signals are no longer watched
}

func newWriter() *writer {
	w := &writer{signals: make(chan os.Signal, 1), watched: make(chan struct{})}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup and background jobs want it so
			signal.Notify(w.signals, s)
		}
	}
	go w.watch()
	return w
}

func (w *writer) watch() {
	defer close(w.watched)
	s, ok := <-w.signals
	if !ok {
		return
	}
	w.mu.Lock()
	if w.unfinished != "" {
		os.Remove(w.unfinished)
	}
	status := 128
	if number, ok := s.(syscall.Signal); ok {
		status += int(number) // as shells tell who was ended by a signal
	}
	os.Exit(status)
}

// stop ends the watch for signals. One that has come still ends the process.
func (w *writer) stop() {
	signal.Stop(w.signals)
	close(w.signals)
	<-w.watched
}

// file writes the file at path. Its mode is what the umask leaves of rw-rw-rw-.
func (w *writer) file(path string, r result) error {
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%016x", filepath.Base(path), rand.Uint64()))
	w.mu.Lock()
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		w.unfinished = temp
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	err = buffered(f, r)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	w.unfinished = ""
	return err
}

// output writes what a user named with -o, or standard output for "-". What is
// no regular file, such as a pipe or /dev/stdout, is written to as it is: a
// rename would put a file in its place.
func (e env) output(path string, r result) error {
	if path == ingest.Stdin {
		return buffered(e.stdout, r)
	}
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		return errors.Join(buffered(f, r), f.Close())
	}
	out := newWriter()
	defer out.stop()
	return out.file(path, r)
}

func buffered(w io.Writer, r result) error {
	buf := bufio.NewWriter(w)
	if err := r.encode(buf); err != nil {
		return err
	}
	return buf.Flush()
}

// print writes a result to standard output. A full disk must not look like
// success.
func (e env) print(r result) error {
	if err := buffered(e.stdout, r); err != nil {
		return fmt.Errorf("cannot write the result: %w", err)
	}
	return nil
}

// shown returns what writes a document in a format: text, md or json.
func shown(doc masked[report.Doc], format string) result {
	return doc.as(func(d report.Doc, w io.Writer) error { return inFormat(format, d.Text, d.StepSummary, d.JSON)(w) })
}

// inFormat chooses, of the ways to write one result, that of a format: text, md or
// json.
func inFormat(format string, text func(io.Writer, int) error, md, json func(io.Writer) error) func(io.Writer) error {
	switch format {
	case "md":
		return md
	case "json":
		return json
	}
	return func(w io.Writer) error { return text(w, textWidth) }
}
