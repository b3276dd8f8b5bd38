// Package et reads execution traces of PyTorch (ExecutionTraceObserver, the input of Chakra): the operators that ran, in
// their order, with the shapes and types of their inputs, and the collectives with their sizes. They have no times.
package et

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/jsonwalk"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/internal/redact"
)

// Format is the format of inputs, and the tool of their tables.
const Format = "execution-trace"

// Limits bound the resources for reading one input. A field that is 0 has the default value.
type Limits struct {
	Rows int // of each table; further ones are added up
}

const (
	defaultRows = 1 << 16
	maxName     = 1 << 10
	maxShapes   = 1 << 17 // of all operators
)

// schema matches the version at the beginning of a trace: "1.0.1", "1.1.1-chakra.0.0.4".
var schema = lazyregexp.New(`"schema"\s*:\s*"\d+\.\d+\.\d+(-chakra[\d.]*)?"`)

// Sniff reports whether a file that begins with head is an execution trace.
func Sniff(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) && schema().Match(head) && bytes.Contains(head, []byte(`"nodes"`)) &&
		!bytes.Contains(head, []byte(`"traceEvents"`))
}

// A node is an operator. Before version 1.0.2 its members are flat.
type node struct {
	Name   string          `json:"name"`
	Inputs json.RawMessage `json:"inputs"`
	Shapes json.RawMessage `json:"input_shapes"`
	Types  []string        `json:"input_types"`
	Attrs  []struct {
		Name  string `json:"name"`
		Value any    `json:"value"`
	} `json:"attrs"`
}

// A row is an operator or a kind of collective.
type row struct {
	name, group, dtype string
	count              int64
	bytes              int64
	sized              int64 // calls whose bytes are known
	shapes             map[string]int64
}

type reader struct {
	*jsonwalk.Reader
	file        string
	operators   map[string]*row
	collectives map[string]*row
	rows, left  int
	shapes      int
	nodes       int64
	issues      diag.Ledger
}

// Read reads an execution trace.
func Read(in io.Reader, file string, limits Limits) (*profile.Tables, error) {
	r := &reader{Reader: jsonwalk.NewReader(in), file: file, operators: map[string]*row{}, collectives: map[string]*row{}, rows: cmp.Or(limits.Rows, defaultRows)}
	err := r.Object(func(key string) error {
		if key != "nodes" {
			return r.Skip()
		}
		return r.Array(r.node)
	})
	if err != nil {
		r.issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: file, Offset: r.Offset()},
			Help: fmt.Sprintf("The file cannot be read to its end (%v). What follows is missing. Copy the file again.", err)})
	}
	if len(r.operators) == 0 {
		return nil, &diag.Error{Pos: diag.Pos{File: file, Offset: r.Offset()},
			Msg: "the execution trace has no operator; call stop() of the observer before unregister_callback(), and record at least one step"}
	}
	r.issues.AddN(diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, First: diag.Pos{File: file},
		Help: "A table reached its row limit. The operators counted here are left out. Raise --max-memory."}, int64(r.left))
	out := &profile.Tables{Tool: Format, Records: r.nodes, Complete: err == nil, Issues: r.issues.Issues()}
	out.List = append(out.List, operatorTable(r.operators))
	if len(r.collectives) > 0 {
		out.List = append(out.List, collectiveTable(r.collectives))
	}
	return out, nil
}

// node reads a node.
func (r *reader) node() error {
	var n node
	fits, err := r.Value(&n)
	if err != nil {
		return err
	}
	if r.nodes++; !fits && n.Name == "" {
		r.issues.Add(diag.Issue{Code: "record-malformed", Severity: diag.DataLoss, First: diag.Pos{File: r.file, Offset: r.Offset()},
			Help: "Nodes that are no objects with a name were left out. Copy the file again."})
		return nil
	}
	switch {
	case strings.HasPrefix(n.Name, "[pytorch|"), strings.HasPrefix(n.Name, "## process_group:init"), n.Name == "":
		return nil
	case n.Name == "record_param_comms":
		r.collective(&n)
		return nil
	}
	to := r.of(r.operators, n.Name)
	if to == nil {
		return nil
	}
	to.count++
	if text := n.inputs(); text != "" && (to.shapes[text] > 0 || r.shapes < maxShapes) {
		if to.shapes[text] == 0 {
			r.shapes++
		}
		to.shapes[text]++
	}
	return nil
}

// of returns the row of a name, or nil over the limit.
func (r *reader) of(rows map[string]*row, name string) *row {
	if len(name) > maxName {
		name = redact.Cut(name, maxName)
	}
	to := rows[name]
	if to == nil {
		if len(rows) >= r.rows {
			r.left++
			return nil
		}
		to = &row{name: strings.Clone(name), shapes: map[string]int64{}}
		rows[to.name] = to
	}
	return to
}

// tensors returns the shapes and element types of the inputs that are tensors.
func (n *node) tensors() (shapes [][]int64, types []string) {
	raw, names := n.Shapes, n.Types
	if len(raw) == 0 {
		var in struct {
			Shapes json.RawMessage `json:"shapes"`
			Types  []string        `json:"types"`
		}
		if json.Unmarshal(n.Inputs, &in) != nil {
			return nil, nil
		}
		raw, names = in.Shapes, in.Types
	}
	var each []json.RawMessage
	if json.Unmarshal(raw, &each) != nil {
		return nil, nil
	}
	for i, one := range each {
		if i >= len(names) || !strings.HasPrefix(names[i], "Tensor(") {
			continue
		}
		of := strings.TrimSuffix(strings.TrimPrefix(names[i], "Tensor("), ")")
		var shape []int64
		if strings.Contains(of, "nullptr") || json.Unmarshal(one, &shape) != nil {
			continue
		}
		shapes, types = append(shapes, shape), append(types, of)
	}
	return shapes, types
}

