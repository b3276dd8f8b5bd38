package pyprof

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
)

// maxEvents is the maximum number of kinds of events in a file. Valgrind has about
// thirty.
const maxEvents = 64

// callgrindKey matches the lines of the header.
var callgrindKey = lazyregexp.New(`^(version|creator|pid|cmd|part|desc|positions|events?|summary|totals|thread|rectotals|timerange)\s*:\s*(.*?)\s*$`)

// SniffCallgrind reports whether a file that begins with prefix is a callgrind file:
// it has the header line with the counted events, the first line of Valgrind, or a
// header that is longer than prefix.
func SniffCallgrind(prefix []byte) bool {
	keys := 0
	for line := range strings.Lines(strings.TrimPrefix(string(prefix), "\ufeff")) {
		line = strings.TrimRight(line, "\r\n")
		var m []string
		if line != "" && 'a' <= line[0] && line[0] <= 'z' { // as all keys begin
			m = callgrindKey().FindStringSubmatch(line)
		}
		switch {
		case strings.HasPrefix(line, "# callgrind format"):
			return true
		case m != nil && m[1] == "events":
			return m[2] != ""
		case m != nil:
			keys++
		case line == "", strings.HasPrefix(line, "#"):
		default:
			return false
		}
	}
	const longHeader = 2 << 10 // of a command with many arguments
	return keys > 1 && len(prefix) >= longHeader
}

// ReadCallgrind reads a callgrind file. It has the self costs of functions and the
// costs of calls, from which ReadCallgrind computes totals. Costs of lines and
// instructions are added up by function; jumps are ignored. Name is the name of the
// input for messages. If the input fails, ReadCallgrind returns the tables read so far
// together with the error.
func ReadCallgrind(in io.Reader, name string, limits Limits) (*profile.Tables, error) {
	r := callgrindReader{
		lineReader: newLineReader(in, name), graph: newGraph(cmp.Or(limits.Memory, defaultMemory)),
		out: &profile.Tables{Tool: "callgrind", Complete: true}, positions: 1,
	}
	err := r.each(r.line)
	if len(r.graph.functions) == 0 {
		if err == nil {
			err = &diag.Error{Pos: diag.Pos{File: name, Line: 1}, Msg: "no cost of any function; the profiler was started and stopped without work between, or the file is cut"}
		}
		return nil, err
	}
	r.out.Complete = err == nil
	if why := r.cut(); err == nil && why != "" {
		r.out.Complete = false
		r.issue("input-truncated", diag.DataLoss, "The file is cut: "+why+". Functions after this position are missing. Copy it again, or let the profiler write it to its end.")
	}
	r.check()
	r.out.List = r.graph.tables(r.out.Tool, limits, &r.issues)
	r.out.Issues = r.issues.Issues()
	return r.out, err
}

// names maps numbers to the names of one kind (files, functions or objects) for which
// the file uses them.
type names map[string]string

// A callgrindReader reads one file.
type callgrindReader struct {
	*lineReader
	graph *graph
	out   *profile.Tables

	files, objects, functions names
	positions                 int   // numbers before the costs of a line
	totals, summary           int64 // sums of the first event that the file states: after its records, and before them
	summed, summarized        bool
	begun                     bool // a record has begun, and its costs were not read yet
	full                      bool // the last line has the maximum number of costs
	valgrind                  bool // Valgrind wrote the file, and it ends each with the totals

	object, file, function string // of the function whose costs follow
	source                 string // the file that costs are of, which inlining changes
	at                     int32  // the function, or -1 before its first cost

	calledObject, calledFile string
	called                   string // function of the next call, "" if the file does not name it
	calling                  bool   // the next line has the cost of a call
	calls                    int64
	skip                     bool // the next line is the end of a jump
}

func (r *callgrindReader) line(line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	r.full = false
	if c := line[0]; c >= '0' && c <= '9' || c == '+' || c == '-' || c == '*' {
		r.costs(line)
		return nil
	}
	if key, value, ok := strings.Cut(line, "="); ok && r.record(key, value) {
		return nil
	}
	if m := callgrindKey().FindStringSubmatch(line); m != nil {
		return r.header(m[1], m[2])
	}
	r.malformed("that are neither costs nor names")
	return nil
}

func (r *callgrindReader) malformed(which string) {
	r.issue("callgrind-line-malformed", diag.DataLoss, "Lines "+which+" were skipped. Costs on them are missing from every total. Write the profile again.")
}

