package detail

import "assay/trace"

// names is the table of names that a detail refers to by index, without duplicates.
type names struct {
	t      *trace.Trace
	list   []string
	byText map[string]int32
	bySym  map[trace.Sym]int32
}

func newNames(t *trace.Trace) *names {
	return &names{t: t, byText: make(map[string]int32), bySym: make(map[trace.Sym]int32)}
}

// of returns the index of a name, which it adds if it is new.
func (n *names) of(text string) int32 {
	i, ok := n.byText[text]
	if !ok {
		i = int32(len(n.list))
		n.list = append(n.list, text)
		n.byText[text] = i
	}
	return i
}

// orNone returns the index of a name, or -1 for "".
func (n *names) orNone(text string) int32 {
	if text == "" {
		return -1
	}
	return n.of(text)
}

// symbol returns the index of a symbol of the trace.
func (n *names) symbol(s trace.Sym) int32 {
	i, ok := n.bySym[s]
	if !ok {
		i = n.of(n.t.Name(s))
		n.bySym[s] = i
	}
	return i
}
