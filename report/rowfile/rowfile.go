// Package rowfile writes tables of rows for other programs: CSV, Parquet, JSON and Markdown. It writes row after row,
// so a table may be longer than memory.
//
//   - CSV is that of RFC 4180 with a line of names, but lines end as those of text files do. Null is an empty cell, a list is its JSON. A text that a
//     spreadsheet would take for a formula gets an apostrophe before it.
//   - Parquet has the types; units and meanings are in the metadata of the file.
//   - JSON is one object with the columns and one object per row, in a line each. Null members are left out.
//   - Markdown leaves out lists and structured cells, shortens names, and rounds numbers as people read them.
package rowfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"

	"assay/internal/jsonscan"
	"assay/internal/label"
	"assay/internal/parquet"
	"assay/internal/tabular"
	"assay/report/doc"
)

// Schema names the JSON layout of a table, and the metadata of a file of Parquet.
const Schema = "assay/table/1"

// CSV writes a table.
func CSV(t tabular.Table, w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for i := range t.Columns {
		line = csvText(csvComma(line, i), t.Columns[i].Name)
	}
	b.Write(append(line, '\n'))
	err := each(t, func(row []tabular.Cell) error {
		line = line[:0]
		for i := range row {
			line = csvCell(csvComma(line, i), &t.Columns[i], &row[i])
		}
		if len(line) == 0 {
			line = append(line, '"', '"') // readers skip empty lines
		}
		_, err := b.Write(append(line, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return b.Flush()
}

func csvComma(line []byte, column int) []byte {
	if column > 0 {
		line = append(line, ',')
	}
	return line
}

func csvCell(line []byte, c *tabular.Column, cell *tabular.Cell) []byte {
	switch {
	case !cell.Known:
		return line
	case c.List:
		return csvText(line, label.Clean(string(jsonCell(nil, c, cell))))
	case c.Type == tabular.Text, c.Type == tabular.Structured:
		return csvText(line, label.NoFormula(label.Clean(cell.Text)))
	case c.Type == tabular.Int:
		return strconv.AppendInt(line, cell.Int, 10)
	}
	return append(line, cell.String(c.Type)...)
}

// csvText appends a text, in quotes if it has characters with a meaning.
func csvText(line []byte, text string) []byte {
	if !strings.ContainsAny(text, "\",\r\n") && !strings.HasPrefix(text, " ") {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"')
}

// JSON writes a table as one object.
func JSON(t tabular.Table, w io.Writer) error {
	b := bufio.NewWriter(w)
	head := []byte(`{"schema": `)
	head = appendText(head, Schema)
	head = append(head, `, "table": `...)
	head = appendText(head, t.Name)
	head = append(head, `, "says": `...)
	head = appendText(head, t.Says)
	head = append(head, ",\n\"columns\": "...)
	head = append(head, columnsJSON(t.Columns, "\n  ")...)
	b.Write(append(head, ",\n\"rows\": ["...))
	line, first := []byte(nil), true
	err := each(t, func(row []tabular.Cell) error {
		line = append(line[:0], ",\n  {"...)
		if first {
			line, first = append(line[:0], "\n  {"...), false
		}
		for i, n := 0, 0; i < len(row); i++ {
			if !row[i].Known {
				continue
			}
			if n++; n > 1 {
				line = append(line, ", "...)
			}
			line = append(appendText(line, t.Columns[i].Name), ": "...)
			line = jsonCell(line, &t.Columns[i], &row[i])
		}
		_, err := b.Write(append(line, '}'))
		return err
	})
	if err != nil {
		return err
	}
	b.WriteString("]}\n")
	return b.Flush()
}

// jsonCell appends a cell as a value in JSON.
func jsonCell(out []byte, c *tabular.Column, cell *tabular.Cell) []byte {
	switch {
	case !cell.Known:
		return append(out, "null"...)
	case c.List:
		out = append(out, '[')
		element := *c
		element.List = false
		for i := range cell.List {
			if i > 0 {
				out = append(out, ',')
			}
			out = jsonCell(out, &element, &cell.List[i])
		}
		return append(out, ']')
	case c.Type == tabular.Text:
		return appendText(out, cell.Text)
	case c.Type == tabular.Float && (math.IsNaN(cell.Float) || math.IsInf(cell.Float, 0)):
		return append(out, "null"...)
	}
	return jsonscan.AppendPrintable(out, []byte(cell.String(c.Type))) // structured cells are JSON already
}

func appendText(out []byte, text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // names of kernels are full of angle brackets
	_ = enc.Encode(strings.ToValidUTF8(text, "\uFFFD"))
	return jsonscan.AppendPrintable(out, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// A columnJSON is a column in the JSON and in the metadata of a file of Parquet.
type columnJSON struct {
	Name string `json:"name"`
	Type string `json:"type"`
	List bool   `json:"list,omitempty"`
	Null bool   `json:"null,omitempty"`
	Unit string `json:"unit,omitempty"`
	Of   string `json:"of,omitempty"`
	Role string `json:"role,omitempty"`
	Says string `json:"says,omitempty"`
}

// columnsJSON describes columns as a list in JSON, each after a separator.
func columnsJSON(columns []tabular.Column, separator string) []byte {
	out := []byte{'['}
	for i, c := range columns {
		if i > 0 {
			out = append(out, ',')
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(columnJSON{c.Name, c.Type.String(), c.List, c.Optional, c.Unit, c.Of, c.Role, c.Says})
		out = append(append(out, separator...), bytes.TrimSpace(b.Bytes())...)
	}
	return append(out, ']')
}

// Parquet writes a table.
func Parquet(t tabular.Table, w io.Writer) error {
	p, err := parquet.NewWriter(w, t.Columns,
		parquet.Meta{Key: "assay.schema", Value: Schema}, parquet.Meta{Key: "assay.table", Value: t.Name},
		parquet.Meta{Key: "assay.says", Value: t.Says}, parquet.Meta{Key: "assay.columns", Value: string(columnsJSON(t.Columns, ""))})
	if err != nil {
		return err
	}
	err = each(t, p.Row)
	if err != nil {
		return err
	}
	return p.Close()
}

// Markdown writes a table, without lists and structured cells.
func Markdown(t tabular.Table, w io.Writer) error {
	var shown []int
	var columns []doc.Column
	for i, c := range t.Columns {
		if c.List || c.Type == tabular.Structured {
			continue
		}
		kind := doc.Text
		if c.Type == tabular.Int || c.Type == tabular.Float {
			kind = doc.Number
		}
		shown, columns = append(shown, i), append(columns, doc.Col(c.Name, kind))
	}
	var rows [][]string
	err := each(t, func(row []tabular.Cell) error {
		var cells []string
		for _, i := range shown {
			cells = append(cells, rounded(&t.Columns[i], &row[i]))
		}
		rows = append(rows, cells)
		return nil
	})
	if err != nil {
		return err
	}
	return doc.WriteGrid(w, columns, rows)
}

// rounded returns a cell for people: fractions have four digits, and numbers from 1,000 on no fraction.
func rounded(c *tabular.Column, cell *tabular.Cell) string {
	x := cell.Float
	if c.Type != tabular.Float || !cell.Known || math.IsNaN(x) || math.IsInf(x, 0) {
		return cell.String(c.Type)
	}
	if math.Abs(x) >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// each calls f with every row until it returns an error.
func each(t tabular.Table, f func([]tabular.Cell) error) error {
	var failed error
	err := t.Each(func(row []tabular.Cell) bool {
		failed = f(row)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}
