// Package logs makes the pictures of logged values and of benchmark results, from the series and
// benchmarks of a summary. Package pictures has the list of all pictures and calls these functions.
//
// steps.go draws log-steps.png, phases.go log-phases.png, server.go log-server.png, monitor.go
// log-monitor.png, sweep.go the sweep of a benchmark, and latency.go the percentiles of latencies.
// lines.go has the line panels that several of them share.
//
// The drawing is in report/plot. A picture that leaves out values or logs counts them in its caption.
package logs

import "strings"

// joinSentences joins two texts. Both may be empty.
func joinSentences(a, b string) string { return strings.TrimSpace(a + " " + b) }
