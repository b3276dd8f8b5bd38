package ingest

import (
	"bytes"

	"assay/internal/textscan"
	"assay/series"
	"assay/series/bench"
	"assay/series/comm"
	"assay/trace"
)

// A logFinder finds records of one kind of program in a text.
type logFinder interface {
	textscan.Finder
	Log() *series.Log
}

// logFinders returns the finders of records that are no lines of forms: printed results
// of benchmarks, and what communication libraries print.
func logFinders(f *File, sel trace.Select) []logFinder {
	limits := seriesLimits(sel)
	return []logFinder{bench.NewFinder(f.Path, limits), comm.NewFinder(f.Path, limits)}
}

// joinedLog returns the values of all readers of one text.
func joinedLog(values *series.Log, found []logFinder) *series.Log {
	logs := []*series.Log{values}
	for _, finder := range found {
		logs = append(logs, finder.Log())
	}
	return series.Join(logs...)
}

// beginsWithRecord reports whether the beginning of a text in a directory has a record
// that a logFinder reads.
func beginsWithRecord(path string, head []byte) bool {
	found := logFinders(&File{Path: path}, trace.Select{})
	var scanned []textscan.Finder
	for _, finder := range found {
		scanned = append(scanned, finder)
	}
	textscan.Scan(bytes.NewReader(head), scanned...)
	for _, finder := range found {
		if !finder.Log().Empty() {
			return true
		}
	}
	return false
}

func isBenchmark(_ string, head []byte) bool { return bench.Sniff(head) }
func isFlight(_ string, head []byte) bool    { return comm.SniffFlight(head) }

func readBenchmark(f *File, limits series.Limits) (*series.Log, error) {
	return bench.Read(f, f.Path, limits)
}

func readFlight(f *File, limits series.Limits) (*series.Log, error) {
	return comm.ReadFlight(f, f.Path, limits)
}
