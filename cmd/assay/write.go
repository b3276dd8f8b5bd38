package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"assay/internal/ingest"
	"assay/internal/tempfile"
	"assay/report"
	"assay/report/plot"
)

// A reportFiles names the files of a report.
type reportFiles struct {
	json, markdown string
	html           string   // "" for none
	pictures       []string // all that any report of the kind can have
	form           plot.Form
	full           bool // the JSON has all rows of all ranks
}

// writeReport writes every file of the report and returns their names, the report itself
// first. All files are complete under temporary names before the first is renamed, so a
// failure does not change an earlier report. The old page is removed first and the new
// page is renamed last, so a page never has the pictures of another report.
func writeReport(dir string, doc masked[report.Report], files reportFiles) (names []string, err error) {
	out := newWriter()
	defer out.stop()
	if err := out.dir(dir); err != nil {
		return nil, err
	}
	list := reportOf(doc, files)
	if err := out.stageAll(dir, list); err != nil {
		return nil, err
	}
	for _, f := range list {
		names = append(names, f.name)
	}
	// Remove pictures of an earlier report that this report does not have.
	gone := []string{files.markdown}
	if files.html == "" {
		gone = append(gone, pageName(files.markdown))
	}
	for _, old := range files.pictures {
		if !slices.Contains(names, old) {
			gone = append(gone, old)
		}
	}
	for _, old := range gone {
		if err := os.Remove(filepath.Join(dir, old)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := out.commit(); err != nil {
		return nil, err
	}
	last := len(names) - 1
	names[0], names[last] = names[last], names[0]
	return names, nil
}

// A namedResult is a file to write.
type namedResult struct {
	name string
	result
}

// reportOf returns the files of a report in the order in which they get their names: the
// report itself is the last.
func reportOf(doc masked[report.Report], files reportFiles) []namedResult {
	list := []namedResult{{files.json, doc.as(func(d report.Report, w io.Writer) error { return d.WithoutDetails().RolledUp(files.full).JSON(w) })}}
	for _, chart := range doc.value.Charts() {
		if files.form != plot.Vector {
			list = append(list, namedResult{chart.File(), mask(chart).as(plot.Chart.PNG)})
		}
		if files.form != plot.Raster {
			list = append(list, namedResult{chart.SVGFile(), mask(chart).as(plot.Chart.SVG)})
		}
	}
	doc.value.Pictures = files.form
	if files.html != "" {
		list = append(list, namedResult{files.html, doc.as(report.Report.HTML)})
	}
	return append(list, namedResult{files.markdown, doc.as(report.Report.Markdown)})
}

// pageName returns the name of the HTML page of a Markdown report.
func pageName(markdown string) string { return strings.TrimSuffix(markdown, ".md") + ".html" }

// A writer writes files that appear only when they are complete. Until its stop is
// called, the end of the process, by a signal or for want of memory, removes the
// unfinished files.
type writer struct {
	temp   tempfile.Registry
	staged []stagedFile
}

// A stagedFile is complete under its temporary name.
type stagedFile struct{ temp, path string }

func newWriter() *writer { return new(writer) }

// stop removes what was not committed and ends the watch for signals. One that
// has come still ends the process.
func (w *writer) stop() { w.temp.Close() }

// dir creates the directory and its parents if they are missing. It is removed if no
// file is written to it.
func (w *writer) dir(path string) error { return w.temp.MkdirAll(path) }

// sideBySide is how many files are made at a time at most: each is open, and a picture takes
// about 4 MB.
const sideBySide = 8

// stageAll stages files of a directory side by side. The last are begun first: the page of
// a report takes longest.
func (w *writer) stageAll(dir string, files []namedResult) error {
	made, failed := make([]stagedFile, len(files)), make([]error, len(files))
	var group errgroup.Group
	group.SetLimit(min(sideBySide, runtime.GOMAXPROCS(0)))
	for i, f := range slices.Backward(files) {
		group.Go(func() error {
			made[i], failed[i] = w.create(filepath.Join(dir, f.name), f.result)
			return nil
		})
	}
	_ = group.Wait() // each has its error in failed
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 {
		return failed[i]
	}
	w.staged = append(w.staged, made...)
	return nil
}

// stage writes the file for path under a temporary name in the same directory. Its mode
// is rw-rw-rw- less the umask.
func (w *writer) stage(path string, r result) error {
	f, err := w.create(path, r)
	if err == nil {
		w.staged = append(w.staged, f)
	}
	return err
}

// create is stage without a place in the order of the staged files.
func (w *writer) create(path string, r result) (stagedFile, error) {
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%016x", filepath.Base(path), rand.Uint64()))
	f, err := w.temp.Create(func() (*os.File, error) {
		return os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	})
	if err != nil {
		return stagedFile{}, err
	}
	err = buffered(f, r)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		w.temp.Remove(temp)
		return stagedFile{}, err
	}
	return stagedFile{temp, path}, nil
}

// commit gives the staged files their names, in the order in which they were
// staged.
func (w *writer) commit() error {
	for _, f := range w.staged {
		if err := w.temp.Rename(f.temp, f.path); err != nil {
			return err
		}
	}
	w.staged = nil
	return nil
}

// file writes the file at path.
func (w *writer) file(path string, r result) error {
	if err := w.stage(path, r); err != nil {
		return err
	}
	return w.commit()
}

// output writes to the path of -o, or to standard output for "-". It writes directly to a
// path that is not a regular file, for example a pipe, because a rename would replace
// it.
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

// print writes a result to standard output. It returns an error if the disk is full.
func (e env) print(r result) error {
	if err := buffered(e.stdout, r.inert()); err != nil {
		return fmt.Errorf("cannot write the result: %w", err)
	}
	return nil
}

// shown returns the result that writes a document in a format: text, md or json. In
// Markdown it may be the page for a pull request alone, and in JSON the rows of all ranks stay if
// full is true.
func shown(doc masked[report.Report], format string, brief, full bool) result {
	return doc.in(format, func(d report.Report, w io.Writer) error {
		md := d.StepSummary
		if brief {
			md = d.BriefMarkdown
		}
		return inFormat(format, d.Text, md, func(w io.Writer) error { return d.RolledUp(full).JSON(w) })(w)
	})
}

// inFormat returns the writer of a format: text, md or json.
func inFormat(format string, text func(io.Writer, int) error, md, json func(io.Writer) error) func(io.Writer) error {
	switch format {
	case "md":
		return md
	case "json":
		return json
	}
	return func(w io.Writer) error { return text(w, textWidth) }
}
