package profile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// A Builder makes a Profile from costs that come in any order. Costs with equal
// stacks and labels are added up.
type Builder struct {
	columns []Column
	frames  []Frame // interned
	frameOf map[Frame]uint32
	labels  []Label // interned
	labelOf map[Label]uint32
	rows    []builderRow
	rowOf   map[string]int // by encoded stack and labels
	key     []byte         // scratch space

	budget  int64 // bytes left for further rows; only if limited is set
	limited bool
}

// A builderRow is a sample whose frames and labels are indexes.
type builderRow struct {
	stack, labels []uint32
	values        []int64
}

// NewBuilder returns a Builder of a profile with the given columns.
func NewBuilder(columns ...Column) *Builder {
	return &Builder{
		columns: columns,
		frameOf: make(map[Frame]uint32),
		labelOf: make(map[Label]uint32),
		rowOf:   make(map[string]int),
	}
}

// Limit bounds the memory of all rows to about the given number of bytes, including the
// memory to write them as a profile. Costs of further stacks are added up in [OtherStacks].
func (b *Builder) Limit(bytes int64) { b.budget, b.limited = bytes, true }

// Estimated bytes of the parts of a row: in the builder, in the profile, and in the tables
// and the text of profile.proto.
const (
	rowMemory      = 1200
	rowFrameMemory = 120 // of each frame of a stack
	newFrameMemory = 600 // of a frame or label that no other row has, and its text
)

// Memory returns the estimated bytes of memory of the samples, including the memory to write
// them. It assumes that texts are shared.
func (p *Profile) Memory() (n int64) {
	for i := range p.Samples {
		n += int64(rowMemory + rowFrameMemory*len(p.Samples[i].Stack))
	}
	return n
}

// memoryOf returns the estimated bytes of memory of a new row.
func (b *Builder) memoryOf(stack []Frame, labels []Label) int64 {
	n := int64(rowMemory + rowFrameMemory*len(stack))
	for _, f := range stack {
		if _, ok := b.frameOf[f]; !ok {
			n += newFrameMemory + 3*int64(len(f.Name)+len(f.File))
		}
	}
	for _, l := range labels {
		if _, ok := b.labelOf[l]; !ok {
			n += newFrameMemory + 3*int64(len(l.Key)+len(l.Text))
		}
	}
	return n
}

// Add adds one value for each column to the costs of a stack, outermost frame first,
// with these labels. It does not retain the slices. It reports whether the values were
// added to [OtherStacks] because of the limit. It panics if the number of values differs
// from the number of columns.
func (b *Builder) Add(stack []Frame, labels []Label, values ...int64) (pooled bool) {
	if len(values) != len(b.columns) {
		panic(fmt.Sprintf("profile: %d values for %d columns", len(values), len(b.columns)))
	}
	labels = sorted(labels, nil)
	if b.limited && !b.fits(stack, labels) {
		stack, labels, pooled = []Frame{{Name: OtherStacks}}, nil, true
	}
	b.key = binary.AppendUvarint(b.key[:0], uint64(len(stack)))
	for _, f := range stack {
		b.key = binary.AppendUvarint(b.key, uint64(intern(&b.frames, b.frameOf, f)))
	}
	for _, l := range labels {
		b.key = binary.AppendUvarint(b.key, uint64(intern(&b.labels, b.labelOf, l)))
	}
	at, ok := b.rowOf[string(b.key)]
	if !ok {
		at = len(b.rows)
		b.rowOf[string(b.key)] = at
		row := builderRow{values: make([]int64, len(values))}
		for _, f := range stack {
			row.stack = append(row.stack, b.frameOf[f])
		}
		for _, l := range labels {
			row.labels = append(row.labels, b.labelOf[l])
		}
		b.rows = append(b.rows, row)
	}
	have := b.rows[at].values
	for i, v := range values {
		have[i] = Plus(have[i], v)
	}
	return pooled
}

// fits reports whether there is a row of that stack with these labels, or a new one is
// within the limit.
func (b *Builder) fits(stack []Frame, labels []Label) bool {
	if b.has(stack, labels) {
		return true
	}
	n := b.memoryOf(stack, labels)
	if n > b.budget {
		return false
	}
	b.budget -= n
	return true
}

// has reports whether there is a row of that stack with these labels.
func (b *Builder) has(stack []Frame, labels []Label) bool {
	b.key = binary.AppendUvarint(b.key[:0], uint64(len(stack)))
	for _, f := range stack {
		id, ok := b.frameOf[f]
		if !ok {
			return false
		}
		b.key = binary.AppendUvarint(b.key, uint64(id))
	}
	for _, l := range labels {
		id, ok := b.labelOf[l]
		if !ok {
			return false
		}
		b.key = binary.AppendUvarint(b.key, uint64(id))
	}
	_, ok := b.rowOf[string(b.key)]
	return ok
}

// intern returns the index of x in all. It appends x if it is new.
func intern[T comparable](all *[]T, index map[T]uint32, x T) uint32 {
	id, ok := index[x]
	if !ok {
		id = uint32(len(*all))
		index[x] = id
		*all = append(*all, x)
	}
	return id
}

// Profile returns what was added so far, sorted by stack, then by labels.
func (b *Builder) Profile() *Profile {
	frames, labels := order(b.frames, compareFrames), order(b.labels, compareLabels)
	by := func(order []int) func(x, y uint32) int {
		return func(x, y uint32) int { return cmp.Compare(order[x], order[y]) }
	}
	rows := slices.Clone(b.rows)
	slices.SortFunc(rows, func(x, y builderRow) int {
		return cmp.Or(slices.CompareFunc(x.stack, y.stack, by(frames)), slices.CompareFunc(x.labels, y.labels, by(labels)))
	})
	p := &Profile{Columns: b.columns, Samples: make([]Sample, len(rows))}
	for i, row := range rows {
		s := Sample{Values: slices.Clone(row.values)}
		for _, id := range row.stack {
			s.Stack = append(s.Stack, b.frames[id])
		}
		for _, id := range row.labels {
			s.Labels = append(s.Labels, b.labels[id])
		}
		p.Samples[i] = s
	}
	return p
}

// order returns the place of each element in the sorted order.
func order[T any](all []T, compare func(a, b T) int) []int {
	ids := make([]int, len(all))
	for i := range ids {
		ids[i] = i
	}
	slices.SortFunc(ids, func(a, b int) int { return compare(all[a], all[b]) })
	places := make([]int, len(all))
	for place, id := range ids {
		places[id] = place
	}
	return places
}

func compareFrames(a, b Frame) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

func compareLabels(a, b Label) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text),
		cmp.Compare(a.Number, b.Number), cmp.Compare(a.Unit, b.Unit))
}

// sorted returns a new slice with the labels of both slices, in order.
func sorted(a, b []Label) []Label {
	if len(b) == 0 && slices.IsSortedFunc(a, compareLabels) {
		return a
	}
	out := slices.Concat(a, b)
	slices.SortFunc(out, compareLabels)
	return out
}
