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

// Limits for reading folded stacks.
const (
	maxFoldedLine = 1 << 20

	// Estimated bytes of a stack, and of each of its frames, in addition to its text;
	// they include the memory of the analysis.
	stackBytes = 400
	frameBytes = 200
)

// unknownName is the name of frames without a name and of samples without a stack, as
// in the output of perf's scripts.
const unknownName = "[unknown]"

// WriteFolded writes one column as folded stacks: a line for each stack with its
// names from the outermost to the innermost, joined by semicolons, then a space and
// the value. Lines are sorted, equal stacks are added up, and stacks of value 0,
// which no viewer shows, are left out. The format cannot express files, lines and
// labels.
//
// The format cannot quote either, so separators in names are replaced: semicolons by
// colons, white space and control characters by single spaces. A negative value is an
// error.
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
			sums[line] = Plus(sums[line], v)
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

// guardCommand changes the name that begins a line if it looks like a workflow command
// of GitHub Actions ("::" or, in older versions, "##["). The stacks may be printed to the
// log of a CI job, which would execute the line.
func guardCommand(name string) string {
	if strings.HasPrefix(name, "::") {
		return "_" + name
	}
	return name
}

// foldedName returns a name without separators. It replaces semicolons by colons, like
// the scripts that fold the stacks of perf.
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

// maxFoldedName is the maximum number of bytes of a name that are written, because
// every line repeats the names of all its frames. The longest names of real kernels have
// a few thousand bytes and differ at their beginning or end.
const maxFoldedName = 2048

// guardNumber joins a number at the end of a line's last name to the word before it.
// Otherwise flamegraph.pl would read "step 12 500" as the stack "step" with two values,
// before and after a change.
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

// ReadFolded reads folded stacks. The format does not state the meaning of the values,
// so the caller gives the column. Equal stacks, of which PyTorch's export_stacks writes
// many, are added up. Other lines are skipped and counted in an issue; an input without
// any stack is an error. If the input fails or exceeds a limit, ReadFolded returns the
// stacks read so far, with an issue. Name is the name of the input for messages.
func ReadFolded(r io.Reader, name string, column Column, limits Limits) (*Profile, error) {
	in := foldedReader{
		name: name, buf: bufio.NewReaderSize(r, 64<<10), b: NewBuilder(column),
		budget: cmp.Or(limits.Memory, defaultMemory),
	}
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
			r.issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: r.pos(),
				Help: "The input could not be read to its end (" + err.Error() + "). The rest is missing from every total. Copy the file again."})
		}
	}
	p := r.b.Profile()
	p.Cut, p.Issues = cut, r.issues.Issues()
	if len(p.Samples) == 0 && len(p.Issues) > 0 {
		return nil, &diag.Error{Pos: p.Issues[0].First,
			Msg: "no folded stack: want names joined by semicolons, a space, and a whole number"}
	}
	return p, nil
}

func (r *foldedReader) pos() diag.Pos { return diag.Pos{File: r.name, Line: r.n} }

// line returns the next line without its line end. A longer line is cut at the limit, so
// it has no value and is skipped.
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
