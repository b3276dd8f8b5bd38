package detail

import "assay/trace"

// names are the names that a detail refers to, each of them once.
type names struct {
	t      *trace.Trace
	list   []string
	byText map[string]int32
	bySym  map[trace.Sym]int32
}

func newNames(t *trace.Trace) *names {
	return &names{t: t, byText: make(map[string]int32), bySym: make(map[trace.Sym]int32)}
}

// of returns the number of a name.
func (n *names) of(text string) int32 {
	i, ok := n.byText[text]
	if !ok {
		i = int32(len(n.list))
		n.list = append(n.list, text)
		n.byText[text] = i
	}
	return i
}

// orNone returns the number of a name, or -1 of none.
func (n *names) orNone(text string) int32 {
	if text == "" {
		return -1
	}
	return n.of(text)
}

// symbol returns the number of a name of the trace.
func (n *names) symbol(s trace.Sym) int32 {
	i, ok := n.bySym[s]
	if !ok {
		i = n.of(n.t.Name(s))
		n.bySym[s] = i
	}
	return i
}
