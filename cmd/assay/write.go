package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"assay/ingest"
	"assay/internal/outfile"
	"assay/report"
	"assay/report/plot"
)

// reportFiles names the files of a report.
type reportFiles struct {
	json, markdown string
	html           bool     // write the HTML page, named like the Markdown file
	pictures       []string // all names that a report of this kind can contain
	form           plot.Form
	full           bool // the JSON has all rows of all ranks
}

// names returns all files that writeReport may write or remove.
func (f reportFiles) names() []string {
	return append(slices.Clone(f.pictures), f.json, f.markdown, pageName(f.markdown))
}

// writeReport writes every file of the report and returns their names, the report itself
// first. All files are complete under temporary names before the first is renamed, so a
// failure does not change an earlier report, and they are renamed together, so a signal
// does not mix two reports. The old page is removed first and the new page is renamed
// last, so a page never has the pictures of another report.
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
	if !files.html {
		gone = append(gone, pageName(files.markdown))
	}
	for _, old := range files.pictures {
		if !slices.Contains(names, old) {
			gone = append(gone, old)
		}
	}
	for i := range gone {
		gone[i] = filepath.Join(dir, gone[i])
	}
	if err := out.commit(gone...); err != nil {
		return nil, err
	}
	last := len(names) - 1
	names[0], names[last] = names[last], names[0]
	return names, nil
}

type namedResult struct {
	name string
	result
}

// reportOf returns the files of a report in the order in which they are renamed to their final
// names: the report itself is last.
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
	if files.html {
		list = append(list, namedResult{pageName(files.markdown), doc.as(report.Report.HTML)})
	}
	return append(list, namedResult{files.markdown, doc.as(report.Report.Markdown)})
}

// pageName returns the name of the HTML page of a Markdown report.
func pageName(markdown string) string { return strings.TrimSuffix(markdown, ".md") + ".html" }

// writer is an [outfile.Writer] that takes only masked values. Files appear when they are complete.
type writer struct{ files outfile.Writer }

func newWriter() *writer { return new(writer) }

func (w *writer) stop() { w.files.Stop() }

func (w *writer) dir(path string) error { return w.files.Dir(path) }

func (w *writer) stage(path string, r result) error { return w.files.Stage(path, r.encode) }

func (w *writer) stageAll(dir string, list []namedResult) error {
	var files []outfile.File
	for _, r := range list {
		files = append(files, outfile.File{Path: filepath.Join(dir, r.name), Encode: r.encode})
	}
	return w.files.StageAll(files)
}

func (w *writer) commit(old ...string) error { return w.files.Commit(old...) }

func (w *writer) file(path string, r result) error { return w.files.File(path, r.encode) }

// output writes to the path of -o, or to standard output for "-".
func (e env) output(path string, r result) error {
	if path == ingest.Stdin {
		return buffered(e.stdout, r)
	}
	return outfile.Write(path, r.encode)
}

func buffered(w io.Writer, r result) error { return outfile.Buffered(w, r.encode) }

// print writes a result to standard output. It returns an error if the disk is full.
func (e env) print(r result) error {
	if err := buffered(e.stdout, e.shown(r)); err != nil {
		return fmt.Errorf("cannot write the result: %w", err)
	}
	return nil
}
