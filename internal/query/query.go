// Package query is a small language for conditions on rows, and what is done with the rows that meet them: grouping,
// sorting, the first of them.
//
//	category=gemm and total_ns>1ms
//	kernel~flash or (op=aten::mm and not rank=0)
//	class=comm, rank=0            a comma is "and"
//	copy="Memcpy HtoD (Pageable -> Device)"
//
// A comparison has a column, an operator and a value. On texts "=" compares with a pattern in which "*" matches any
// text, and "~" looks for a part of the text in any letter case. Numbers take units: 1ms, 2MiB, 15%. A value ends at a
// comma, at " and ", at " or " and at a closing parenthesis, unless it is in quotes. Names in conditions that are not
// known in a row (null) compare as the empty text; numbers that are not known meet no comparison except "!=".
//
// Parse reads a condition, Bind resolves its names, and Filter.Match evaluates it.
package query

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"assay/internal/label"
	"assay/internal/redact"
)

// maxDepth limits how deep parentheses and "not" may nest.
const maxDepth = 100

// An Error is a mistake in a condition.
type Error struct {
	At   int // bytes before the mistake
	Text string
	in   string
}

// Error says where the mistake is: the number of the character, and what begins there.
func (e *Error) Error() string {
	if e.At >= len(e.in) {
		return fmt.Sprintf("at the end: %s", e.Text)
	}
	return fmt.Sprintf("at character %d: %s", utf8.RuneCountInString(e.in[:e.At])+1, e.Text)
}

// An Expr is a condition whose names are not resolved yet.
type Expr struct {
	text string
	root *node
}

// String returns the condition as it was written.
func (e *Expr) String() string { return e.text }

// A node is "and", "or", "not" or a comparison.
type node struct {
	op          string // "and", "or", "not", or the operator of a comparison
	parts       []*node
	name, value string
	quoted      bool // the value was in quotes
	at, valueAt int
	in          string // the condition, if it is one of several
}

// place notes of which condition the parts are.
func (n *node) place(text string) {
	n.in = text
	for _, p := range n.parts {
		p.place(text)
	}
}

// A Term is a comparison of a condition.
type Term struct{ Name, Op, Value string }

// Terms returns the comparisons of a condition, and whether it is true if all of them are and otherwise false.
func (e *Expr) Terms() (terms []Term, all bool) {
	all = true
	var walk func(n *node)
	walk = func(n *node) {
		switch n.op {
		case "or", "not":
			all = false
		case "and":
		default:
			terms = append(terms, Term{n.name, n.op, n.value})
		}
		for _, p := range n.parts {
			walk(p)
		}
	}
	walk(e.root)
	return terms, all
}

// Parse reads a condition.
func Parse(text string) (*Expr, error) {
	p := parser{text: text}
	n, err := p.or(0)
	if err == nil && p.at < len(text) {
		err = p.wrong(`want "and", "or" or the end, not %q`, Shown(text[p.at:]))
	}
	if err != nil {
		return nil, err
	}
	return &Expr{text, n}, nil
}

// All returns the condition that all of several texts hold.
func All(texts []string) (*Expr, error) {
	if len(texts) == 1 {
		return Parse(texts[0])
	}
	all := &Expr{root: &node{op: "and"}}
	for _, text := range texts {
		e, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", Shown(text), err)
		}
		all.text = strings.TrimPrefix(all.text+" and ("+text+")", " and ")
		e.root.place(text)
		all.root.parts = append(all.root.parts, e.root)
	}
	return all, nil
}

// A parser reads a condition from left to right.
type parser struct {
	text string
	at   int
	open int // parentheses
}

func (p *parser) wrong(format string, args ...any) error {
	return &Error{p.at, fmt.Sprintf(format, args...), p.text}
}

func (p *parser) space() {
	p.at += len(p.text[p.at:]) - len(strings.TrimLeft(p.text[p.at:], " \t\n\r"))
}

// word reports whether a keyword begins here, and goes behind it.
func (p *parser) word(word string) bool {
	if n := keyword(p.text[p.at:], word); n > 0 {
		p.at += n
		return true
	}
	return false
}

// keyword returns the length of a keyword with which a text begins, or 0. It ends at a space, a parenthesis or the end.
func keyword(text, word string) int {
	n := len(word)
	if len(text) < n || !strings.EqualFold(text[:n], word) || len(text) > n && !strings.ContainsRune(" \t\n\r(", rune(text[n])) {
		return 0
	}
	return n
}

func (p *parser) or(depth int) (*node, error) {
	return p.chain("or", depth, func() bool { return p.word("or") }, p.and)
}

func (p *parser) and(depth int) (*node, error) {
	return p.chain("and", depth, func() bool {
		if strings.HasPrefix(p.text[p.at:], ",") {
			p.at++
			return true
		}
		return p.word("and")
	}, p.not)
}

