package torchprof

import (
	"slices"
	"strings"
	"unicode/utf8"

	"assay/internal/profile"
)

// row handles a line within a table, and reports whether it belongs to the
// table.
func (f *Finder) row(o *openTable, line string) bool {
	if o.spans != nil {
		cells := cutSpans(line, o.spans)
		switch o.classify(cells) {
		case good:
			f.keep(o, cells)
			return true
		case continuation:
			return f.continueRow(o, cells)
		}
	}
	if f.continueName(o, line) {
		return true
	}
	cells := o.cutWords(line)
	switch o.classify(cells) {
	case good:
		f.keep(o, cells)
		return true
	case doubtful:
		o.counts.unreadable.add(f.n)
		f.keep(o, cells)
		return true
	}
	return f.stray(o, line)
}

// stray handles a line that is not a row.
func (f *Finder) stray(o *openTable, line string) bool {
	switch words := words(line); {
	case strings.Trim(line, " .…#") == "":
		o.counts.omitted.add(f.n)
		return true
	case timesAmong(words) >= 3:
		o.counts.malformed.add(f.n)
		return true
	case o.spans == nil && len(words) == 1 && o.kept && strings.HasPrefix(line, "          "):
		return f.frame(o, words[0])
	}
	o.counts.between.add(f.n)
	return false
}

// timesAmong counts words that look like a time or a share.
func timesAmong(words []string) (n int) {
	for _, w := range words {
		_, share := parseShare(w)
		if c, err := parseTime(w); err == nil && c.Known || share {
			n++
		}
	}
	return n
}

// cutSpans splits a line at the columns; the last one extends to the end of the
// line. It returns nil if there is text between columns.
func cutSpans(line string, spans []span) []string {
	runes := []rune(line)
	at := func(i int) int { return min(i, len(runes)) }
	if strings.TrimSpace(string(runes[:at(spans[0].from)])) != "" {
		return nil
	}
	cells := make([]string, len(spans))
	for i, s := range spans {
		to := at(s.to)
		if i == len(spans)-1 {
			to = len(runes)
		} else if strings.TrimSpace(string(runes[to:at(spans[i+1].from)])) != "" {
			return nil
		}
		cells[i] = strings.TrimSpace(string(runes[at(s.from):to]))
	}
	return cells
}

// cutWords splits a line at two or more spaces, for rows that do not match the
// rule: a wide value shifts the values after it, and editors change white
// space. It returns nil if the numbers of cells and columns differ, except for
// one column that may be empty.
func (o *openTable) cutWords(line string) []string {
	cells := words(line)
	if len(cells) == len(o.columns) {
		return cells
	}
	if len(cells) != len(o.columns)-1 {
		return nil
	}
	for i, c := range o.columns {
		if c.role != aLabel && c.role != theStack {
			continue
		}
		if full := slices.Insert(slices.Clone(cells), i, ""); o.classify(full) == good {
			return full
		}
	}
	return nil
}

// A lineKind is the kind of a line, determined from its cells.
type lineKind uint8

const (
	noRow        lineKind = iota
	good                  // a row
	doubtful              // a row with unreadable values
	continuation          // a continuation of the row before
)

// classify determines the kind of a line from its cells. It corrects swapped cells
// of stacks and operations.
func (o *openTable) classify(cells []string) lineKind {
	if cells == nil {
		return noRow
	}
	o.unswap(cells)
	filled, read, all := 0, 0, 0
	for i, c := range o.columns {
		if !c.role.numeric() {
			continue
		}
		all++
		if cells[i] == "" {
			continue
		}
		filled++
		if _, err := c.parse(cells[i]); err == nil || err == errTooLarge {
			read++
		}
	}
	stack := o.stack()
	switch {
	case filled == all && read == all && cells[0] != "":
		return good
	case filled == 0 && stack >= 0 && cells[stack] != "":
		return continuation
	case filled == all && 2*read >= all && cells[0] != "":
		return doubtful
	}
	return noRow
}

func (o *openTable) stack() int {
	return slices.IndexFunc(o.columns, func(c column) bool { return c.role == theStack })
}