// inputs returns the inputs that are tensors as text: "float [512, 1024], float [1024]".
func (n *node) inputs() string {
	shapes, types := n.tensors()
	var parts []string
	for i, shape := range shapes {
		parts = append(parts, types[i]+" "+strings.ReplaceAll(fmt.Sprint(shape), " ", ", "))
	}
	text := strings.Join(parts, ", ")
	return redact.Cut(text, maxName)
}

// sizes are the bytes of the element types of collectives, by their names in record_param_comms and in types of tensors.
var sizes = map[string]int64{"byte": 1, "char": 1, "bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "short": 2, "half": 2, "bfloat16": 2,
	"int": 4, "float": 4, "long": 8, "double": 8, "unsigned char": 1, "signed char": 1, "long int": 8, "c10::half": 2, "c10::bfloat16": 2}

// collective reads a collective. From version 1.1.0 on its size is an attribute; before, it follows from its first tensor.
func (r *reader) collective(n *node) {
	attrs := map[string]string{}
	for _, a := range n.Attrs {
		attrs[a.Name] = fmt.Sprint(a.Value)
		if v, ok := a.Value.(float64); ok {
			attrs[a.Name] = fmt.Sprintf("%.0f", v)
		}
	}
	name, dtype := attrs["collective_name"], attrs["dtype"]
	elements, known := int64(0), false
	if text, ok := attrs["in_msg_nelems"]; ok {
		_, err := fmt.Sscan(text, &elements)
		known = err == nil && elements >= 0
	}
	if name == "" {
		name = n.text()
		shapes, types := n.tensors()
		if len(shapes) > 0 {
			elements, dtype, known = product(shapes[0]), types[0], true
		}
	}
	if name == "" || name == "wait" || name == "init" {
		return
	}
	group := attrs["pg_size"]
	to := r.of(r.collectives, strings.Join([]string{name, group, dtype}, "\x00"))
	if to == nil {
		return
	}
	to.name, to.group, to.dtype = name, group, dtype
	to.count++
	if size := sizes[strings.ToLower(dtype)]; known && size > 0 && elements < 1<<50 {
		to.sized, to.bytes = to.sized+1, to.bytes+elements*size
	}
}

// text returns the first input of a node that is a text: the name of the collective.
func (n *node) text() string {
	var in struct {
		Values []any `json:"values"`
	}
	if json.Unmarshal(n.Inputs, &in) != nil && json.Unmarshal(n.Inputs, &in.Values) != nil {
		return ""
	}
	for _, v := range in.Values {
		if s, ok := v.(string); ok && s != "" {
			return redact.Cut(s, 100)
		}
	}
	return ""
}

func product(shape []int64) int64 {
	all := int64(1)
	for _, n := range shape {
		if n < 0 || n > 0 && all > (1<<50)/n {
			return 1 << 50
		}
		all *= n
	}
	return all
}

// operatorTable makes the table of operators, the most frequent first, each with its most frequent inputs.
func operatorTable(rows map[string]*row) *profile.Table {
	t := &profile.Table{Name: "et_operators", Title: "Operators of an execution trace", Of: profile.OfOp, Columns: []profile.Heading{
		{Name: "count", Unit: "count", Adds: profile.Self}, {Name: "different inputs", Unit: "count"}}}
	for _, r := range sorted(rows) {
		out := profile.Row{Name: r.name, Cells: []profile.Cell{profile.Known(r.count), profile.Known(int64(len(r.shapes)))}}
		most := ""
		for text, n := range r.shapes {
			if most == "" || n > r.shapes[most] || n == r.shapes[most] && text < most {
				most = text
			}
		}
		if most != "" {
			out.Labels = []profile.Label{{Key: "most frequent inputs", Text: most}}
		}
		t.Rows = append(t.Rows, out)
	}
	return t
}

// collectiveTable makes the table of collectives.
func collectiveTable(rows map[string]*row) *profile.Table {
	t := &profile.Table{Name: "et_collectives", Title: "Collectives of an execution trace", Of: profile.OfRow, Columns: []profile.Heading{
		{Name: "count", Unit: "count", Adds: profile.Self}, {Name: "bytes", Unit: "bytes", Adds: profile.Self}}}
	for _, r := range sorted(rows) {
		out := profile.Row{Name: r.name, Cells: []profile.Cell{profile.Known(r.count), {Value: r.bytes, Known: r.sized == r.count}}}
		if r.group != "" {
			out.Name += " (group of " + r.group + ")"
		}
		if r.dtype != "" {
			out.Labels = []profile.Label{{Key: "dtype", Text: r.dtype}}
		}
		t.Rows = append(t.Rows, out)
	}
	return t
}

func sorted(rows map[string]*row) (out []*row) {
	for _, r := range rows {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name), cmp.Compare(a.group, b.group), cmp.Compare(a.dtype, b.dtype))
	})
	return out
}
