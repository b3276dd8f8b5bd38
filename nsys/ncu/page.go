package ncu

import (
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
)

// Pages in text form are what ncu prints without --csv: for each launch a head line with the kernel, then tables with
// rules of dashes, by section or, for raw pages, one without a section, and the conclusions of rules.

var (
	// shapedHead matches the head of a launch. Names of kernels have parentheses, too: the last shape counts.
	shapedHead = lazyregexp.New(`^\s*(\S.*?) ?(\(\d+, \d+, \d+\))x(\(\d+, \d+, \d+\)), (.*)$`)
	// datedHead matches the head of a launch until 2022, which has a date instead of a shape.
	datedHead = lazyregexp.New(`^\s*(\S.*), \d{4}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2}, (Context \d.*)$`)
	// processHead matches the line before the launches of a process: "[1765] python3.12@127.0.0.1".
	processHead = lazyregexp.New(`^\s*\[(\d{1,9})\] (\S.*)@(\S+)\s*$`)
	pageTitles  = lazyregexp.New(`^\s*Metric Name\s+Metric Unit\s+(?:Metric Value|Minimum\s+Maximum\s+Average)\s*$`)
	dashes      = lazyregexp.New(`^\s*-{3,}(?: -{3,})+\s*$`)
	conclusion  = lazyregexp.New(`^\s+(OPT|INF|WRN|ERR)   +(\S.*)$`)
	speedup     = lazyregexp.New(`^Est\. (Local )?Speedup: (\d+(?:\.\d+)?)%\s*`)
)

// A textPage is the state between the lines of pages in text form.
type textPage struct {
	pid, process, section string

	bounds []int     // of the columns of the table: begin and end of each run of dashes
	titled bool      // the last line was the header of a table
	open   bool      // the rows of a table follow
	row    [3]string // name, unit and value of the last row, whose cells may continue
	inPage bool      // a head was read
	rule   *Rule     // whose text may continue
}

// isPageTitles reports whether a line is the header of a table of a page in text form.
func isPageTitles(line string) bool {
	return strings.Contains(line, "Metric Unit") && pageTitles().MatchString(line)
}

// textLine takes a line of a page in text form. It returns false for other lines.
func (r *reader) textLine(line string) bool {
	p := &r.text
	if r.textHead(line) {
		return true
	}
	if m := processHead().FindStringSubmatch(line); m != nil {
		r.endPart()
		p.pid, p.process, p.inPage, p.open = strings.Clone(m[1]), strings.Clone(m[2]), false, false
		return p.pid != ""
	}
	if !p.inPage {
		return false
	}
	trimmed := strings.TrimSpace(line)
	switch {
	case dashes().MatchString(line):
		r.endPart()
		p.bounds = boundsOf(line)
		p.open, p.titled = p.titled && len(p.bounds) >= 6, false
	case isPageTitles(line):
		r.endPart()
		p.titled, p.open = true, false
	case strings.HasPrefix(trimmed, "Section: "):
		r.endPart()
		p.section, p.open = strings.Clone(strings.TrimSpace(trimmed[len("Section: "):])), false
	case p.open:
		r.textRow(line)
	case trimmed == "":
		r.endPart()
	default:
		r.textRule(line)
	}
	return true
}

