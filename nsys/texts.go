package nsys

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/database"
)

// The limits of a search of all texts of an export.
const (
	mostTextRows  = 4 << 20   // of one table
	mostTextBytes = 256 << 20 // of all tables
)

// WriteTexts writes the texts of all tables of the export at path to w, a search for
// secrets. It includes tables that [ReadSQLite] does not read. The texts of a row are joined
// by "=", because a name and its value are adjacent columns; the arguments of a process,
// which are separate rows, are joined by spaces. left describes the tables that were not
// written completely because of a limit or damage; it is empty if there are none.
func WriteTexts(path string, w io.Writer) (left string, err error) {
	db, err := database.Open(path)
	if err != nil {
		return "", err
	}
	defer db.Close()
	return writeTexts(export{db}, w), nil
}

// WriteParquetTexts is WriteTexts for the export in a directory.
func WriteParquetTexts(dir string, w io.Writer) (left string) {
	return writeTexts(openDirectory(dir, 0), w)
}

// A textSource is an export whose texts can be searched.
type textSource interface {
	source
	tables() []string
	texts(table string) (columns []string, err error) // that may have texts
}

func writeTexts(src textSource, w io.Writer) (left string) {
	t := texts{w: w}
	for _, name := range sortedTables(src) {
		if why := t.table(src, name); why != "" {
			t.left = append(t.left, name+" ("+why+")")
		}
	}
	const most = 8 // tables named in the message
	if n := len(t.left); n > most {
		t.left = append(t.left[:most:most], fmt.Sprintf("%d more tables", n-most))
	}
	return strings.Join(t.left, ", ")
}

// sortedTables returns the names of the tables, the smallest kind first: settings
// before events.
func sortedTables(src textSource) (names []string) {
	names = src.tables()
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(src.columns(a)), len(src.columns(b))), cmp.Compare(a, b))
	})
	return names
}

// texts writes texts of tables.
type texts struct {
	w    io.Writer
	n    int64    // bytes written
	line []byte   // the texts of a row
	args string   // the process whose arguments are being joined
	left []string // tables that were not searched to their end
}

// table writes the texts of one table, and returns why it did not write all.
func (t *texts) table(src textSource, name string) (why string) {
	columns, err := src.texts(name)
	if err == nil && len(columns) > 0 {
		rows := 0
		err = src.scan(name, columns, func(r row) bool {
			switch rows++; {
			case rows > mostTextRows:
				why = fmt.Sprintf("rows after %d", mostTextRows)
			case t.n > mostTextBytes:
				why = fmt.Sprintf("texts after %d MiB in total", mostTextBytes>>20)
			default:
				t.row(r, len(columns))
			}
			return why == ""
		})
		t.args = ""
		t.w.Write([]byte{'\n'}) // a search for secrets never fails
	}
	if err != nil {
		why = "damaged"
	}
	return why
}

// pair writes a name and its value.
func (t *texts) pair(name, value string) {
	if t.n > mostTextBytes {
		return
	}
	t.line = t.line[:0]
	if !t.argument(name, []byte(value)) {
		t.args = ""
		t.line = append(append(append(append(t.line, '\n'), name...), '='), value...)
	}
	t.n += int64(len(t.line))
	t.w.Write(t.line)
}

// argument adds an argument of a process to the line. It returns false if the name is not
// the name of an argument.
func (t *texts) argument(name string, value []byte) bool {
	process, _, ok := strings.Cut(name, ":ARGUMENT_")
	if !ok {
		return false
	}
	between := byte(' ')
	if process != t.args {
		between = '\n'
	}
	t.args = process
	t.line = append(append(t.line, between), value...)
	return true
}

// row writes the texts of a row.
func (t *texts) row(r row, columns int) {
	t.line = t.line[:0]
	name := string(r.Text(0)) // its bytes last until the next call
	if columns != 2 || !t.argument(name, r.Text(1)) {
		t.args = ""
		for i := range columns {
			between := byte('=')
			if len(t.line) == 0 {
				between = '\n'
			}
			if text := r.Text(i); len(text) > 0 {
				t.line = append(append(t.line, between), text...)
			}
		}
	}
	t.n += int64(len(t.line))
	t.w.Write(t.line)
}
