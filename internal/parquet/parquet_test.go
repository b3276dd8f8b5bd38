package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/internal/tabular"
	"assay/internal/test"
)

// TestRoundTrip writes random tables and reads them with the reader of this test, which shares no code with the writer.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(test.Seed(t), 1))
	for range 200 / test.Every(4) {
		columns, rows := randomTable(r)
		var b bytes.Buffer
		w, err := NewWriter(&b, columns, Meta{"key", "value"})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if err := w.Row(row); err != nil {
				t.Fatal(err)
			}
			if r.IntN(100) == 0 {
				w.flush() // a row group of any length
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f := open(t, b.Bytes())
		if f.rows != int64(len(rows)) || f.meta["key"] != "value" {
			t.Fatalf("the file has %d rows and %v, want %d", f.rows, f.meta, len(rows))
		}
		for i, c := range columns {
			var want []tabular.Cell
			for _, row := range rows {
				want = append(want, valid(c, row[i]))
			}
			if got := f.column(t, i, c); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("column %d, %+v: got %v\nwant %v", i, c, got, want)
			}
		}
	}
}

// valid returns the cell that a file has of a cell: its texts are valid UTF-8, and values of other types are missing.
func valid(c tabular.Column, cell tabular.Cell) tabular.Cell {
	cell.Text = strings.ToValidUTF8(cell.Text, "\uFFFD")
	return cell
}

func randomTable(r *rand.Rand) (columns []tabular.Column, rows [][]tabular.Cell) {
	for i := range 1 + r.IntN(6) {
		columns = append(columns, tabular.Column{Name: fmt.Sprintf("c%d", i), Type: tabular.Type(r.IntN(5)), List: r.IntN(4) == 0, Optional: r.IntN(2) == 0})
	}
	few := 1 + r.IntN(50) // distinct values
	scalar := func(c tabular.Column) tabular.Cell {
		out, n := tabular.Cell{Known: true}, int64(r.IntN(few))-10
		switch c.Type {
		case tabular.Int:
			out.Int = n * (math.MaxInt64 / 100)
		case tabular.Float:
			out.Float = float64(n) / 3
		case tabular.Bool:
			out.Int = n & 1
		default:
			out.Text = []string{"", "é\x00\n", "\xff,\"", strings.Repeat("x", 300), "=1+1"}[n&3] + fmt.Sprint(n)
		}
		return out
	}
	sticky := r.IntN(2) == 0
	for range r.IntN(3000) {
		row := make([]tabular.Cell, len(columns))
		for i, c := range columns {
			switch {
			case sticky && len(rows) > 0 && r.IntN(30) > 0:
				row[i] = rows[len(rows)-1][i]
			case c.Optional && r.IntN(3) == 0:
			case c.List:
				row[i] = tabular.Cell{Known: true, List: []tabular.Cell{}}
				for range r.IntN(4) {
					element := scalar(c)
					if r.IntN(4) == 0 {
						element = tabular.Cell{}
					}
					row[i].List = append(row[i].List, valid(c, element))
				}
			default:
				row[i] = scalar(c)
			}
		}
		rows = append(rows, row)
	}
	return columns, rows
}

// TestSpill: a column with too many distinct values is written without a dictionary, from the values on that were in it,
// and the next row group does not begin one again.
func TestSpill(t *testing.T) {
	columns := []tabular.Column{{Name: "n", Type: tabular.Int}, {Name: "text"}}
	var b bytes.Buffer
	w, err := NewWriter(&b, columns)
	if err != nil {
		t.Fatal(err)
	}
	const rows = groupRows + 1000
	for i := range rows {
		if err := w.Row([]tabular.Cell{tabular.Number(int64(i * i)), tabular.Of(fmt.Sprint("name ", i%70_000))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, b.Bytes())
	if len(f.groups) != 2 {
		t.Fatalf("%d row groups, want 2", len(f.groups))
	}
	numbers, texts := f.column(t, 0, columns[0]), f.column(t, 1, columns[1])
	for i := range rows {
		if numbers[i].Int != int64(i*i) || texts[i].Text != fmt.Sprint("name ", i%70_000) {
			t.Fatalf("row %d is %v, %v", i, numbers[i], texts[i])
		}
	}
	for i, g := range f.groups {
		low, high := int64(i*groupRows), min(int64((i+1)*groupRows), rows)-1 // the squares rise
		if word := func(n int64) string { return string(binary.LittleEndian.AppendUint64(nil, uint64(n*n))) }; g[0].low != word(low) || g[0].high != word(high) {
			t.Errorf("row group %d: bounds %x to %x", i, g[0].low, g[0].high)
		}
		if g[0].dictionary != 0 {
			t.Error("numbers that are all different have a dictionary")
		}
	}
}

// TestHybrid: levels and indices of every width come back.
func TestHybrid(t *testing.T) {
	r := rand.New(rand.NewPCG(test.Seed(t), 2))
	for range 2000 {
		width := 1 + r.IntN(17)
		values := make([]uint32, r.IntN(200))
		for i := range values {
			if values[i] = uint32(r.IntN(1 << width)); i > 0 && r.IntN(20) > 0 {
				values[i] = values[i-1]
			}
		}
		got, rest := readHybrid(hybrid(nil, values, width), width, len(values))
		if !slices.Equal(got, values) || len(rest) > 0 {
			t.Fatalf("width %d: %v became %v, and %d bytes are left", width, values, got, len(rest))
		}
	}
}

// TestWrongRow: a row of another width is an error.
func TestWrongRow(t *testing.T) {
	w, err := NewWriter(&bytes.Buffer{}, []tabular.Column{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Row(make([]tabular.Cell, 2)); err == nil {
		t.Error("no error")
	}
}
