package torchprof

import (
	"regexp"
	"strings"

	"assay/internal/lazyregexp"
)

// A span is the position of a column, in characters after the lead of a line.
type span struct{ from, to int }

// A ruler is a line of dashes in columns.
type ruler struct {
	at     int // its line
	prefix prefix
	spans  []span
	banner string // the text above it
}

// rule returns the positions of the groups of dashes at the end of a line, or nil
// if there are fewer than two, and the byte at which the first begins.
func rule(line string) (spans []span, from int) {
	if !strings.HasSuffix(line, "---") {
		return nil, 0
	}
	from = len(line)
	var lengths []int // lengths of dashes and of the spaces before them, alternating, from the end
	for len(lengths) < 2*maxColumns {
		dashes := trailing(line[:from], '-')
		if dashes < 3 {
			break
		}
		from -= dashes
		spaces := trailing(line[:from], ' ')
		lengths = append(lengths, dashes, spaces)
		if spaces < 2 || from-spaces < 3 || !strings.HasSuffix(line[:from-spaces], "---") {
			break
		}
		from -= spaces
	}
	if len(lengths) < 4 {
		return nil, 0
	}
	at := 0
	for i := len(lengths) - 2; i >= 0; i -= 2 {
		spans = append(spans, span{at, at + lengths[i]})
		if at += lengths[i]; i > 0 {
			at += lengths[i-1]
		}
	}
	return spans, from
}

func trailing(s string, c byte) (n int) {
	for n < len(s) && s[len(s)-1-n] == c {
		n++
	}
	return n
}

// shifted moves spans.
func shifted(spans []span, by int) []span {
	out := make([]span, len(spans))
	for i, s := range spans {
		out[i] = span{s.from + by, s.to + by}
	}
	return out
}

// A prefix is the text that precedes a table in each of its lines, such as
// "(WorkerDict pid=4242) ", "[rank0]:" or a time.
type prefix struct {
	lead  string         // without the spaces after it
	shape *regexp.Regexp // matches the lead with other times in it; nil if it has no time, or was not computed yet
	asked bool
}

// stamp matches a time in the formats of loggers: dates and clock times, with
// or without fractions, and the forms of glog and torch.
var stamp = lazyregexp.New(`\d{4}[-/]\d\d[-/]\d\d[T ]+\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d\d[-/]\d\d[T ]+\d\d:\d\d:\d\d(?:[.,]\d+)?|\d\d:\d\d:\d\d(?:[.,]\d+)?|[IWEF]\d{3,4} \d\d:\d\d:\d\d\.\d+|\[ *\d+\.\d+(?:s|ms)?\]`)

// maxLead is the maximum length of a prefix that is searched for times.
const maxLead = 400

// newPrefix returns the prefix of a ruler whose dashes begin at a byte.
func newPrefix(line string, from int) prefix {
	return prefix{lead: strings.TrimRight(line[:from], " \t")}
}

// makeShape finds the times in the lead and sets shape. That takes much longer than
// skipping a line, so it is done only when a header may follow.
func (p *prefix) makeShape() {
	p.asked = true
	if len(p.lead) == 0 || len(p.lead) > maxLead {
		return
	}
	times := stamp().FindAllStringIndex(p.lead, -1)
	if times == nil {
		return
	}
	var expr strings.Builder
	expr.WriteByte('^')
	at := 0
	for _, t := range times {
		expr.WriteString(regexp.QuoteMeta(p.lead[at:t[0]]))
		expr.WriteString("(?:" + stamp().String() + ")")
		at = t[1]
	}
	expr.WriteString(regexp.QuoteMeta(p.lead[at:]))
	p.shape, _ = regexp.Compile(expr.String())
}

// cut removes the lead of a line. It returns false if the line has a different
// lead.
func (p *prefix) cut(line string) (inner string, ok bool) {
	if inner, ok = strings.CutPrefix(line, p.lead); ok {
		return inner, true
	}
	if p.shape != nil {
		if at := p.shape.FindStringIndex(line); at != nil {
			return line[at[1]:], true
		}
	}
	return "", false
}