// textHead begins a launch if a line is the head of one.
func (r *reader) textHead(line string) bool {
	var name, grid, block, rest string
	if at := strings.LastIndex(line, ")x("); at > 0 {
		from := strings.LastIndex(line[:at], " (") // the last shape
		if from < 0 {
			return false
		}
		m := shapedHead().FindStringSubmatch("k" + line[from:])
		if m == nil {
			return false
		}
		name, grid, block, rest = strings.TrimSpace(line[:from]), m[2], m[3], m[4]
	} else if strings.Contains(line, ", Context ") {
		m := datedHead().FindStringSubmatch(line)
		if m == nil {
			return false
		}
		name, rest = m[1], m[2]
	}
	if name == "" || !strings.HasPrefix(rest, "Context ") && !strings.HasPrefix(rest, "Device ") {
		return false
	}
	r.endPart()
	facts := map[string]string{}
	for part := range strings.SplitSeq(rest, ", ") {
		key, value, _ := strings.Cut(part, " ")
		facts[key] = strings.TrimSpace(value)
	}
	p := &r.text
	p.section, p.open, p.inPage, p.bounds = "", false, true, nil
	r.table, r.joined, r.last = nil, nil, nil
	r.note("values-rounded", diag.Info, "Pages in text form have values with two decimals: a duration of 1.70 us may be off by 0.3%. Print with --csv --print-units base for exact values.")
	n, ok := r.b.Launch(Launch{Kernel: name, Process: p.process, Capability: facts["CC"], PID: whole(p.pid),
		Device: whole(facts["Device"]), Context: whole(facts["Context"]), Stream: whole(facts["Stream"]),
		Grid: dim(grid), Block: dim(block), Count: whole(facts["Invocations"])}, r.pos())
	if r.launch = n; !ok {
		r.full = true
	}
	return true
}

// boundsOf returns the begin and the end of each run of dashes.
func boundsOf(line string) (out []int) {
	for i := 0; i < len(line); i++ {
		if line[i] == '-' && (i == 0 || line[i-1] != '-') {
			out = append(out, i)
		}
		if line[i] == '-' && (i+1 == len(line) || line[i+1] != '-') {
			out = append(out, i+1)
		}
	}
	return out
}

// textRow takes a row of a table: the columns are the name, the unit and the values; the average is the last.
// Cells that are wider than their column continue in the next line.
func (r *reader) textRow(line string) {
	p := &r.text
	b, n := p.bounds, len(p.bounds)
	cell := func(from, to int) string { return strings.TrimSpace(line[min(from, len(line)):min(to, len(line))]) }
	name, unit, value := cell(0, b[1]), cell(b[1], b[3]), cell(b[n-3], len(line))
	switch {
	case name == "" && unit == "" && value == "":
		r.endRow()
		p.open = false // the rule of dashes at the end is missing
	case name == "" && p.row[0] != "":
		p.row[1], p.row[2] = p.row[1]+unit, p.row[2]+value
	case unit == "" && value == "" && len(p.row[0]) >= b[1]-b[0] && len(p.row[0]) < MaxName:
		p.row[0] += name
	case name == "":
		r.malformed()
	default:
		r.endRow()
		p.row = [3]string{strings.Clone(name), strings.Clone(unit), strings.Clone(value)}
	}
}

// endRow adds the metric of the open row.
func (r *reader) endRow() {
	row := r.text.row
	if r.text.row = [3]string{}; row[0] != "" && r.launch >= 0 {
		r.rows++
		r.metric(r.text.section, row[0], row[1], row[2])
	}
}

// textRule takes a line of the conclusion of a rule.
func (r *reader) textRule(line string) {
	p := &r.text
	m := conclusion().FindStringSubmatch(line)
	if m == nil {
		if p.rule != nil && len(p.rule.Text) < MaxText {
			p.rule.Text = strings.TrimSpace(p.rule.Text + " " + strings.TrimSpace(line))
		}
		return
	}
	r.endPart()
	p.rule = &Rule{Name: p.section, Type: m[1], Text: strings.TrimSpace(m[2])}
	if s := speedup().FindStringSubmatch(p.rule.Text); s != nil {
		p.rule.Text, p.rule.SpeedupKind = p.rule.Text[len(s[0]):], "global"
		if s[1] != "" {
			p.rule.SpeedupKind = "local"
		}
		if n, ok := r.numbers.number(s[2], true); ok {
			p.rule.Speedup = min(n.value, 100)
		}
	}
}

// endPart adds the open row and the open conclusion to their launch.
func (r *reader) endPart() {
	r.endRow()
	if rule := r.text.rule; rule != nil && r.launch >= 0 {
		rule.Text = strings.Clone(rule.Text)
		r.b.AddRule(r.launch, *rule, r.pos())
	}
	r.text.rule = nil
}
