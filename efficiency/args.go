package efficiency

import "assay/internal/jsonscan"

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
	text  string // of a string
	n     int64  // of a whole number
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
	b := []byte(text)
	e, end, ok := parseElement(b, jsonscan.Space(b, 0), 0)
	if !ok || !e.array || jsonscan.Space(b, end) != len(b) {
		return nil, false
	}
	return e.items, true
}

// parseElement reads the value at b[i] and returns the index after it.
func parseElement(b []byte, i, depth int) (e element, end int, ok bool) {
	if i >= len(b) {
		return e, i, false
	}
	switch {
	case b[i] == '[':
		return parseArray(b, i+1, depth+1)
	case b[i] == '"':
		end, err := jsonscan.String(b, i)
		if err != nil {
			return e, end, false
		}
		return element{text: string(jsonscan.Unquote(nil, b[i+1:end-1]))}, end, true
	}
	return parseWhole(b, i)
}

// parseArray reads the rest of an array whose bracket is before b[i].
func parseArray(b []byte, i, depth int) (e element, end int, ok bool) {
	e.array = true
	if depth > maxArgsDepth {
		return e, i, false
	}
	if i = jsonscan.Space(b, i); i < len(b) && b[i] == ']' {
		return e, i + 1, true
	}
	for {
		item, next, ok := parseElement(b, jsonscan.Space(b, i), depth)
		if !ok {
			return e, next, false
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

// parseWhole reads a whole number. Dimensions and strides have no other form.
func parseWhole(b []byte, i int) (e element, end int, ok bool) {
	start, negative := i, false
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
	e.text = string(b[start:i])
	return e, i, true
}
