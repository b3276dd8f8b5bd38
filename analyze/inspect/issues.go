package inspect

import (
	"math"

	"assay/analyze"
	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/summary"
)

// Issues returns the issues that make an answer incomplete or doubtful: lost events and impossible
// times. The summary has the others.
func (c *Capture) Issues() (out []summary.Issue) {
	for _, is := range c.whole.Issues {
		if is.Severity == diag.Info {
			continue
		}
		out = append(out, summary.IssueOf(is))
	}
	if limits.Implausible(analyze.Extent(c.whole)) {
		out = append(out, summary.IssueOf(diag.Issue{Code: "span-implausible", Severity: diag.Suspect, Count: 1}))
	}
	return out
}

// since returns the time since the start of the capture.
func (c *Capture) since(t int64) int64 { return apart(c.start, t) }

// apart returns to - from, limited to the range of int64.
func apart(from, to int64) int64 {
	switch {
	case from < 0 && to > math.MaxInt64+from:
		return math.MaxInt64
	case from > 0 && to < math.MinInt64+from:
		return math.MinInt64
	}
	return to - from
}
