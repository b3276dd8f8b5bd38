package operators

import (
	"strings"

	"assay/internal/jsonscan"
)

// Limits of what ParseCall reads of a call. Kineto records lists of more than a few
// hundred tensors as empty.
const (
	maxArgsText  = 1 << 20
	maxArgsDepth = 4
)

// ParseCall reads the arguments of a call from the texts that Kineto writes: "Input Dims",
// "Input type", "Input Strides" and "Concrete Inputs", each a JSON array with one element
// for each argument, or "" if the capture does not have it. Of malformed arguments only
// the reason is kept.
func ParseCall(op, dims, types, strides, concrete string) Call {
	c := Call{Op: op, HasValues: concrete != "", NoTypes: types == ""}
	if dims == "" {
		c.Why = NoShapes
		return c
	}
	d, okD := parseElements(dims)
	t, okT := parseElements(types)
	s, okS := parseElements(strides)
	v, okV := parseElements(concrete)
	if !okD || !okT || !okS || !okV {
		c.Why = BadArguments
		return c
	}
	c.Args = make([]Arg, len(d))
	for i := range d {
		a := &c.Args[i]
		a.Dims, a.List = d[i].shape()
		if i < len(t) {
			a.Type = t[i].text
		}
		if i < len(s) {
			a.Strides, _ = s[i].shape()
		}
		if i < len(v) {
			a.Value = v[i].text
		}
	}
	return c
}

// An element is a JSON value of the few kinds that arguments consist of.
type element struct {
	text  string // value of a string
	n     int64  // value of a whole number
	items []element
	array bool
}

// shape returns the dimensions of a tensor, or those of the tensors of a list.
func (e element) shape() (dims []int64, list [][]int64) {
	if !e.array {
		return nil, nil
	}
	if len(e.items) > 0 && e.items[0].array {
		for _, item := range e.items {
			d, _ := item.shape()
			list = append(list, d)
		}
		return nil, list
	}
	dims = make([]int64, len(e.items))
	for i, item := range e.items {
		dims[i] = item.n
	}
	return dims, nil
}

// parseElements returns the elements of a JSON array, and whether the text is one.
func parseElements(text string) ([]element, bool) {
	if text == "" {
		return nil, true
	}
	if len(text) > maxArgsText {
		return nil, false
	}
	p := parser{text, []byte(text)}
	e, end, ok := p.element(jsonscan.Space(p.b, 0), 0)
	if !ok || !e.array || jsonscan.Space(p.b, end) != len(p.b) {
		return nil, false
	}
	return e.items, true
}

// A parser reads a text, of which texts of elements are parts where they can be.
type parser struct {
	text string
	b    []byte // the same
}

// element reads the value at b[i] and returns the index after it.
func (p *parser) element(i, depth int) (e element, end int, ok bool) {
	if i >= len(p.b) {
		return e, i, false
	}
	switch {
	case p.b[i] == '[':
		return p.array(i+1, depth+1)
	case p.b[i] == '"':
		end, err := jsonscan.String(p.b, i)
		if err != nil {
			return e, end, false
		}
		inner := p.text[i+1 : end-1]
		if strings.IndexByte(inner, '\\') >= 0 {
			inner = string(jsonscan.Unquote(nil, p.b[i+1:end-1]))
		}
		return element{text: inner}, end, true
	}
	return p.whole(i)
}

// array reads the rest of an array whose bracket is before b[i].
func (p *parser) array(i, depth int) (e element, end int, ok bool) {
	b := p.b
	e.array = true
	if depth > maxArgsDepth {
		return e, i, false
	}
	if i = jsonscan.Space(b, i); i < len(b) && b[i] == ']' {
		return e, i + 1, true
	}
	for {
		item, next, ok := p.element(jsonscan.Space(b, i), depth)
		if !ok {
			return e, next, false
		}
		if e.items == nil {
			e.items = make([]element, 0, 4) // as most have
		}
		e.items = append(e.items, item)
		i = jsonscan.Space(b, next)
		if i >= len(b) || b[i] != ',' && b[i] != ']' {
			return e, i, false
		}
		if i++; b[i-1] == ']' {
			return e, i, true
		}
	}
}

// whole reads a whole number. Dimensions and strides have no other form.
func (p *parser) whole(i int) (e element, end int, ok bool) {
	b, start, negative := p.b, i, false
	if b[i] == '-' {
		negative = true
		i++
	}
	digits := i
	for ; i < len(b) && '0' <= b[i] && b[i] <= '9'; i++ {
		if i-digits >= 18 { // 18 digits fit into an int64
			return e, i, false
		}
		e.n = e.n*10 + int64(b[i]-'0')
	}
	if i == digits {
		return e, i, false
	}
	if negative {
		e.n = -e.n
	}
	e.text = p.text[start:i]
	return e, i, true
}
