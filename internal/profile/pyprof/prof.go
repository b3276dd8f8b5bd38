package pyprof

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"

	"assay/internal/diag"
	"assay/internal/profile"
)

// maxCalls is the maximum number of calls of one file, because a small file can refer to
// one dict of callers many times.
const maxCalls = 1 << 21

// SniffProf reports whether a file that begins with prefix can be loaded by Python's
// pstats: a marshalled dict whose keys are tuples of file, line and function.
func SniffProf(prefix []byte) bool {
	if len(prefix) < 2 || prefix[0]&^flagRef != typeDict {
		return false
	}
	switch prefix[1] &^ flagRef {
	case typeSmallTuple:
		return len(prefix) > 2 && prefix[2] == 3
	case typeTuple:
		return len(prefix) > 5 && string(prefix[2:6]) == "\x03\x00\x00\x00"
	case typeNull:
		return len(prefix) == 2
	}
	return false
}

// ReadProf reads the files that cProfile writes with -o or dump_stats, and yappi with
// save(type="pstat"): exact times of functions and of their calls. Name is the name of
// the input for messages. If the input fails, ReadProf returns the tables read so far
// together with the error.
func ReadProf(in io.Reader, name string, limits Limits) (*profile.Tables, error) {
	m := &marshalReader{name: name, in: bufio.NewReaderSize(in, 64<<10), budget: cmp.Or(limits.Memory, defaultMemory)}
	r := profReader{
		marshalReader: m, graph: newGraph(cmp.Or(limits.Memory, defaultMemory)), out: &profile.Tables{Tool: "pstats"},
	}
	r.graph.events = []event{{unit: nanoseconds, size: 1}}
	r.graph.primitive = true
	kind, ref, err := m.kind()
	if err == nil && kind != typeDict {
		err = m.fail("not a dict, which a file of pstats is")
	}
	if err != nil {
		return nil, err
	}
	if ref {
		m.refs = append(m.refs, nil)
	}
	err = m.entries(0, r.entry)
	if err != nil && len(r.graph.functions) == 0 {
		return nil, err
	}
	r.out.Complete = err == nil
	at := diag.Pos{File: name, Offset: m.at}
	switch damage := (*diag.Error)(nil); {
	case err == nil:
		r.tail()
	case m.limited:
		return nil, err
	case errors.Is(err, errCut):
		r.issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: at,
			Help: "The file ends within a value, and the rest is missing. Copy it again, or let the profiler write it to its end."})
	case errors.As(err, &damage):
		r.issues.Add(diag.Issue{Code: "input-damaged", Severity: diag.Suspect, First: damage.Pos,
			Help: fmt.Sprintf("The file is damaged here (%s). The %d functions before this position were read, and the rest is missing. Copy it again.", damage.Msg, r.out.Records)})
	default: // an error of the input itself
		r.issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: at,
			Help: "The input could not be read to its end (" + err.Error() + "). The rest is missing. Copy it again."})
	}
	r.out.List = r.graph.tables("pstats", limits, &r.issues)
	r.out.Issues = r.issues.Issues()
	return r.out, nil
}

// tail adds an issue if anything follows the dict. Python writes nothing after it.
func (r *profReader) tail() {
	at := diag.Pos{File: r.name, Offset: r.at}
	_, err := r.in.Peek(1)
	end := interface{ Harmless() bool }(nil)
	switch {
	case err == io.EOF:
	case err == nil:
		r.issues.Add(diag.Issue{Code: "trailing-data", Severity: diag.DataLoss, First: at,
			Help: "The data after the statistics was not read. If several files were joined, pass them as separate files."})
	case errors.As(err, &end) && end.Harmless():
		r.issues.Add(diag.Issue{Code: "trailing-data", Severity: diag.Info, First: at,
			Help: "The data after the statistics cannot be read (" + err.Error() + "). The statistics are complete."})
	default:
		r.issues.Add(diag.Issue{Code: "input-damaged", Severity: diag.Suspect, First: at,
			Help: "The stored file is damaged (" + err.Error() + "), so any of its numbers may be wrong. Copy it again."})
	}
}

