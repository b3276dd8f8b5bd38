package show

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strings"

	"assay/compare"
	"assay/internal/jsonscan"
	"assay/internal/label"
	"assay/report/doc"
	"assay/summary/row"
)

// Schema names the JSON layout of an [Answer].
const Schema = "assay/groups/1"

// An Answer is a table of sums for people, with the same sums for programs.
type Answer struct {
	doc.Doc
	Data Data
}

// A Data is a table for programs: nothing is rounded or shortened.
type Data struct {
	About   Record // what the rows are
	Columns []string
	Rows    [][]any // texts, whole numbers, fractions, or nil for what is not known
}

// A Record is a JSON object whose members keep their order.
type Record []Member

// A Member is a name with a value.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON writes the members in their order.
func (r Record) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // names of kernels are full of angle brackets
	for i, m := range r {
		b.WriteByte("{,"[min(i, 1)])
		if err := enc.Encode(m.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// JSON writes the table as one object with a row per group.
func (a Answer) JSON(w io.Writer) error {
	rows := make([]Record, len(a.Data.Rows))
	for i, cells := range a.Data.Rows {
		for j, cell := range cells {
			rows[i] = append(rows[i], Member{a.Data.Columns[j], cell})
		}
	}
	return jsonscan.WriteRows(w, Record{{"schema", Schema}}, a.Data.About, struct {
		Rows []Record `json:"rows"`
	}{rows})
}

// JSONParts returns values of the types of which [Answer.JSON] writes the members, of one run and of two. The members
// of rows are the keys and measures that were asked for.
func JSONParts() []any {
	type about struct {
		Kind  string            `json:"kind"`
		By    []string          `json:"by"`
		Where map[string]string `json:"where,omitempty"`
		// Of one run.
		ShareOf string `json:"share_of,omitempty"`
		WholeNS int64  `json:"whole_ns,omitempty"`
		// Of two runs.
		Measure   string           `json:"measure,omitempty"`
		Per       string           `json:"per,omitempty"`
		BaseParts int64            `json:"base_parts,omitempty"`
		NewParts  int64            `json:"new_parts,omitempty"`
		Reasons   []compare.Reason `json:"reasons,omitempty"`
		BaseNS    int64            `json:"base_ns,omitempty"`
		NewNS     int64            `json:"new_ns,omitempty"`
		DeltaNS   int64            `json:"delta_ns,omitempty"`

		Rows []map[string]any `json:"rows"`
	}
	return []any{about{}}
}

// CSV writes the columns and the rows. Unknown values are empty.
func (a Answer) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write(a.Data.Columns)
	for _, row := range a.Data.Rows {
		var cells []string
		for _, cell := range row {
			text := ""
			switch cell := cell.(type) {
			case nil:
			case string:
				text = label.NoFormula(label.Clean(cell))
			default:
				number, err := json.Marshal(cell)
				if err != nil {
					return err
				}
				text = string(number)
			}
			cells = append(cells, text)
		}
		c.Write(cells)
	}
	c.Flush()
	return c.Error()
}

// data returns the table of a sum for programs: the keys as they were asked for, the share of the
// whole of each row, and the measures by their names in the JSON of a summary.
func data(t *row.Table, by []string, whole func(*row.Row) int64, measures []string) Data {
	d := Data{Columns: keyNames(by)}
	d.Columns = append(d.Columns, "share")
	for _, name := range measures {
		d.Columns = append(d.Columns, t.Column(name).Field())
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		cells := make([]any, 0, len(d.Columns))
		for _, key := range by {
			cells = append(cells, t.Key(r, key))
		}
		cells = append(cells, quotient(t.Main(r), whole(r)))
		for _, name := range measures {
			cells = append(cells, t.Value(r, name))
		}
		d.Rows = append(d.Rows, cells)
	}
	return d
}

// keyNames returns the names of keys as members of a row.
func keyNames(by []string) (names []string) {
	for _, key := range by {
		names = append(names, strings.ReplaceAll(key, " ", "_"))
	}
	return names
}

// quotient divides two numbers, or returns nil.
func quotient(a, b int64) any {
	if b == 0 {
		return nil
	}
	return float64(a) / float64(b)
}

// about describes the rows of a question.
func (q Question) about(k *row.Kind, by []string) Record {
	r := Record{{"kind", k.Name}, {"by", keyNames(by)}}
	if where, given := q.where.about(); given {
		r = append(r, Member{"where", where})
	}
	return r
}
