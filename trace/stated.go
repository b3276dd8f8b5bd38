package trace

// A Stated is the work of one run of an operation as the compiler of the program states it: see [Trace.StatedOf]. A number that
// it does not state is -1.
type Stated struct {
	FLOPs int64
	Model int64 // without what the hardware computes in addition
	Bytes int64 // read from and written to the memory of the device

	Matrix bool   // it is a matrix product or a convolution
	Type   string // of the operands, as PyTorch names it
	Custom bool   // the compiler does not know what it does
}

// StatedOf returns what the compiler states of some work, or nil. It is given for work that covers no other work.
func (t *Trace) StatedOf(a *Activity) *Stated {
	n := t.details[a.Detail].Node
	if n == 0 || int64(n) > int64(len(t.Stated)) {
		return nil
	}
	return &t.Stated[n-1]
}
