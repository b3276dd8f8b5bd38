package logs

import "assay/internal/diag"

// A Span is the time of one phase of a program that logs a line at the end of each phase.
// Spans nest like the phases.
type Span struct {
	Name       string // the producer's name of the phase
	Start, End int64  // Unix ns as in [Clock]
}

// MaxSpans is the maximum number of spans of one input.
const MaxSpans = 200_000

const spanBytes = 64

// Span adds the time of a phase. Spans over the limit are an issue.
func (b *Builder) Span(name string, start, end int64, at diag.Pos) {
	if end < start || start == NoTime {
		return
	}
	if len(b.log.Spans) >= MaxSpans || b.used+spanBytes > b.limits.Memory {
		b.issues.Add(diag.Issue{Code: "spans-left-out", Severity: diag.Suspect, First: at})
		return
	}
	b.used += spanBytes
	if b.names == nil {
		b.names = map[string]string{}
	}
	if _, ok := b.names[name]; !ok {
		b.names[name] = cut(name)
	}
	b.log.Spans = append(b.log.Spans, Span{b.names[name], start, end})
}