// chain reads parts with an operator between them.
func (p *parser) chain(op string, depth int, next func() bool, part func(int) (*node, error)) (*node, error) {
	var parts []*node
	for {
		n, err := part(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
		if p.space(); !next() {
			break
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return &node{op: op, parts: parts}, nil
}

func (p *parser) not(depth int) (*node, error) {
	p.space()
	if depth > maxDepth {
		return nil, p.wrong("parentheses nest more than %d deep", maxDepth)
	}
	switch {
	case p.word("not"):
		n, err := p.not(depth + 1)
		if err != nil {
			return nil, err
		}
		return &node{op: "not", parts: []*node{n}}, nil
	case strings.HasPrefix(p.text[p.at:], "("):
		p.at++
		p.open++
		n, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.space(); !strings.HasPrefix(p.text[p.at:], ")") {
			return nil, p.wrong("want a closing parenthesis")
		}
		p.at++
		p.open--
		return n, nil
	case strings.HasPrefix(p.text[p.at:], `"`):
		return p.wholeQuoted()
	}
	return p.comparison()
}

// wholeQuoted reads a comparison that is in quotes as a whole: "kernel=a,b".
func (p *parser) wholeQuoted() (*node, error) {
	first := p.at
	text, err := p.quoted()
	if err != nil {
		return nil, err
	}
	inner := parser{text: text}
	name, op, err := inner.head()
	if err != nil {
		p.at = first
		return nil, p.wrong("%s", err.(*Error).Text)
	}
	return &node{op: op, name: name, value: strings.TrimSpace(text[inner.at:]), quoted: true, at: first, valueAt: first}, nil
}

// operators of comparisons, longer ones before their beginnings.
var operators = []string{"<=", ">=", "!=", "!~", "==", "<", ">", "=", "~"}

// head reads the name and the operator of a comparison.
func (p *parser) head() (name, op string, err error) {
	from := p.at
	end := strings.IndexAny(p.text[from:], "<>=!~(),\"")
	if end < 0 {
		end = len(p.text) - from
	}
	name = strings.TrimSpace(p.text[from : from+end])
	if name == "" {
		return "", "", p.wrong("want a column, not %q", Shown(p.text[from:]))
	}
	p.at = from + end
	for _, op := range operators {
		if strings.HasPrefix(p.text[p.at:], op) {
			p.at += len(op)
			if op == "==" {
				op = "="
			}
			return name, op, nil
		}
	}
	p.at = from
	return "", "", p.wrong(`%q is no condition, want a column, one of = != < <= > >= ~ !~ and a value`, Shown(name))
}

func (p *parser) comparison() (*node, error) {
	n := &node{at: p.at}
	var err error
	if n.name, n.op, err = p.head(); err != nil {
		return nil, err
	}
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	n.valueAt = p.at
	if strings.HasPrefix(p.text[p.at:], `"`) {
		n.quoted = true
		n.value, err = p.quoted()
		return n, err
	}
	n.value, err = p.bare()
	return n, err
}

// quoted reads a text in quotes, in which \" and \\ stand for a quote and a backslash.
func (p *parser) quoted() (string, error) {
	first := p.at
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return b.String(), nil
		case c == '\\' && p.at+1 < len(p.text) && strings.IndexByte(`"\`, p.text[p.at+1]) >= 0:
			p.at++
			c = p.text[p.at]
		}
		b.WriteByte(c)
	}
	p.at = first
	return "", p.wrong("a quote is not closed")
}

// Quote returns a value as it is written in a condition, in quotes if it would be read as something else.
func Quote(value string) string {
	p := parser{text: value, open: 1}
	if read, err := p.bare(); err == nil && read == value && !strings.ContainsAny(value, "\"{}") {
		return value
	}
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(value) + `"`
}

// bare reads a value without quotes, in which parentheses belong together. Outside of parentheses of the condition one
// may be left over, as in the pattern *f(*.
func (p *parser) bare() (string, error) {
	from := p.at
	end := func(depth int) bool {
		c := p.text[p.at]
		next := p.text[p.at+1:]
		return depth == 0 && (c == ',' || c == ')' && p.open > 0 || strings.IndexByte(" \t\n\r", c) >= 0 && (keyword(next, "and") > 0 || keyword(next, "or") > 0))
	}
	for depth := 0; ; p.at++ {
		switch {
		case p.at == len(p.text) && depth > 0 && p.open > 0:
			p.at = from
			return "", p.wrong("a parenthesis in the value is not closed; put the value in quotes")
		case p.at == len(p.text) && depth > 0: // literal: read it again without counting
			for p.at = from; p.at < len(p.text) && !end(0); p.at++ {
			}
			return strings.TrimSpace(p.text[from:p.at]), nil
		case p.at == len(p.text) || end(depth):
			return strings.TrimSpace(p.text[from:p.at]), nil
		case p.text[p.at] == '(':
			depth++
		case p.text[p.at] == ')':
			depth = max(0, depth-1)
		}
	}
}

// Shown returns the beginning of a text of the user for a message. Secrets are masked before it is cut and quoted,
// because no search finds them afterwards.
func Shown(text string) string {
	const most = 40
	masked := redact.Mask(text)
	if cut := redact.Cut(masked, most); len(cut) < len(masked) {
		return cut + label.Ellipsis
	}
	return masked
}
