package pyprof

import (
	"errors"
	"io"

	"assay/internal/diag"
	"assay/internal/textscan"
)

// A lineReader reads lines and collects issues about them.
type lineReader struct {
	*textscan.Reader
	input  string // its name, for messages
	open   bool   // the last line has no line end
	issues diag.Ledger
}

func newLineReader(r io.Reader, name string) *lineReader {
	return &lineReader{Reader: textscan.NewReader(r, maxLine), input: name}
}

func (r *lineReader) pos() diag.Pos { return diag.Pos{File: r.input, Line: r.N} }

// issue counts an issue at this line. With an empty help, the issue has the help text
// that is registered for the code.
func (r *lineReader) issue(code string, severity diag.Severity, help string) {
	r.issues.Add(diag.Issue{Code: code, Severity: severity, First: r.pos(), Help: help})
}

// next returns the next line, as [textscan.Reader.Next] does.
func (r *lineReader) next() (string, error) {
	line, cut, err := r.Next()
	if cut {
		r.issue("line-too-long", diag.DataLoss, "Lines of more than 1 MiB were shortened to that length.")
	}
	return line, err
}

// each calls f for every line. It returns the error that ended the reading, or nil at
// the end of the input.
func (r *lineReader) each(f func(line string) error) error {
	for {
		line, err := r.next()
		if line != "" || err == nil {
			if failed := f(line); failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			r.open = line != ""
			return nil
		}
		if err != nil {
			return err
		}
	}
}
