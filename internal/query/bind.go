package query

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/redact"
	"assay/internal/tabular"
	"assay/internal/unit"
)

// A Filter is a condition whose names are resolved to columns.
type Filter struct {
	match func(row func(int) *tabular.Cell) bool
}

// Match reports whether a row meets the condition; cell returns the cell of a column.
func (f Filter) Match(cell func(column int) *tabular.Cell) bool { return f.match(cell) }

// Bind resolves the names of a condition: find returns the number of a column and what it is. The error that it
// returns is placed where the name is.
func (e *Expr) Bind(find func(name string) (int, tabular.Column, error)) (Filter, error) {
	b := binder{e, find}
	match, err := b.node(e.root)
	return Filter{match}, err
}

type binder struct {
	e    *Expr
	find func(name string) (int, tabular.Column, error)
}

type matcher = func(row func(int) *tabular.Cell) bool

func (b *binder) node(n *node) (matcher, error) {
	if len(n.parts) == 0 {
		return b.comparison(n)
	}
	parts := make([]matcher, len(n.parts))
	for i, p := range n.parts {
		var err error
		if parts[i], err = b.node(p); err != nil {
			return nil, err
		}
	}
	switch n.op {
	case "not":
		return func(row func(int) *tabular.Cell) bool { return !parts[0](row) }, nil
	case "or":
		return func(row func(int) *tabular.Cell) bool {
			return slices.ContainsFunc(parts, func(m matcher) bool { return m(row) })
		}, nil
	}
	return func(row func(int) *tabular.Cell) bool {
		return !slices.ContainsFunc(parts, func(m matcher) bool { return !m(row) })
	}, nil
}

func (b *binder) comparison(n *node) (matcher, error) {
	at, c, err := b.find(n.name)
	if err != nil {
		return nil, &Error{n.at, err.Error(), cmp.Or(n.in, b.e.text)}
	}
	if op, not := strings.CutPrefix(n.op, "!"); not {
		positive := *n
		positive.op = op
		m, err := b.comparison(&positive)
		if err != nil {
			return nil, err
		}
		return func(row func(int) *tabular.Cell) bool { return !m(row) }, nil
	}
	test, err := testOf(&c, n)
	if err != nil {
		return nil, &Error{n.valueAt, err.Error(), cmp.Or(n.in, b.e.text)}
	}
	return func(row func(int) *tabular.Cell) bool { return test(row(at)) }, nil
}

// testOf returns the test of a cell against the value of a comparison.
func testOf(c *tabular.Column, n *node) (func(*tabular.Cell) bool, error) {
	switch {
	case c.List:
		return nil, fmt.Errorf("%s has a list in each row; conditions compare single values", c.Name)
	case c.Type == tabular.Structured && n.op != "=" && n.op != "~":
		return nil, fmt.Errorf("%s is JSON, which is neither less nor more than anything", c.Name)
	case n.op == "~":
		kind := c.Type
		return func(cell *tabular.Cell) bool { return label.Finds(n.value, cell.String(kind)) }, nil
	case c.Type == tabular.Text || c.Type == tabular.Structured:
		if n.op == "=" {
			return func(cell *tabular.Cell) bool { return label.Like(n.value, cell.Text) }, nil
		}
		return func(cell *tabular.Cell) bool { return cell.Known && ordered(n.op, cmp.Compare(cell.Text, n.value)) }, nil
	case c.Type == tabular.Bool:
		want, err := strconv.ParseBool(n.value)
		if err != nil || n.op != "=" {
			return nil, fmt.Errorf("%s is true or false; write %[1]s=true", c.Name)
		}
		return func(cell *tabular.Cell) bool { return cell.Known && (cell.Int != 0) == want }, nil
	case n.op == "=" && strings.Contains(n.value, "*"):
		kind := c.Type
		return func(cell *tabular.Cell) bool { return cell.Known && label.Like(n.value, cell.String(kind)) }, nil
	}
	want, err := numberOf(c, n.value)
	if err != nil {
		return nil, err
	}
	whole, exact := int64(0), want == math.Trunc(want) && math.Abs(want) < 1<<63
	if exact {
		whole = int64(want)
	}
	if i, err := strconv.ParseInt(n.value, 10, 64); err == nil {
		whole, exact = i, true
	}
	return func(cell *tabular.Cell) bool {
		switch {
		case !cell.Known:
			return false
		case c.Type == tabular.Int && exact:
			return ordered(n.op, cmp.Compare(cell.Int, whole))
		case c.Type == tabular.Int:
			return ordered(n.op, cmp.Compare(float64(cell.Int), want))
		}
		return ordered(n.op, cmp.Compare(cell.Float, want)) && !math.IsNaN(cell.Float)
	}, nil
}

// ordered reports whether an operator holds for the result of a comparison.
func ordered(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	}
	return c == 0
}

// numberOf reads the number of a comparison, which may have a unit that suits the column.
func numberOf(c *tabular.Column, value string) (float64, error) {
	if strings.Trim(value, "0123456789+-.eE") == "" {
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			return f, nil
		}
	}
	value = redact.Mask(value) // errors quote it
	var n int64
	var err error
	switch c.Unit {
	case "ns":
		n, err = unit.ParseDuration(value)
		return float64(n), err
	case "bytes":
		n, err = unit.ParseBytes(value)
		return float64(n), err
	case "share":
		return unit.ParseShare(value)
	}
	return 0, fmt.Errorf("%q is not a number, which %s is", Shown(value), c.Name)
}

// Near returns the names that are like a wrong one, the nearest first, at most three.
func Near(name string, names []string) (near []string) {
	type candidate struct {
		name string
		far  int
	}
	var list []candidate
	for _, n := range names {
		far := label.Edits(start(strings.ToLower(name)), start(strings.ToLower(n)))
		if len(name) >= 3 && strings.Contains(n, name) {
			far = min(far, 1)
		}
		if far <= max(1, len(name)/3) || far <= 2 && len(name) > 3 {
			list = append(list, candidate{n, far})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	for _, c := range list[:min(3, len(list))] {
		near = append(near, c.name)
	}
	return near
}

// start returns the beginning of a text, so that a long one is compared in little time.
func start(text string) string { return text[:min(64, len(text))] }