func (r *callgrindReader) header(key, value string) error {
	switch key {
	case "creator":
		r.creator(value)
	case "positions":
		if n := len(strings.Fields(value)); n > 0 && n <= 2 {
			r.positions = n
		}
	case "events":
		return r.events(strings.Fields(value))
	case "totals":
		if fields := strings.Fields(value); len(fields) > 0 {
			if n, ok := r.number(fields[0]); ok {
				r.totals, r.summed = profile.Plus(r.totals, n), true
			}
		}
	case "summary":
		if fields := strings.Fields(value); len(fields) > 0 && r.valgrind {
			if n, ok := r.number(fields[0]); ok {
				r.summary, r.summarized = profile.Plus(r.summary, n), true
			}
		}
	}
	return nil
}

// cut returns the sign that the file ends early, or "". A cut between two records
// cannot be seen if the program writes no totals.
func (r *callgrindReader) cut() string {
	switch {
	case r.calling:
		return "the cost of the last call is missing"
	case r.begun:
		return "the last record has no costs"
	case r.open && (r.out.Tool != "yappi" || !r.full): // yappi ends no file with a line feed
		return "nothing ends its last line"
	case r.valgrind && !r.summed:
		return "the line of totals is missing"
	}
	return ""
}

// creator records the program that wrote the file: "yappi", "callgrind-3.19.0".
func (r *callgrindReader) creator(value string) {
	name, _, _ := strings.Cut(strings.ToLower(value), " ")
	name, version, _ := strings.Cut(name, "-")
	r.valgrind = name == "callgrind" && version != ""
	if name != "" && len(name) < 40 {
		r.out.Tool = name
	}
}

// events records the kinds of counted events. All parts of a file must have the same.
func (r *callgrindReader) events(names []string) error {
	var list []event
	for _, n := range names {
		list = append(list, r.event(n))
	}
	switch {
	case len(list) == 0 || len(list) > maxEvents:
		return &diag.Error{Pos: r.pos(), Msg: fmt.Sprintf("%d events, want 1 to %d", len(list), maxEvents)}
	case len(r.graph.events) == 0:
		r.graph.events = list
	case len(r.graph.events) != len(list):
		return &diag.Error{Pos: r.pos(), Msg: fmt.Sprintf("a part that counts %d events behind one that counts %d", len(list), len(r.graph.events))}
	}
	return nil
}

// event returns the unit of an event by its name. yappi calls microseconds
// ticks.
func (r *callgrindReader) event(name string) event {
	e := event{name: strings.Clone(name), unit: "count", size: 1}
	switch lower := strings.ToLower(name); {
	case lower == "ticks" && r.out.Tool == "yappi", lower == "microseconds", lower == "us", lower == "time" && r.out.Tool == "xdebug":
		e.unit, e.size = nanoseconds, 1000
	case lower == "time_(10ns)":
		e.unit, e.size = nanoseconds, 10
	case lower == "nanoseconds", lower == "ns":
		e.unit = nanoseconds
	case strings.HasPrefix(lower, "memory"), strings.HasPrefix(lower, "bytes"):
		e.unit = "bytes"
	}
	return e
}

// record handles a line that names a file, function, object or call, and reports
// whether the line is one.
func (r *callgrindReader) record(key, value string) bool {
	switch key {
	case "ob":
		r.object, _ = r.name(&r.objects, value)
	case "fl":
		r.file, _ = r.name(&r.files, value)
		r.source = r.file
	case "fi", "fe":
		r.source, _ = r.name(&r.files, value)
	case "fn":
		known := false
		if r.function, known = r.name(&r.functions, value); !known {
			r.issue("callgrind-name-unknown", diag.Suspect, "")
		}
		r.at, r.begun = -1, true
	case "cob":
		r.calledObject, _ = r.name(&r.objects, value)
	case "cfi", "cfl":
		r.calledFile, _ = r.name(&r.files, value)
	case "cfn":
		known := false
		r.begun = true
		if r.called, known = r.name(&r.functions, value); !known {
			r.called = ""
			r.issue("callgrind-callee-unknown", diag.Info, "")
		}
	case "calls":
		count, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		n, ok := r.number(count)
		if !ok {
			r.malformed("whose number of calls is not a number")
		}
		r.calling, r.calls, r.begun = true, n, false
	case "jump", "jcnd":
		r.skip = true
	case "jfi", "jfn":
	default:
		return false
	}
	return true
}

