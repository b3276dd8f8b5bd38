package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/lazyregexp"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
)

// A functions is a table of functions with their self and total time.
type functions struct {
	*summary.Table
	calls *summary.Table // callers and callees; nil if the file has none
	unit  string         // of self and total
	whole int64          // the time of the profile: the largest total, or the sum of self if that is more
	own   int64          // the sum of self
	where string         // "" or " in FILE", if several profiles are judged
	rows  []functionRow

	// Files may have any number of rows, so none is looked for from the beginning.
	byName   map[string]int           // of rows
	byCaller map[string][]functionRow // of calls, the largest first
}

// A functionRow is one function. What is not known is -1.
type functionRow struct {
	name                     string // as the table has it
	file                     string // of its code; "" if only the name may say it
	foreign                  bool   // not the program's own code
	wait                     bool   // it waits
	self, total, count, mean int64
}

// profiles returns the tables of functions that have self times and totals, the
// largest first, and at most so many.
func (c *Evaluator) profiles() []functions {
	const most = 4
	var out []functions
	for i := range c.Tables {
		t := &c.Tables[i]
		self, total := t.Column("self"), t.Column("total")
		if t.Of != summary.OfFunction || self < 0 || total < 0 || len(t.Rows) == 0 {
			continue
		}
		f := functions{Table: t, unit: t.Columns[self].Unit}
		f.own, _ = t.Sum(self)
		f.whole = f.own
		for j := range t.Rows {
			row := rowOf(t, j, self, total)
			row.foreign = isLibrary(row.name) || isLibrary(row.file) || systemObject().MatchString(t.Rows[j].Labels["object"])
			row.wait = isWait(row.name)
			f.whole = max(f.whole, row.total)
			f.rows = append(f.rows, row)
		}
		if f.whole <= 0 {
			continue
		}
		for j := range c.Tables {
			if e := &c.Tables[j]; e.Of == summary.OfEdge && e.Input == t.Input && e.Number > t.Number && f.calls == nil {
				f.calls = e
			}
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b functions) int { return cmp.Compare(b.whole, a.whole) })
	if len(out) > most {
		out = out[:most]
	}
	for i := range out {
		out[i].index()
		if in := out[i].Input; len(out) > 1 && in >= 0 && in < len(c.Inputs) {
			out[i].where = " in " + c.Inputs[in].Path
		}
	}
	return out
}

// index finds rows by their names, and calls by who called.
func (f *functions) index() {
	f.byName = make(map[string]int, len(f.rows))
	for i, r := range f.rows {
		if _, again := f.byName[r.name]; !again {
			f.byName[r.name] = i
		}
	}
	if f.calls == nil {
		return
	}
	f.byCaller = make(map[string][]functionRow)
	self, total := f.calls.Column("self"), f.calls.Column("total")
	for i := range f.calls.Rows { // which are sorted by their totals
		caller := f.calls.Rows[i].Labels["caller"]
		if row := rowOf(f.calls, i, self, total); row.total > 0 && row.name != caller {
			f.byCaller[caller] = append(f.byCaller[caller], row)
		}
	}
}

// profilesOnly reports whether all tables are of profiles of functions.
func (c *Evaluator) profilesOnly() bool {
	return len(c.Tables) > 0 && !slices.ContainsFunc(c.Tables, func(t summary.Table) bool {
		return t.Of != summary.OfFunction && t.Of != summary.OfEdge && t.Of != summary.OfThread
	})
}

func rowOf(t *summary.Table, at, self, total int) functionRow {
	r := &t.Rows[at]
	known := func(column int) int64 {
		if n, ok := r.Value(column); ok {
			return n
		}
		return -1
	}
	out := functionRow{name: r.Name, file: r.Labels["file"], self: known(self), total: known(total), count: known(t.Column("count")), mean: known(t.Column("mean"))}
	if out.mean < 0 && out.total >= 0 && out.count > 0 {
		out.mean = out.total / out.count
	}
	return out
}

// placed matches names as "dir/app.py:118 Server.verify".
var placed = lazyregexp.New(`^(?:.*[/\\])?([^/\\]+:\d+) (.+)$`)

