package operators

// A Tensor is the size of an argument.
type Tensor struct {
	Elements int64
	Bytes    int64 // 0 if its type is not known
	Type     string
}

// Tensors returns the arguments of a call that are tensors with elements.
func (c *Call) Tensors() (out []Tensor) {
	for i := range c.Args {
		a := &c.Args[i]
		if len(a.Dims) == 0 || a.List != nil {
			continue
		}
		n := int64(1)
		for _, d := range a.Dims {
			if d <= 0 || n > 1<<50/d {
				n = 0
				break
			}
			n *= d
		}
		if n > 0 {
			out = append(out, Tensor{n, n * dtypes[a.Type].width, a.Type})
		}
	}
	return out
}
