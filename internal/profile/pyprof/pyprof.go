// Package pyprof reads the output of profilers of Python programs: the tables that
// yappi and pstats print, the binary files of cProfile, and callgrind files, which
// yappi, pyprof2calltree, Xdebug and Valgrind write.
//
// All of them have the costs of functions without callees (self) and with callees
// (total), but no times at which they ran. They become [profile.Tables]: a table of
// functions and, if the file has calls, a table of pairs of caller and callee.
// Package analyze measures them.
//
// Each format has its file: yappi.go, pstats.go, prof.go (on marshal.go) and
// callgrind.go. graph.go computes totals from calls for the last two. number.go and
// lines.go are shared.
package pyprof

import (
	"cmp"
	"fmt"

	"assay/internal/diag"
	"assay/internal/profile"
)

// Limits bound the resources for reading one input, whatever it contains. A field
// that is 0 has the default value. Fields may be added.
type Limits struct {
	// Rows is the maximum number of rows of each table. Further rows are added up:
	// "table-rows-pooled".
	Rows int

	// Memory is the maximum memory of the functions and calls of an input, in
	// estimated bytes. Further ones are added up, too.
	Memory int64
}

const (
	defaultRows = 1 << 18

	// rowText is the number of bytes of names per row.
	rowText = 256

	// maxLine is the maximum length of a line.
	maxLine = 1 << 20

	// maxTables is the maximum number of tables of one input.
	maxTables = 1000
)

const nanoseconds = "nanoseconds"

// The columns that tables of functions have.
var (
	countColumn     = profile.Heading{Name: "count", Unit: "count", Adds: profile.Self}
	primitiveColumn = profile.Heading{Name: "primitive", Unit: "count", Adds: profile.Self} // calls that are not recursive
	selfColumn      = profile.Heading{Name: "self", Unit: nanoseconds, Adds: profile.Self}
	totalColumn     = profile.Heading{Name: "total", Unit: nanoseconds, Adds: profile.Total}
	meanColumn      = profile.Heading{Name: "mean", Unit: nanoseconds, Adds: profile.Each}
)

// An openTable is a table that is being read, within limits.
type openTable struct {
	*profile.Table
	rows, text int // rows, and bytes of text, left until the limit
}

func newOpenTable(t *profile.Table, limits Limits) *openTable {
	rows := cmp.Or(limits.Rows, defaultRows)
	return &openTable{t, rows, rows * rowText}
}

// add adds a row. Over the limit, it adds the row to the sum of such rows.
func (f *openTable) add(row profile.Row, pos diag.Pos, issues *diag.Ledger) {
	size := len(row.Name)
	for _, l := range row.Labels {
		size += len(l.Text)
	}
	if f.rows > 0 && f.text >= size {
		f.rows, f.text = f.rows-1, f.text-size
		f.Rows = append(f.Rows, row)
		return
	}
	if f.Rest == nil {
		f.Rest = make([]profile.Cell, len(f.Columns))
	}
	for i, h := range f.Columns {
		if h.Adds != profile.Each {
			f.Rest[i] = f.Rest[i].Plus(row.Cells[i])
		}
	}
	f.Left++
	issues.Add(diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, First: pos,
		Help: "A table reached its row limit. The rows counted here are added up in one: sums are correct, but names are missing. Raise --max-memory."})
}

// function names a function as yappi does: "app.py:118 Server.verify". A function
// without a file, such as a built-in, is in braces, as pstats prints it.
func function(file string, line int64, name string) string {
	switch {
	case file == "~" && line == 0:
		if len(name) > 2 && name[0] == '<' && name[len(name)-1] == '>' {
			name = name[1 : len(name)-1]
		}
		return "{" + name + "}"
	case file == "":
		return name
	}
	return fmt.Sprintf("%s:%d %s", file, line, name)
}
