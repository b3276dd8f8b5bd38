package summary

import (
	"cmp"
	"reflect"
	"slices"

	"assay/summary/row"
)

// A Member is one list of rows of a summary: one type of row. Its methods apply to all of a summary's rows
// of that type. What their fields mean is in a [row.Kind], for those types that have keys and measures.
type Member interface {
	// Name returns the name of the rows in the JSON.
	Name() string
	// Kind returns the description of the rows, or nil if there is none.
	Kind() *row.Kind
	// About returns what the rows are, and for rows without a description why they are not added up.
	About() (what, plain string)
	// Row returns the type of a row, and Rows the slice of them in s.
	Row() reflect.Type
	Rows(s *Summary) any
	// Len returns the number of rows in s.
	Len(s *Summary) int
	// EachInput calls f with the input of each of these rows in s.
	EachInput(s *Summary, f func(input int))

	rollUp(to, from *Summary, jobs *jobs)
	keep(s *Summary, want func(f fold, input int) bool)
	take(to, from *Summary, input func(int) (int, bool))
	move(to *Summary, list []*Summary, first []int)
	sort(s *Summary)
	rerank(s *Summary, ranks map[int64]int)
	check(s *Summary) error
	texts(s *Summary, f func(*string))
}

// A place has pointers to the fields of a row that identify where it was measured. Rank and Device are nil
// for rows without them; the rank is then the rank of the input.
type place struct {
	Input  *int
	Rank   *int
	Device *int64
}

// rows describes one type of row.
type rows[Row any] struct {
	Member string
	Says   string // what the rows are, for docs/json.md
	In     func(*Summary) *[]Row
	At     func(*Row) place

	// Described is what the fields of a row mean, as their tags say. All of --by, --where and the metrics of
	// gates follow from it. A type of row that is not summed by keys has a reason in Plain instead.
	Described func() *row.Kind
	Plain     string

	// Job returns a pointer to the second input that a row refers to; it is nil for rows that refer to one
	// input.
	Job func(*Row) *int

	// Fold is what [Summary.RollUp] does with the rows of ranks that are not kept in full. If it is slim,
	// Slim removes what is not needed from each row; steps says whether rows of steps stay. Roll returns
	// what a row adds to the sums over the ranks: the names by which rows of several ranks correspond, and
	// the values. Roll is nil if rows are not added up.
	Fold fold
	Slim func(r *Row, steps bool)
	Roll func(*Row) Rolled

	// Rows are sorted by First, then by input, rank and device, then by Order.
	// Together these are unique, so the order is total.
	First, Order func(a, b *Row) int
	// SortAll replaces First and Order if the position of one row depends on others.
	SortAll func([]Row)
	// Inner sorts the content of a row.
	Inner func(*Row)

	Check    func(*Row) error     // returns the first violated constraint of a row
	CheckAll func(*Summary) error // returns the first violated constraint between rows
}

func (k *rows[Row]) Name() string       { return k.Member }
func (k *rows[Row]) Len(s *Summary) int { return len(*k.In(s)) }

func (k *rows[Row]) About() (what, plain string) { return k.Says, k.Plain }
func (k *rows[Row]) Row() reflect.Type           { return reflect.TypeFor[Row]() }
func (k *rows[Row]) Rows(s *Summary) any         { return *k.In(s) }

func (k *rows[Row]) Kind() *row.Kind {
	if k.Described == nil {
		return nil
	}
	return k.Described()
}

func (k *rows[Row]) EachInput(s *Summary, f func(int)) {
	list := *k.In(s)
	for i := range list {
		f(*k.At(&list[i]).Input)
	}
}