// A profReader reads one file.
type profReader struct {
	*marshalReader
	graph  *graph
	out    *profile.Tables
	issues diag.Ledger
	calls  int
}

// entry handles one function with its callers.
func (r *profReader) entry(p pair) error {
	r.out.Records++
	name, ok := functionOf(p.key)
	if !ok {
		return r.fail("a key that is not a tuple of file, line and function")
	}
	stats, ok := p.value.([]any)
	if !ok || len(stats) != 5 {
		return r.fail("statistics of %q that are not a tuple of five", name)
	}
	callers, ok := stats[4].([]pair)
	if !ok {
		return r.fail("callers of %q that are not a dict", name)
	}
	cost, err := r.costs(name, stats[:4])
	if err != nil {
		return err
	}
	at := r.graph.function(id{name: name})
	f := &r.graph.functions[at]
	f.count, f.primitive, f.selfKnown = cost.count, cost.primitive, true
	f.totalKnown = true
	if at == r.graph.others {
		f.self[0] = profile.Plus(f.self[0], cost.self)
	} else {
		f.self[0], f.total[0] = cost.self, cost.total
	}
	if r.calls += len(callers); r.calls > maxCalls {
		return r.limit("more than %d calls, the limit", maxCalls)
	}
	for _, c := range callers {
		if err := r.caller(at, name, c); err != nil {
			return err
		}
	}
	r.free()
	return nil
}

// caller handles the calls of one function by another. The profiler that is written in
// Python (module profile) records only their number.
func (r *profReader) caller(callee int32, name string, p pair) error {
	from, ok := functionOf(p.key)
	if !ok {
		return r.fail("a caller of %q that is not a tuple of file, line and function", name)
	}
	if n, ok := p.value.(int64); ok {
		r.graph.edge(r.graph.function(id{name: from}), callee).count = profile.Known(n)
		return nil
	}
	stats, ok := p.value.([]any)
	if !ok || len(stats) != 4 {
		return r.fail("a call of %q that is not a tuple of four", name)
	}
	cost, err := r.costs(name, stats)
	if err != nil {
		return err
	}
	e := r.graph.edge(r.graph.function(id{name: from}), callee)
	e.count, e.self = cost.count, profile.Known(cost.self)
	e.total[0], e.totalKnown = cost.total, true
	return nil
}

// functionOf returns the name of a function from a tuple of file, line and function.
func functionOf(key any) (string, bool) {
	parts, ok := key.([]any)
	if !ok || len(parts) != 3 {
		return "", false
	}
	file, okFile := parts[0].(string)
	line, okLine := parts[1].(int64)
	name, okName := parts[2].(string)
	return function(file, line, name), okFile && okLine && okName
}

// A cost is the cost of a function or of a call.
type cost struct {
	count, primitive profile.Cell
	self, total      int64
}

// costs reads four numbers. The first two are the numbers of calls with and without
// recursive ones, in an order that differs: cProfile writes the smaller one first for
// functions and last for calls; yappi always writes it last.
func (r *profReader) costs(name string, stats []any) (c cost, err error) {
	a, okA := stats[0].(int64)
	b, okB := stats[1].(int64)
	if !okA || !okB || a < 0 || b < 0 {
		return c, r.fail("numbers of calls of %q that are not whole numbers", name)
	}
	c.count, c.primitive = profile.Known(max(a, b)), profile.Known(min(a, b))
	for i, to := range []*int64{&c.self, &c.total} {
		switch x := stats[2+i].(type) {
		case float64:
			*to, err = fromFloat(x)
		case int64:
			*to, err = fromFloat(float64(x))
		default:
			err = errNumber
		}
		if err != nil {
			return c, r.fail("a time of %q that is %s", name, err)
		}
		if *to < 0 {
			*to = 0
			r.issues.Add(diag.Issue{Code: "negative-time", Severity: diag.DataLoss, First: diag.Pos{File: r.name, Offset: r.at},
				Help: "Times below zero, which a clock that is set back causes, count as 0. Record again."})
		}
	}
	return c, nil
}
