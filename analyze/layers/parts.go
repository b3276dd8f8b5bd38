package layers

import "assay/summary"

// A part is one of [summary.LayerParts].
type part uint8

const (
	otherPart part = iota
	attentionPart
	mlpPart
	moePart
	normPart
	communicationPart
	numParts
)

var partNames = [numParts]string{"other", "attention", "mlp", "moe", "norm", "communication"}

// partsOf returns the part of each kernel of a layer. Norms are a part wherever they are. The feed-forward part is
// separated from the attention by the norm between the two, or else by the projection behind attention; it is that of
// experts if it has any.
func (r *measurer) partsOf(l layer) []part {
	list, core := r.kernelsOf(l), l.core
	out := make([]part, len(list))
	if core.role == plain {
		return byRole(list)
	}
	from, to := feedForward(list, core.from-l.from, core.to-l.from, core)
	inside := mlpPart
	for i := from; i < to; i++ {
		if list[i].role == experts {
			inside = moePart
		}
	}
	first := 0 // a product before the first norm belongs to neither
	for first < len(list) && !core.back && list[first].role != norm {
		first++
	}
	if first > core.from-l.from {
		first = 0
	}
	for i := range list {
		switch {
		case list[i].role == norm:
			out[i] = normPart
		case i < first || list[i].role == adds && isResidual(list, i, core.back):
			out[i] = otherPart
		case list[i].role == experts:
			out[i] = moePart
		case i >= from && i < to:
			out[i] = inside
		default:
			out[i] = attentionPart
		}
	}
	return out
}

// byRole returns the parts of a layer where nothing says which products are those of attention.
func byRole(list []kernel) []part {
	out := make([]part, len(list))
	for i := range list {
		switch list[i].role {
		case norm:
			out[i] = normPart
		case experts:
			out[i] = moePart
		}
	}
	return out
}

// feedForward returns the part of a layer that is the feed-forward network, given where its core is. A state-space model may have a norm
// of its own before its last product.
func feedForward(list []kernel, from, to int, c core) (first, end int) {
	projected := c.role != scans
	if c.back {
		for i := from - 1; i >= 0; i-- {
			if projected = projected || list[i].role == product; list[i].role == norm && projected {
				return 0, i
			}
		}
		return 0, 0
	}
	for i := to; i < len(list); i++ {
		if projected = projected || list[i].role == product; list[i].role == norm && projected {
			return i, len(list)
		}
	}
	for i := to; i < len(list); i++ { // attention and feed-forward side by side
		if list[i].role == product {
			return i + 1, len(list)
		}
	}
	return len(list), len(list)
}

// isResidual reports whether an addition is that of the residual stream: it is next to a norm or to the end of the layer.
func isResidual(list []kernel, i int, back bool) bool {
	if back {
		return i == 0 || list[i-1].role == norm
	}
	return i+1 == len(list) || list[i+1].role == norm
}

// times are the times of the parts.
type times [numParts]int64

func (t *times) add(o *times) {
	for i := range t {
		t[i] = summary.Plus(t[i], o[i])
	}
}

func (t *times) row() summary.LayerParts {
	return summary.LayerParts{Attention: t[attentionPart], MLP: t[mlpPart], MoE: t[moePart], Norm: t[normPart],
		Communication: t[communicationPart], Other: t[otherPart]}
}