// take appends copies of the rows of one summary to another. The function input returns the new number of a
// row's input, and whether the row is selected.
func (k *rows[Row]) take(to, from *Summary, input func(int) (int, bool)) {
	list, refers := k.In(to), refers(reflect.TypeFor[Row]())
	for _, r := range *k.In(from) {
		at := k.At(&r)
		n, ok := input(*at.Input)
		if !ok {
			continue
		}
		*at.Input = n
		if k.Job != nil {
			job := k.Job(&r)
			if *job, ok = input(*job); !ok {
				continue
			}
		}
		if refers {
			ownValue(reflect.ValueOf(&r).Elem())
		}
		*list = append(*list, r)
	}
}

// move appends the rows of several summaries to one and removes them from the others. The inputs of each
// summary are renumbered to begin at its entry in first.
func (k *rows[Row]) move(to *Summary, list []*Summary, first []int) {
	n := 0
	for _, from := range list {
		n += len(*k.In(from))
	}
	if n == 0 {
		return
	}
	out := slices.Grow(*k.In(to), n)
	for i, from := range list {
		moved := k.In(from)
		out = append(out, *moved...)
		for j := len(out) - len(*moved); j < len(out); j++ {
			*k.At(&out[j]).Input += first[i]
			if k.Job != nil {
				*k.Job(&out[j]) += first[i]
			}
		}
		*moved = nil
	}
	*k.In(to) = out
}

func (k *rows[Row]) sort(s *Summary) {
	list := *k.In(s)
	if k.Inner != nil {
		for i := range list {
			k.Inner(&list[i])
		}
	}
	if k.SortAll != nil {
		k.SortAll(list)
		return
	}
	sorted := true
	for i := 1; i < len(list) && sorted; i++ {
		sorted = k.compare(&list[i-1], &list[i]) <= 0
	}
	if !sorted {
		k.arrange(list)
	}
}

// arrange sorts indices and then moves each row to its position, because rows are too large to be moved at
// every comparison.
func (k *rows[Row]) arrange(list []Row) {
	from := make([]int, len(list)) // the number of the row that belongs at each place
	for i := range from {
		from[i] = i
	}
	slices.SortStableFunc(from, func(a, b int) int { return k.compare(&list[a], &list[b]) })
	for first := range from {
		if from[first] == first {
			continue
		}
		row, at := list[first], first
		for from[at] != first {
			next := from[at]
			list[at], from[at] = list[next], at
			at = next
		}
		list[at], from[at] = row, at
	}
}

func (k *rows[Row]) compare(a, b *Row) int {
	if k.First != nil {
		if c := k.First(a, b); c != 0 {
			return c
		}
	}
	p, q := k.At(a), k.At(b)
	c := cmp.Compare(*p.Input, *q.Input)
	if c == 0 && p.Rank != nil {
		c = cmp.Compare(*p.Rank, *q.Rank)
	}
	if c == 0 && p.Device != nil {
		c = cmp.Compare(*p.Device, *q.Device)
	}
	if c == 0 && k.Order != nil {
		c = k.Order(a, b)
	}
	return c
}

func (k *rows[Row]) check(s *Summary) error {
	list := *k.In(s)
	for i := range list {
		if in := *k.At(&list[i]).Input; in < 0 || in >= len(s.Inputs) {
			return rowError(k.Member, i, ".input: got %d, want 0 or more and under %d, the number of inputs", in, len(s.Inputs))
		}
		if k.Job != nil {
			if job := *k.Job(&list[i]); job < 0 || job >= len(s.Inputs) {
				return rowError(k.Member, i, ".job: got %d, want 0 or more and under %d, the number of inputs", job, len(s.Inputs))
			}
		}
		if k.Check != nil {
			if err := k.Check(&list[i]); err != nil {
				return rowError(k.Member, i, "%w", err)
			}
		}
	}
	if k.CheckAll != nil {
		return k.CheckAll(s)
	}
	return nil
}

func (k *rows[Row]) texts(s *Summary, f func(*string)) {
	if !holdsText(reflect.TypeFor[Row]()) {
		return
	}
	list := *k.In(s)
	for i := range list {
		textsIn(reflect.ValueOf(&list[i]).Elem(), f)
	}
}