// name returns the name that "(7) name", "(7)" or "name" refers to. An undefined
// number is returned as it is.
func (r *callgrindReader) name(of *names, text string) (name string, known bool) {
	text = strings.TrimSpace(text)
	number, rest, ok := strings.Cut(text, ")")
	if !ok || len(number) < 2 || number[0] != '(' || strings.Trim(number[1:], "0123456789") != "" {
		return strings.Clone(text), true
	}
	if *of == nil {
		*of = make(names)
	}
	if rest = strings.TrimSpace(rest); rest != "" {
		if r.graph.full() {
			return strings.Clone(rest), true // its function has no room either
		}
		r.graph.budget -= int64(len(text)) + 96
		(*of)[strings.Clone(number[1:])] = strings.Clone(rest)
		return rest, true
	}
	if have, ok := (*of)[number[1:]]; ok {
		return have, true
	}
	return strings.Clone(text), r.graph.full()
}

func (r *callgrindReader) number(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 0, 64)
	if strings.HasPrefix(text, "0") && !strings.HasPrefix(text, "0x") {
		n, err = strconv.ParseInt(text, 10, 64) // no octal
	}
	return n, err == nil && n >= 0
}

// costs handles a line of positions and costs. The file may omit zeros at its end.
func (r *callgrindReader) costs(line string) {
	if r.skip {
		r.skip = false
		return
	}
	calling := r.calling
	r.calling = false
	fields := strings.Fields(line)
	r.full = len(fields) == r.positions+len(r.graph.events) && !calling
	r.begun = len(fields) <= r.positions && r.begun
	if len(r.graph.events) == 0 || r.function == "" || len(fields) < r.positions || len(fields) > r.positions+len(r.graph.events) {
		r.malformed("with costs of no function, or with more costs than there are events")
		return
	}
	values := make([]int64, 0, maxEvents)
	for i, text := range fields[r.positions:] {
		n, ok := r.number(text)
		size := r.graph.events[i].size
		if !ok || n > (1<<62)/size {
			r.malformed("with costs that are not numbers or exceed 64 bits")
			return
		}
		values = append(values, n*size)
	}
	r.out.Records++
	if r.at < 0 {
		r.at = r.graph.function(r.identity(r.object, r.file, r.function))
	}
	if calling {
		r.call(values)
		return
	}
	f := &r.graph.functions[r.at]
	f.selfKnown = true
	add(f.self, values)
}

func add(to, values []int64) {
	for i, n := range values {
		to[i] = profile.Plus(to[i], n)
	}
}

// call handles the cost of calls. If the line does not state the file or object of the
// callee, they are those of the current function.
func (r *callgrindReader) call(values []int64) {
	object, file := r.calledObject, r.calledFile
	if object == "" {
		object = r.object
	}
	if file == "" {
		file = r.source
	}
	r.calledObject, r.calledFile = "", ""
	if r.called == "" {
		f := &r.graph.functions[r.at]
		if f.unnamed == nil {
			f.unnamed = make([]int64, len(r.graph.events))
		}
		add(f.unnamed, values)
		return
	}
	callee := r.graph.function(r.identity(object, file, r.called))
	e := r.graph.edge(r.at, callee)
	e.count = e.count.Plus(profile.Known(r.calls))
	e.totalKnown = true
	add(e.total, values)
}

// identity returns the id of a function. yappi writes file and line after the name.
func (r *callgrindReader) identity(object, file, name string) id {
	f := id{name: name, file: file, object: object}
	if file == "???" {
		f.file = ""
	}
	if at := strings.LastIndex(name, " "+file+":"); at > 0 && file != "" {
		if line, err := strconv.ParseInt(name[at+len(file)+2:], 10, 32); err == nil {
			f.name, f.file = function(file, line, name[:at]), ""
		}
	}
	return f
}

// check computes the totals and adds issues for sums that do not match.
func (r *callgrindReader) check() {
	missing, circular := r.graph.sumTotals()
	first := diag.Pos{File: r.input, Line: 1}
	r.issues.AddN(diag.Issue{Code: "calls-missing", Severity: diag.Info, First: first}, missing)
	r.issues.AddN(diag.Issue{Code: "recursion-total-unknown", Severity: diag.Info, First: first}, circular)
	var sum int64
	for i := range r.graph.functions {
		sum = profile.Plus(sum, r.graph.functions[i].self[0])
	}
	if !r.summed && r.summarized {
		r.totals, r.summed = r.summary, true
	}
	if size := r.graph.events[0].size; r.summed && sum/size != r.totals {
		r.issues.AddN(diag.Issue{Code: "callgrind-totals-differ", Severity: diag.Suspect, First: first}, 1)
	}
}
