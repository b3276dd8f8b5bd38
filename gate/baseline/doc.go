// Package baseline keeps a directory of baselines: summaries that somebody accepted, and the record
// of who replaced which and why. The latest is the baseline.
//
//   - record.go: the record, a file of one JSON line per decision, locked while it is written
//   - provenance.go: hardware and software of a run, by the settings in software.txt
//   - acceptance.go: the latest decision, compared with the hardware and software of new runs
//
// The record only grows, so it shows when and why a limit moved. A line that was cut when its
// process ended does not count, and does not make the record unreadable.
package baseline
