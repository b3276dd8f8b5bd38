// Package pyprof reads what profilers of Python programs write: the tables that
// yappi and pstats print, the binary files of cProfile, and callgrind files,
// which yappi, pyprof2calltree, Xdebug and Valgrind have in common.
//
// All of them say what functions cost by themselves (self) and with all that
// they called (total), but not when. They become [profile.Tables]: a table of
// functions and, where the file has calls, one of who called whom. Package
// analyze measures them.
package pyprof

import (
	"cmp"
	"fmt"

	"assay/internal/diag"
	"assay/internal/profile"
)

// Limits bound what reading one input may take, whatever the input is. A field
// that is 0 has the value of the default. Fields may be added.
type Limits struct {
	// Rows is how many rows each table may have. Further ones are added up:
	// "table-rows-pooled".
	Rows int

	// Memory is how many bytes the functions and calls of an input may take, as
	// estimated. Further ones are added up, too.
	Memory int64
}

const (
	defaultRows = 1 << 18

	// rowText is how many bytes of names there may be for each row.
	rowText = 256

	// maxLine is how long a line may be.
	maxLine = 1 << 20

	// maxTables is how many tables one input may have.
	maxTables = 1000
)

const nanoseconds = "nanoseconds"

// The columns that tables of functions have.
var (
	countColumn     = profile.Heading{Name: "count", Unit: "count", Adds: profile.Self}
	primitiveColumn = profile.Heading{Name: "primitive", Unit: "count", Adds: profile.Self} // calls that no other of the same function was under way in
	selfColumn      = profile.Heading{Name: "self", Unit: nanoseconds, Adds: profile.Self}
	totalColumn     = profile.Heading{Name: "total", Unit: nanoseconds, Adds: profile.Total}
	meanColumn      = profile.Heading{Name: "mean", Unit: nanoseconds, Adds: profile.Each}
)

// A filling is a table whose rows come one by one, within limits.
type openTable struct {
	*profile.Table
	rows, text int // room left
}

func newOpenTable(t *profile.Table, limits Limits) *openTable {
	rows := cmp.Or(limits.Rows, defaultRows)
	return &openTable{t, rows, rows * rowText}
}

// add adds a row, or pools it where there is no more room.
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

// function names a function as yappi does: "app.py:118 Server.verify". What
// has no place in a file is set in braces, as pstats prints it.
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