// String names a function in a sentence: "Server.verify" (app.py:118).
func (r functionRow) String() string { return called(r.name) }

func called(name string) string {
	if m := placed().FindStringSubmatch(name); m != nil {
		return fmt.Sprintf("%q (%s)", finding.Short(m[2]), finding.Short(m[1]))
	}
	return fmt.Sprintf("%q", finding.Short(name))
}

// libraries matches the names and files of functions that are not of the program
// under profile: of Python's own library and what pip has installed, built-in
// functions, PyTorch, Go's runtime and library. yappi cuts names on the left.
var libraries = lazyregexp.New(`(^|/|\.\.[a-z]*)(py)?thon3?[\d.]*/|lib/python\d|(site|dist)-packages/|^(\.\.)?(\S*/)?asyncio/|^<|^\{|^torch/|^nn\.Module:|^autograd::|^runtime\.|/go/src/|^\(no stack\)`)

// systemObject matches the libraries that a system has.
var systemObject = lazyregexp.New(`^/(usr/)?(local/)?lib\w*/`)

func isLibrary(name string) bool { return name != "" && libraries().MatchString(beginning(name)) }

// beginning is what is looked at of a name: far more than any path has. Tables may
// have many megabytes of names, and an expression takes a second for each ten.
func beginning(name string) string {
	const most = 8 << 10
	return name[:min(len(name), most)]
}

// complete reports whether most of the time is put down to functions that the
// table has. Logs of NeMo Gym have the functions of one file only, and what those
// call is missing.
func (f *functions) complete() bool { return f.own >= f.whole/2 }

// isTime reports whether the values are durations.
func (f *functions) isTime() bool { return f.unit == "ns" }

// amount prints a value of self or total.
func (f *functions) amount(n int64) string {
	switch f.unit {
	case "ns":
		return unit.Duration(n)
	case "bytes":
		return unit.Bytes(n)
	case "count", "":
		return unit.Count(n)
	}
	return unit.Count(n) + " " + f.unit
}

// noun says what the values are.
func (f *functions) noun() string {
	switch f.unit {
	case "ns":
		return "time"
	case "bytes":
		return "bytes"
	}
	return "samples"
}

// of formats a share with its numerator and denominator: "99.4% of total time
// (17.88 s of 17.98 s)".
func (f *functions) of(n int64) string {
	return unit.Share(n, f.whole) + " of total " + f.noun() + " (" + f.amount(n) + " of " + f.amount(f.whole) + ")"
}

// described says what a function cost in the words of evidence.
func (f *functions) described(r functionRow) string {
	parts := []string{}
	if r.total >= 0 {
		parts = append(parts, f.amount(r.total)+" total")
	}
	if r.self >= 0 {
		parts = append(parts, f.amount(r.self)+" self")
	}
	if r.count >= 0 {
		parts = append(parts, label.Plural(r.count, "call"))
	}
	if r.mean >= 0 && f.isTime() {
		parts = append(parts, unit.Duration(r.mean)+" each")
	}
	return strings.Join(parts, ", ")
}

// waits matches the functions that wait for time, other threads, files or the
// network, by the last part of their names.
var waits = lazyregexp.New(`(^|[^\w])(sleep|select|poll|epoll_wait|kevent|control|acquire|recv\w*|accept|connect|wait|wait_for|waitpid|getaddrinfo|do_handshake|_wait_for_tstate_lock)\b|'read' of '_ssl|^runtime\.(futex|notetsleepg?|netpoll|usleep)$`)

// isWait reports whether the function of a name waits.
func isWait(name string) bool {
	if !strings.HasPrefix(name, "{") {
		name = name[strings.LastIndexByte(name, ' ')+1:]
	}
	return waits().MatchString(beginning(name))
}

// places names functions of a profile.
func (f *functions) places(rows ...functionRow) (out []finding.Place) {
	for _, r := range rows[:min(finding.MostPlaces, len(rows))] {
		at := finding.Place{Input: f.Input, Row: r.name}
		if f.isTime() {
			at.NS = max(0, r.total)
		}
		out = append(out, at)
	}
	return out
}
