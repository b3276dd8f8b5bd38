package operators

// A simple is a formula for operators whose work is a number of steps for each element of
// one argument, and whose traffic is that of arguments.
type simple struct {
	per     int64 // FLOPs for each element of the argument of
	of      int
	moved   []int // arguments that are read or written; nil: all
	twice   []int // arguments that are read and written, besides
	result  []int // arguments that new results are like
	typeOf  int   // the argument that decides the peak
	noMoved bool  // moved is empty
}

func (s simple) work(o *operands) Work {
	w := work(o.typeOf(s.typeOf), o.count(o.mul(s.per, o.n(s.of))), Count{})
	moved := s.moved
	if moved == nil && !s.noMoved {
		moved = o.all()
	}
	bytes := o.add(o.size(moved...), o.mul(2, o.size(s.twice...)))
	for _, i := range s.result {
		bytes = o.add(bytes, o.mul(o.n(i), o.width(i)))
	}
	w.Bytes = o.count(bytes)
	return w
}
