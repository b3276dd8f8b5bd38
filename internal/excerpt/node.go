package excerpt

import (
	"errors"
	"slices"
	"strings"
)

// A node is an [*object], a [*list] or a [scalar].
type node any

// A scalar is a text, number, true, false or null as it is written in JSON.
type scalar string

// A list may end before its rows do: skipped and total say what it was cut from.
type list struct {
	items          []node
	skipped, total int
}

type object struct{ members []member }

type member struct {
	name  string // as written, without quotes
	value node
}

// get returns the value of a member, or nil.
func (o *object) get(name string) node {
	for i := range o.members {
		if o.members[i].name == name {
			return o.members[i].value
		}
	}
	return nil
}

// texts returns the texts in the list that is a member.
func (o *object) texts(name string) (out []string) {
	if l, ok := o.get(name).(*list); ok {
		for _, item := range l.items {
			if s, ok := item.(scalar); ok {
				out = append(out, strings.Trim(string(s), `"`))
			}
		}
	}
	return out
}

var errSyntax = errors.New("excerpt: the document is not valid JSON")

// A parser reads a document. Documents are made by encoders, so it checks no more than it needs.
type parser struct {
	text string
	at   int
}

func parse(text string) (*object, error) {
	p := parser{text: text}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	o, ok := v.(*object)
	if p.space(); !ok || p.at != len(text) {
		return nil, errSyntax
	}
	return o, nil
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \n\t\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

// next skips space and returns the byte that follows, or 0 at the end.
func (p *parser) next() byte {
	if p.space(); p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) value() (node, error) {
	switch p.next() {
	case '{':
		return p.object()
	case '[':
		return p.list()
	case '"':
		return p.quoted()
	}
	start := p.at
	for p.at < len(p.text) && strings.IndexByte(",]} \n\t\r", p.text[p.at]) < 0 {
		p.at++
	}
	if p.at == start {
		return nil, errSyntax
	}
	return scalar(p.text[start:p.at]), nil
}

func (p *parser) quoted() (scalar, error) {
	start := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '\\':
			p.at++
		case '"':
			p.at++
			return scalar(p.text[start:p.at]), nil
		}
	}
	return "", errSyntax
}

func (p *parser) object() (node, error) {
	o := &object{}
	err := p.each('}', func() error {
		if p.next() != '"' {
			return errSyntax
		}
		name, err := p.quoted()
		if err != nil || p.next() != ':' {
			return errSyntax
		}
		p.at++
		v, err := p.value()
		o.members = append(o.members, member{string(name[1 : len(name)-1]), v})
		return err
	})
	return o, err
}

func (p *parser) list() (node, error) {
	l := &list{}
	err := p.each(']', func() error {
		v, err := p.value()
		l.items = append(l.items, v)
		return err
	})
	l.total = len(l.items)
	return l, err
}

// each reads elements with commas between them, up to the closing bracket.
func (p *parser) each(end byte, element func() error) error {
	p.at++
	if p.next() == end {
		p.at++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch p.next() {
		case ',':
			p.at++
		case end:
			p.at++
			return nil
		default:
			return errSyntax
		}
	}
}

// appendTo appends the JSON of a value in one line.
func appendTo(b []byte, v node) []byte {
	switch v := v.(type) {
	case scalar:
		return append(b, v...)
	case *list:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendTo(b, item)
		}
		return append(b, ']')
	case *object:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendTo(append(append(append(b, '"'), m.name...), `": `...), m.value)
		}
		return append(b, '}')
	}
	return b
}

// appendDocument is like appendTo for a document: it begins a line for every member and every row.
func appendDocument(b []byte, o *object, indent string) []byte {
	b = append(b, "{\n"...)
	for i, m := range o.members {
		b = append(append(append(append(b, indent...), `  "`...), m.name...), `": `...)
		switch v := m.value.(type) {
		case *object:
			if hasRows(v) {
				b = appendDocument(b, v, indent+"  ")
			} else {
				b = appendTo(b, v)
			}
		case *list:
			b = appendRows(b, v, indent+"  ")
		default:
			b = appendTo(b, v)
		}
		if i < len(o.members)-1 {
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	return append(append(b, indent...), '}')
}

func appendRows(b []byte, l *list, indent string) []byte {
	if len(l.items) == 0 || !l.isRows() {
		return appendTo(b, l)
	}
	b = append(b, "[\n"...)
	for i, item := range l.items {
		b = appendTo(append(append(b, indent...), "  "...), item)
		if i < len(l.items)-1 {
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	return append(append(b, indent...), ']')
}

// isRows reports whether a list has objects only, at least one.
func (l *list) isRows() bool {
	return len(l.items) > 0 && !slices.ContainsFunc(l.items, func(item node) bool { _, ok := item.(*object); return !ok })
}

// hasRows reports whether an object has lists of rows.
func hasRows(o *object) bool {
	for _, m := range o.members {
		switch v := m.value.(type) {
		case *list:
			if v.isRows() {
				return true
			}
		case *object:
			if hasRows(v) {
				return true
			}
		}
	}
	return false
}
