package ingest

import (
	"bytes"
	"os"
	"slices"

	"assay/internal/diag"
	"assay/internal/textscan"
	"assay/logs"
	"assay/logs/bench"
	"assay/logs/comm"
	"assay/logs/forms"
	"assay/logs/health"
	"assay/logs/monitor"
	"assay/trace"
)

// A logFinder finds records of one kind of program in a text.
type logFinder interface {
	textscan.Finder
	Log() *logs.Log
}

// logFinders returns the finders of records that package forms does not read: printed
// results of benchmarks, output of communication libraries, and tables of monitors.
func logFinders(f *File, sel trace.Select) []logFinder {
	limits := seriesLimits(sel)
	return []logFinder{bench.NewFinder(f.Path, limits), comm.NewFinder(f.Path, limits), monitor.NewFinder(f.Path, limits),
		health.NewFinder(f.Path, limits)}
}

// joinedLog joins the values that all readers found in one text. A progress bar without a text counts steps only if there is
// nothing else: that of a benchmark counts requests.
func joinedLog(values *logs.Log, found []logFinder, tables bool) *logs.Log {
	all, others := []*logs.Log{values}, tables
	for _, finder := range found {
		log := finder.Log()
		all, others = append(all, log), others || !log.Empty()
	}
	lone := func(is diag.Issue) bool { return is.Code == forms.LoneBar }
	if others && slices.ContainsFunc(values.Issues, lone) {
		values.Series, values.Producers, values.Records, values.Course.Beats = nil, nil, 0, nil
		values.Issues = slices.DeleteFunc(values.Issues, lone)
	}
	return logs.Join(all...)
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
	if len(head) >= sniffLen {
		textscan.Scan(bytes.NewReader(endOf(path)), scanned...)
	}
	for _, finder := range found {
		if !finder.Log().Empty() {
			return true
		}
	}
	return false
}

// textTail is the number of bytes at the end of a text in a directory that are searched
// for records, because benchmarks print their results last.
const textTail = 64 << 10

// endOf returns the last bytes of a file, which must not be compressed.
func endOf(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	b := make([]byte, min(info.Size(), textTail))
	n, _ := f.ReadAt(b, info.Size()-int64(len(b)))
	return b[:n]
}

func isBenchmark(_ string, head []byte) bool  { return bench.Sniff(head) }
func isLocust(_ string, head []byte) bool     { return bench.SniffLocust(head) }
func isFlight(_ string, head []byte) bool     { return comm.SniffFlight(head) }
func isCommJSON(_ string, head []byte) bool   { return comm.SniffResults(head) }
func isEvents(_ string, head []byte) bool     { return monitor.SniffEvents(head) }
func isMonitor(_ string, head []byte) bool    { return monitor.SniffJSON(head) }
func isK6Points(_ string, head []byte) bool   { return bench.SniffK6Points(head) }
func isMonitorXML(_ string, head []byte) bool { return monitor.SniffXML(head) }
