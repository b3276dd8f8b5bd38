package pickle

// A paged is a list that grows without moving its elements. A slice that grows by
// copying leaves several times its size as garbage, and these lists are most of
// the memory of a large pickle.
type paged[T any] struct {
	pages [][]T
	n     int
}

const (
	pageBits = 14
	pageSize = 1 << pageBits
)

func (p *paged[T]) at(i int) *T { return &p.pages[i>>pageBits][i&(pageSize-1)] }

func (p *paged[T]) add(v T) {
	if p.n>>pageBits == len(p.pages) {
		// The first page grows, so that a small pickle stays small.
		if p.n == 0 {
			p.pages = append(p.pages, make([]T, 0, 16))
		} else {
			p.pages = append(p.pages, make([]T, 0, pageSize))
		}
	}
	last := len(p.pages) - 1
	p.pages[last] = append(p.pages[last], v)
	p.n++
}