// unswap corrects the cells of the columns "Source Location" and "Total FLOPs"
// if the profiler has swapped them: it lists the headers in one order and the
// values in the other.
func (o *openTable) unswap(cells []string) {
	stack := o.stack()
	ops := slices.IndexFunc(o.columns, func(c column) bool { return c.role == someFlops })
	if stack < 0 || ops < 0 || cells[ops] == "" {
		return
	}
	if _, err := o.columns[ops].parse(cells[ops]); err == nil {
		return
	}
	_, err := o.columns[ops].parse(cells[stack])
	if err == nil || cells[stack] == "" && o.swapped {
		cells[stack], cells[ops] = cells[ops], cells[stack]
		o.swapped = true
	}
}

// continueRow adds a line of a stack to the row before, or the rest of its name if
// someone broke the line there.
func (f *Finder) continueRow(o *openTable, cells []string) bool {
	if !o.kept {
		return false
	}
	if last := &o.rows[len(o.rows)-1]; cells[0] != "" && len(last.name)+len(cells[0]) < maxText {
		last.name += cells[0]
	}
	return f.frame(o, cells[o.stack()])
}

// continueName handles a line with the rest of a name, which may extend into the
// next column, and a line of the stack.
func (f *Finder) continueName(o *openTable, line string) bool {
	stack, cells := o.stack(), words(line)
	if o.spans == nil || stack < 0 || len(cells) != 2 || !strings.HasPrefix(line, "  ") {
		return false
	}
	if from := o.spans[stack].from; utf8.RuneCountInString(line[:strings.LastIndex(line, cells[1])]) != from {
		return false
	}
	full := make([]string, len(o.columns))
	full[0], full[stack] = cells[0], cells[1]
	return f.continueRow(o, full)
}

// maxFrames is the maximum number of lines of a stack, starting at the
// innermost.
const maxFrames = 16

func (f *Finder) frame(o *openTable, text string) bool {
	if last := &o.rows[len(o.rows)-1]; len(last.stack) < maxFrames && f.text >= len(text) {
		last.stack = append(last.stack, clip(text))
		f.text -= len(text)
	}
	return true
}

// keep adds a row.
func (f *Finder) keep(o *openTable, cells []string) {
	f.out.Records++
	r := row{name: cells[0], line: f.n, cells: make([]profile.Cell, len(cells))}
	for i, c := range o.columns {
		switch text := cells[i]; {
		case text == "":
		case c.role == aLabel:
			r.labels = append(r.labels, profile.Label{Key: c.key, Text: clip(text)})
		case c.role == theStack:
			r.stack = append(r.stack, clip(text))
		case c.role.numeric():
			cell, err := c.parse(text)
			if r.cells[i] = cell; err == errTooLarge {
				o.counts.unreadable.add(f.n)
			}
		}
	}
	if strings.HasSuffix(r.name, "...") && len(r.name) > len("...") {
		o.counts.cut.add(f.n)
	}
	o.noteShares(cells, &r)
	size := len(r.name)
	for _, l := range r.labels {
		size += len(l.Text)
	}
	for _, text := range r.stack {
		size += len(text)
	}
	if o.kept = f.rows > 0 && f.text >= size; !o.kept {
		o.pool(&r)
		return
	}
	f.rows, f.text = f.rows-1, f.text-size
	r.name = strings.Clone(r.name)
	o.rows = append(o.rows, r)
}

// noteShares stores the shares of a row for the comparison with its times.
func (o *openTable) noteShares(cells []string, r *row) {
	const most = 1 << 16
	for i, c := range o.columns {
		if c.role != aShare || len(o.shares) >= most {
			continue
		}
		t := o.timeOf(c)
		percent, ok := parseShare(cells[i])
		if ok && percent == percent && t >= 0 && r.cells[t].Known {
			o.shares = append(o.shares, printedShare{c.place, percent, r.cells[t].Value, resolution(cells[t]), r.line})
		}
	}
}

// pool adds a row over the limit to the sum of its kind.
func (o *openTable) pool(r *row) {
	k := ofCPU
	if o.onDevice(r) {
		k = ofDevice
	}
	if o.rest[k] == nil {
		o.rest[k] = make([]profile.Cell, len(r.cells))
	}
	for i := range r.cells {
		o.rest[k][i] = o.rest[k][i].Plus(r.cells[i])
	}
	o.left[k]++
}
