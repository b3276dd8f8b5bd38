package profile

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assay/internal/diag"
)

// Limits of what is read as folded stacks.
const (
	maxFoldedLine = 1 << 20

	// What a stack takes beside its text, and each of its frames, with what measuring
	// it takes.
	stackBytes = 400
	frameBytes = 200
)

// unknownName stands for frames without a name and for samples without a stack,
// as in the stacks that perf's scripts fold.
const unknownName = "[unknown]"

// WriteFolded writes one column as folded stacks: a line for each stack, its
// names from the outermost on, joined by semicolons, then a space and the
// value. Lines are sorted, equal ones are added up, and those of value 0, which
// no viewer shows, are left out. Files, lines and labels have no place in it.
//
// The format has no way to quote, so what would be split in a name is replaced:
// semicolons by colons, white space and control characters by single spaces.
// A negative value is an error.
func (p *Profile) WriteFolded(w io.Writer, column int) error {
	if err := p.Check(); err != nil {
		return err
	}
	if column < 0 || column >= len(p.Columns) {
		return fmt.Errorf("no column %d among %d", column, len(p.Columns))
	}
	if c := p.Columns[column]; c.Total {
		return fmt.Errorf("column %q holds totals, which viewers of folded stacks would add up", c.Name)
	}
	sums := make(map[string]int64)
	for i := range p.Samples {
		s := &p.Samples[i]
		switch v := s.Values[column]; {
		case v < 0:
			return fmt.Errorf("%s: %d in column %q: folded stacks have no negative values", fold(s.Stack), v, p.Columns[column].Name)
		case v > 0:
			line := fold(s.Stack)
			sums[line] = plus(sums[line], v)
		}
	}
	out := bufio.NewWriter(w)
	for _, line := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(out, "%s %d\n", line, sums[line])
	}
	return out.Flush()
}

// fold joins the names of a stack.
func fold(stack []Frame) string {
	if len(stack) == 0 {
		return unknownName
	}
	names := make([]string, len(stack))
	for i, f := range stack {
		names[i] = foldedName(f.Name)
	}
	names[0] = guardCommand(names[0])
	last := &names[len(names)-1]
	*last = guardNumber(*last)
	return strings.Join(names, ";")
}

// guardCommand returns the name that begins a line such that a job of CI, whose log
// the stacks may go to, does not take the line for a command of the workflow: those
// of GitHub begin with "::", older ones have "##[".
func guardCommand(name string) string {
	if strings.HasPrefix(name, "::") {
		return "_" + name
	}
	return name
}

// foldedName returns a name as folded stacks have it. Scripts that fold perf's
// stacks replace semicolons by colons too.
func foldedName(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r):
			return ' '
		}
		return r
	}, name)
	clean = strings.ReplaceAll(strings.Join(strings.Fields(clean), " "), "##[", "##_[")
	if clean == "" {
		return unknownName
	}
	if len(clean) > maxFoldedName {
		head := strings.ToValidUTF8(clean[:maxFoldedName*3/4], "")
		clean = head + "…" + strings.ToValidUTF8(clean[len(clean)-maxFoldedName/4:], "")
	}
	return clean
}

// maxFoldedName is how many bytes of a name are written: every line repeats the
// names of all its frames. The longest names of real kernels have some thousand,
// and differ at their beginning or end.
const maxFoldedName = 2048

// guardNumber joins a number at the end of a line's last name to what is before
// it: flamegraph.pl takes "step 12 500" for the stack "step" before and after a
// change.
func guardNumber(name string) string {
	before, number, ok := cutLast(name)
	if !ok || strings.Trim(number, "0123456789.") != "" {
		return name
	}
	return before + "_" + number
}

// cutLast cuts a line at its last white space.
func cutLast(line string) (before, after string, ok bool) {
	i := strings.LastIndexAny(line, " \t")
	if i < 0 {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}

// ReadFolded reads folded stacks, whose values are of the given column: the
// format does not tell. Equal stacks, of which PyTorch's export_stacks writes
// many, are added up. Lines of other shapes are skipped and counted among the
// issues; an input with no line of this shape is an error. What was read before
// an error of the input, or before there was too much of it, stays, and an issue
// says so. Name is that of the input, for messages.
func ReadFolded(r io.Reader, name string, column Column, limits Limits) (*Profile, error) {
	in := foldedReader{name: name, buf: bufio.NewReaderSize(r, 64<<10), b: NewBuilder(column), budget: cmp.Or(limits.Memory, defaultMemory)}
	return in.read()
}

// A foldedReader reads lines of folded stacks.
type foldedReader struct {
	name   string
	buf    *bufio.Reader
	long   []byte // a line that is longer than the buffer
	n      int    // lines so far
	b      *Builder
	budget int64
	issues diag.Ledger
}

// read reads lines to the end of the input, or as far as that is possible.
func (r *foldedReader) read() (*Profile, error) {
	cut := false
	for done := false; !done; {
		line, err := r.line()
		if len(line) > 0 && (err == nil || err == io.EOF) {
			r.add(string(line))
		}
		switch {
		case err == io.EOF:
			done = true
			if len(line) > 0 {
				r.issues.Add(diag.Issue{Code: "last-line-open", Severity: diag.Info, First: r.pos()})
			}
		case err != nil && len(r.b.rows) == 0:
			return nil, err
		case err != nil:
			done, cut = true, true
			r.issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: r.pos(), Help: "The input could not be read to its end (" + err.Error() + "). The rest is missing from every total. Copy the file again."})
		}
	}
	p := r.b.Profile()
	p.Cut, p.Issues = cut, r.issues.Issues()
	if len(p.Samples) == 0 && len(p.Issues) > 0 {
		return nil, &diag.Error{Pos: p.Issues[0].First, Msg: "no folded stack: want names joined by semicolons, a space, and a whole number"}
	}
	return p, nil
}

func (r *foldedReader) pos() diag.Pos { return diag.Pos{File: r.name, Line: r.n} }

// line returns the next line, without what ends it. A line over the limit is
// cut there and thus has no value.
func (r *foldedReader) line() ([]byte, error) {
	r.n++
	r.long = r.long[:0]
	for {
		part, err := r.buf.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if len(r.long) <= maxFoldedLine {
				r.long = append(r.long, part...)
			}
			continue
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		if len(r.long) > maxFoldedLine {
			part, r.long = []byte("over the limit"), r.long[:0]
		}
		r.long = append(r.long, part...)
		return bytes.TrimRight(r.long, " \t\r\n"), err
	}
}

func (r *foldedReader) add(line string) {
	stack, number, _ := cutLast(line)
	value, err := strconv.ParseInt(number, 10, 64)
	if stack == "" || err != nil || value < 0 {
		r.issues.Add(diag.Issue{Code: "folded-line-malformed", Severity: diag.DataLoss, First: r.pos()})
		return
	}
	names := strings.Split(strings.TrimRight(stack, " \t"), ";")
	frames := make([]Frame, len(names))
	for i, n := range names {
		frames[i].Name = n
	}
	if size := int64(stackBytes + frameBytes*len(names) + len(stack)); !r.b.has(frames, nil) {
		if r.budget < size {
			r.b.Add([]Frame{{Name: OtherStacks}}, nil, value)
			r.issues.Add(diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, First: r.pos(), Help: pooledHelp})
			return
		}
		r.budget -= size
	}
	r.b.Add(frames, nil, value)
}
