package torchprof

import (
	"regexp"
	"strings"

	"assay/internal/lazyregexp"
)

// A span is where a column is, in characters behind the lead of a line.
type span struct{ from, to int }

// A ruler is a line of dashes in columns.
type ruler struct {
	at     int // its line
	prefix prefix
	spans  []span
	banner string // the text above it
}

// rule returns where the groups of dashes are that a line ends in, if there are
// two at least, and the byte where the first begins.
func rule(line string) (spans []span, from int) {
	if !strings.HasSuffix(line, "---") {
		return nil, 0
	}
	from = len(line)
	var lengths []int // of dashes and of the spaces before them, by turns, from the end
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

// A prefix is what stands before a table in each of its lines, as
// "(WorkerDict pid=4242) ", "[rank0]:" or a time.
type prefix struct {
	lead  string         // without the spaces behind it
	shape *regexp.Regexp // of the lead with other times in it; nil if it has none, or nobody has asked yet
	asked bool
}

// A stamp is a time in the words of loggers: dates and clock times, with or
// without fractions, and what glog and torch make of them.
var stamp = lazyregexp.New(`\d{4}[-/]\d\d[-/]\d\d[T ]+\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d\d[-/]\d\d[T ]+\d\d:\d\d:\d\d(?:[.,]\d+)?|\d\d:\d\d:\d\d(?:[.,]\d+)?|[IWEF]\d{3,4} \d\d:\d\d:\d\d\.\d+|\[ *\d+\.\d+(?:s|ms)?\]`)

// maxLead is the longest prefix in which times are looked for.
const maxLead = 400

// newPrefix returns the prefix of a ruler whose dashes begin at a byte.
func newPrefix(line string, from int) prefix {
	return prefix{lead: strings.TrimRight(line[:from], " \t")}
}

// giveShape finds the times in the lead. It takes far longer than to pass over a
// line, so it is left until a header may follow.
func (p *prefix) giveShape() {
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

// cut drops the lead of a line, or returns false if the line has another.
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
