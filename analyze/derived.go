package analyze

import (
	"strings"

	"assay/internal/diag"
	"assay/trace"
)

// derivedThreads maps the names of threads that repeat the time of other threads to the tools
// that write them. Summing them would count that time twice.
var derivedThreads = map[string]string{
	"Critical Path":         "Bazel", // the slices of other threads that the build waited for
	"Steps":                 "TensorBoard and JAX",
	"TensorFlow Name Scope": "TensorBoard and JAX",
	"Framework Name Scope":  "TensorBoard and JAX",
	"XLA Modules":           "TensorBoard and JAX",
	"Source code":           "TensorBoard and JAX",
}

// isDerived reports whether a host span repeats the time of others: it is on
// such a row, or on TensorFlow 1's row of all streams, or is one of the totals
// that clang -ftime-trace appends, which all start at 0.
func isDerived(t *trace.Trace, s *trace.HostSpan) bool {
	track := &t.Tracks[s.Track]
	if track.Repeats || derivedThreads[track.Thread] != "" || strings.HasSuffix(strings.TrimSuffix(track.Process, " Compute"),
		"/stream:all") {
		return true
	}
	return s.Start == 0 && s.Category == 0 && strings.HasPrefix(t.Name(s.Name), "Total ")
}

// noteDerived counts the derived spans of a trace.
func noteDerived(t *trace.Trace, issues *diag.Ledger) {
	n := int64(0)
	for s := range t.Spans.All() {
		if isDerived(t, s) {
			n++
		}
	}
	issues.AddN(diag.Issue{Code: "derived-spans", Severity: diag.Info}, n)
}
