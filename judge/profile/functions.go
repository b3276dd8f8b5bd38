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

// A functions is one profile: a table of functions with their self and total values.
type functions struct {
	*summary.Table
	calls *summary.Table // callers and callees; nil if the file has none
	unit  string         // unit of self and total
	whole int64          // value of the whole profile: the largest total, or the sum of self if that is larger
	own   int64          // sum of self
	where string         // " in FILE" if several profiles are judged, else ""
	rows  []functionRow

	// Files may have any number of rows, so lookups use an index.
	byName   map[string]int           // indexes of rows
	byCaller map[string][]functionRow // rows of calls by caller, the largest first
}

// A functionRow is one function. Unknown values are -1.
type functionRow struct {
	name                     string // as in the table
	file                     string // file of its code; "" if the table has no such column
	foreign                  bool   // library code, not the program's own
	wait                     bool   // it waits instead of computing
	native                   bool   // over half of its own time is in compiled code that it calls
	line                     string // the line with most of its time and the share of it; "" if unknown
	self, total, count, mean int64
}

// profiles returns the tables of functions that have self and total values: the largest ones,
// because a run can have hundreds.
func (c *Evaluator) profiles() []functions {
	const most = 4
	var out []functions
	for i := range c.Tables {
		t := &c.Tables[i]
		self, total := t.Column("self"), t.Column("total")
		if t.Of != summary.OfFunction || self < 0 || len(t.Rows) == 0 {
			continue
		}
		f := functions{Table: t, unit: t.Columns[self].Unit}
		f.own, _ = t.Sum(self)
		f.whole = f.own
		for j := range t.Rows {
			row := rowOf(t, j, self, total)
			row.foreign = isLibrary(row.name) || isLibrary(row.file) || systemObject().MatchString(t.Rows[j].Labels["object"])
			row.wait = isWait(row.name) || isWaitIn(row.name, row.file)
			if python, ok := t.Rows[j].Value(t.Column("python")); ok {
				row.native = 2*python < row.self
			}
			row.line = t.Rows[j].Labels["largest line"]
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

// index builds byName and byCaller.
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
	for i := range f.calls.Rows { // sorted by their totals, so byCaller is as well
		caller := f.calls.Rows[i].Labels["caller"]
		if row := rowOf(f.calls, i, self, total); row.total > 0 && row.name != caller {
			f.byCaller[caller] = append(f.byCaller[caller], row)
		}
	}
}

// profilesOnly reports whether all tables belong to profiles of functions.
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
	out := functionRow{name: r.Name, file: r.Labels["file"], self: known(self), total: known(total),
		count: known(t.Column("count")), mean: known(t.Column("mean"))}
	if out.mean < 0 && out.total >= 0 && out.count > 0 {
		out.mean = out.total / out.count
	}
	return out
}

// placed matches names with a place, such as "dir/app.py:118 Server.verify".
var placed = lazyregexp.New(`^(?:.*[/\\])?([^/\\]+:\d+) (.+)$`)

// String returns a function for a sentence: "Server.verify" (app.py:118).
func (r functionRow) String() string {
	if called := called(r.name); !scriptFile().MatchString(beginning(r.file)) || placed().MatchString(r.name) {
		return called
	}
	file := r.file[strings.LastIndexAny(r.file, `/\`)+1:]
	return fmt.Sprintf("%q (%s)", finding.Short(r.name), finding.Short(file))
}

// scriptFile matches files of code whose functions are known by a short name, which many files have.
var scriptFile = lazyregexp.New(`\.(py|pyx|js|mjs|ts)$`)

func called(name string) string {
	if m := placed().FindStringSubmatch(name); m != nil {
		return fmt.Sprintf("%q (%s)", finding.Short(m[2]), finding.Short(m[1]))
	}
	return fmt.Sprintf("%q", finding.Short(name))
}

// libraries matches names and files of functions that are not the program's own code: Python's
// standard library, packages that pip installed, built-in functions, PyTorch, Go's runtime and
// library. Yappi truncates names on the left, hence the shortened "python".
var libraries = lazyregexp.New(`(^|/|\.\.[a-z]*)(py)?thon3?[\d.]*/|lib/python\d|(site|dist)-packages/|^(\.\.)?(\S*/)?asyncio/|^<|^\{|^torch/|^nn\.Module:|^autograd::|^(threading|selectors|subprocess)\.py|^(multiprocessing|concurrent/futures)/|^runtime\.|/go/src/|^\(no stack\)`)

// systemObject matches paths of system libraries.
var systemObject = lazyregexp.New(`^/(usr/)?(local/)?lib\w*/`)

func isLibrary(name string) bool { return name != "" && libraries().MatchString(beginning(name)) }

// beginning cuts a name to a length that no path exceeds. Tables may have megabytes of names, and a
// regular expression needs a second for ten of them.
func beginning(name string) string {
	const most = 8 << 10
	return name[:min(len(name), most)]
}

// complete reports whether the table has functions for at least half of the time. Logs of NeMo Gym
// list the functions of one file only, without their callees.
func (f *functions) complete() bool { return f.own >= f.whole/2 }

// counted reports whether the values are numbers of events, such as page faults, whose samples do not follow the time.
func (f *functions) counted() bool { return f.unit == "events" }

// mostlyIdle reports whether the program, of one thread, had nothing to do for more than half of the recording. That
// other CPUs were idle at the same time means nothing.
func (f *functions) mostlyIdle() bool {
	return f.Idle > f.own && f.Clock != summary.ClockCPU && f.Tool != "perf-script"
}

// idle tells how much of the recording no code ran, or returns "".
func (f *functions) idle() string {
	if f.Idle <= 0 {
		return ""
	}
	all := summary.Plus(f.Idle, f.own)
	return fmt.Sprintf("; idle for %s of the recording (%s of %s)", unit.Share(f.Idle, all), f.amount(f.Idle), f.amount(all))
}

// waits reports whether the values include what functions wait: durations that are not of the CPU clock, and samples at
// a steady rate.
func (f *functions) waits() bool {
	return f.isTime() && f.Clock != summary.ClockCPU || f.unit == "count" && f.Tool != "perf-script"
}

// isTime reports whether the values are durations.
func (f *functions) isTime() bool { return f.unit == "ns" }

// amount prints a value of self or total.
func (f *functions) amount(n int64) string {
	switch f.unit {
	case "ns":
		return unit.Duration(n)
	case "bytes":
		return unit.Bytes(n)
	case "count", "", "events":
		return unit.Count(n)
	}
	return unit.Count(n) + " " + f.unit
}

// noun names the values.
func (f *functions) noun() string {
	switch f.unit {
	case "ns":
		return "time"
	case "bytes":
		return "bytes"
	case "events":
		return f.Name
	}
	return "samples"
}

// shareOfWhole prints a share with its numerator and denominator: "99.4% of total time (17.88 s of
// 17.98 s)".
func (f *functions) shareOfWhole(n int64) string {
	return unit.Share(n, f.whole) + " of total " + f.noun() + " (" + f.amount(n) + " of " + f.amount(f.whole) + ")" + f.idle()
}

// described prints the values of a function for evidence.
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

// waits matches functions that wait for time, other threads, files or the network, by the last part
// of their names.
var waits = lazyregexp.New(`(^|[^\w])(sleep|select|poll|epoll_wait|kevent|control|acquire|recv\w*|accept|connect|wait|wait_for|waitpid|getaddrinfo|do_handshake|_wait_for_tstate_lock)\b|'read' of '_ssl|^runtime\.(futex|notetsleepg?|netpoll|usleep)$`)

// isWait reports whether the function of this name waits.
func isWait(name string) bool {
	if !strings.HasPrefix(name, "{") {
		name = name[strings.LastIndexByte(name, ' ')+1:]
	}
	return waits().MatchString(beginning(name))
}

// waitFiles matches files of Python's library whose functions wait for threads, processes and queues, and waitNames
// those functions. Samplers list neither the built-in functions nor the system calls that wait below them.
var (
	waitFiles = lazyregexp.New(`(^|/)(threading|queue|selectors|subprocess|socket|multiprocessing/(connection|popen_\w+|process|pool|queues|synchronize)|concurrent/futures/(_base|thread|process)|asyncio/(base_)?events)\.py$`)
	waitNames = lazyregexp.New(`^([\w.]*\.)?_?(join|wait|wait_for|poll|select|get|put|acquire|__enter__|recv|recv_bytes|recv_into|readinto|accept|result|communicate|try_wait|worker|wait_for_tstate_lock|handle_workers|handle_tasks|handle_results)$`)
)

// isWaitIn reports whether the function of this name in a file waits.
func isWaitIn(name, file string) bool {
	return waitFiles().MatchString(beginning(file)) && waitNames().MatchString(beginning(name))
}

// places returns the first functions as places.
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
