package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// yappiTable is what yappi prints of functions, whose times are in milliseconds.
func yappiTable(clock string, rows ...fn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nClock type: %s\nOrdered by: ttot, desc\n\n%-80s  %-8s  %-10s  %-10s  %-8s\n", clock, "name", "ncall", "tsub", "ttot", "tavg")
	for _, r := range rows {
		fmt.Fprintf(&b, "%-80s  %-8d  %-10.6f  %-10.6f  %-8.6f\n", r.name, r.count, float64(r.self)/1e3, float64(r.total)/1e3, float64(r.total)/1e3/float64(r.count))
	}
	return b.String()
}

// pstatsTable is what Python's pstats prints of the same. Of names it has the file,
// the line and the function.
func pstatsTable(rows ...fn) string {
	var b strings.Builder
	all, calls := int64(0), int64(0)
	for _, r := range rows {
		all, calls = all+r.self, calls+r.count
	}
	fmt.Fprintf(&b, "         %d function calls in %.3f seconds\n\n   Ordered by: internal time\n\n   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n", calls, float64(all)/1e3)
	for _, r := range rows {
		name := r.name
		if at := strings.LastIndexByte(name, ' '); at > 0 && !strings.HasPrefix(name, "{") {
			name = name[:at] + "(" + name[at+1:] + ")"
		}
		fmt.Fprintf(&b, "%9d %8.3f %8.3f %8.3f %8.3f %s\n", r.count, float64(r.self)/1e3, float64(r.self)/1e3/float64(r.count), float64(r.total)/1e3, float64(r.total)/1e3/float64(r.count), name)
	}
	return b.String()
}

// A calling is a function of a callgrind file: what it took by itself, and what each of
// the functions took that it called, in milliseconds.
type calling struct {
	name  string
	self  int64
	calls []fn // written with name, total and count
}

// callgrindOf is a callgrind file that counts nanoseconds.
func callgrindOf(functions ...calling) string {
	var b strings.Builder
	b.WriteString("version: 1\ncreator: test\nevents: ns\n")
	for _, f := range functions {
		fmt.Fprintf(&b, "\nfn=%s\n1 %d\n", f.name, f.self*ms)
		for _, c := range f.calls {
			fmt.Fprintf(&b, "cfn=%s\ncalls=%d 1\n1 %d\n", c.name, c.count, c.total*ms)
		}
	}
	return b.String()
}

// fns are n functions of the program with so many milliseconds by themselves in so
// many calls each.
func fns(n int, self, count int64) (out []fn) {
	for i := range n {
		out = append(out, fn{fmt.Sprintf("/app/work.py:%d part_%d", i+1, i), self, self, count})
	}
	return out
}

// with puts functions before others.
func with(others []fn, rows ...fn) []fn { return slices.Concat(rows, others) }

// Functions that are not the program's own.
const (
	runner  = "/usr/lib/python3.11/asyncio/events.py:78 Handle._run"
	sleeper = "/usr/lib/python3.11/asyncio/tasks.py:627 sleep"
	lock    = "{method 'acquire' of '_thread.lock' objects}"
	sorter  = "{method 'sort' of 'list' objects}"
)

// labelledProfiles are profiles of functions.
func labelledProfiles() []labelled {
	return slices.Concat(labelledFunctions(), labelledCalls(), labelledPairs(), labelledNested())
}

// labelledFunctions are profiles in which one function stands out, or time that was
// waited for.
func labelledFunctions() []labelled {
	workers := []fn{{"/app/work.py:1 first", 10, 25, 1}, {"/app/work.py:2 second", 10, 25, 1}, {"/app/work.py:3 third", 10, 25, 1}, {"/app/work.py:4 fourth", 10, 25, 1}}
	chain := callgrindOf(calling{"main", 0, []fn{{"serve", 0, 100, 1}}}, calling{"serve", 0, []fn{{"verify", 0, 100, 1}}},
		calling{"verify", 2, []fn{{"/usr/lib/python3.11/json/decoder.py:4 raw", 0, 58, 7}, {sorter, 0, 40, 3}}},
		calling{"/usr/lib/python3.11/json/decoder.py:4 raw", 58, nil}, calling{sorter, 40, nil})
	return []labelled{
		{name: "a server sleeps", label: rule.Waiting, num: 99 * ms, den: 100 * ms,
			in: given(yappiTable("WALL", fn{"/app/judge.py:27 verify", 1, 100, 9}, fn{sleeper, 99, 99, 9}))},
		{name: "threads wait for a lock, in three tenths of the time", label: rule.Waiting, num: 30 * ms, den: 100 * ms,
			in: given(pstatsTable(with(fns(70, 1, 1), fn{lock, 30, 30, 9})...))},
		{name: "the CPU has a tenth of what the wall has", label: rule.Waiting, num: 900 * ms, den: 1000 * ms,
			in: given(yappiTable("WALL", fn{"/app/judge.py:27 verify", 90, 1000, 10}, fn{"/app/judge.py:31 check", 910, 910, 10}),
				yappiTable("CPU", fn{"/app/judge.py:27 verify", 40, 100, 10}, fn{"/app/judge.py:31 check", 60, 60, 10}))},
		{name: "what sleep takes of the CPU is work", label: rule.FunctionTotal, near: rule.Waiting, num: 100 * ms, den: 100 * ms,
			in: given(yappiTable("CPU", fn{"/app/judge.py:27 verify", 1, 100, 9}, fn{sleeper, 99, 99, 9}))},
		{name: "29 ms of waiting, and the rest spreads", label: "", near: rule.Waiting, in: given(pstatsTable(with(fns(71, 1, 1), fn{lock, 29, 29, 9})...))},
		{name: "a function whose name only begins like one that waits", label: rule.FunctionTotal, near: rule.Waiting, num: 80 * ms, den: 100 * ms,
			in: given(yappiTable("WALL", with(fns(10, 2, 1), fn{"/app/judge.py:9 sleepless", 80, 80, 9})...))},

		{name: "the main thread waits for its pool, as a sampler shows it", label: rule.Waiting, num: 80 * ms, den: 100 * ms,
			in: given(sampledBy("/usr/lib/python3.12/threading.py"))},
		{name: "a function of the program that is named like one that waits", label: rule.FunctionTotal, near: rule.Waiting, num: 80 * ms, den: 100 * ms,
			in: given(sampledBy("/srv/app/tables.py"))},

		{name: "one of two functions has half by itself", label: rule.FunctionTotal, num: 50 * ms, den: 100 * ms,
			in: given(yappiTable("CPU", fn{"/app/judge.py:1 main", 50, 100, 1}, fn{"/app/judge.py:2 compare", 50, 50, 1}))},
		{name: "a chain of calls ends in libraries", label: rule.FunctionTotal, num: 100 * ms, den: 100 * ms, in: given(chain)},
		{name: "samples of stacks", label: rule.FunctionTotal, in: given("main (app.py:1);load (app.py:9);parse (app.py:20) 60\nmain (app.py:1);score (app.py:30) 40\n")},
		{name: "twenty functions alike", label: "", near: rule.FunctionTotal, in: given(yappiTable("CPU", fns(20, 5, 1)...))},
		{name: "ten functions just under a tenth", label: "", near: rule.FunctionTotal, in: given(pstatsTable(with(fns(10, 99, 1), fn{"/app/rest.py:1 rest", 10, 10, 1})...))},
		{name: "the one that has all only waits", label: rule.Waiting, near: rule.FunctionTotal, num: 100 * ms, den: 100 * ms, in: given(yappiTable("WALL", fn{sleeper, 100, 100, 9}))},

		{name: "a library calls the program, and does most by itself", label: rule.FunctionSelf, num: 60 * ms, den: 100 * ms,
			in: given(yappiTable("CPU", fn{runner, 10, 100, 1}, fn{"/usr/lib/python3.11/json/encoder.py:9 encode", 60, 90, 1}, fn{"/app/judge.py:2 default", 30, 40, 1}))},
		{name: "four workers sort", label: rule.FunctionSelf, num: 60 * ms, den: 100 * ms, in: given(pstatsTable(with(workers, fn{sorter, 60, 60, 4})...))},
		{name: "four workers sort a bit less", label: rule.FunctionTotal, near: rule.FunctionSelf, num: 25 * ms, den: 100 * ms,
			in: given(pstatsTable(with(workers, fn{sorter, 49, 49, 4}, fn{"/app/rest.py:1 rest", 9, 9, 1}, fn{"/app/rest.py:2 more", 2, 2, 1})...))},
		{name: "half by itself, as its total says already", label: rule.FunctionTotal, near: rule.FunctionSelf, num: 49 * ms, den: 100 * ms,
			in: given(yappiTable("CPU", with(fns(17, 3, 1), fn{"/app/judge.py:2 compare", 49, 49, 1})...))},
	}
}

// sampledBy is a profile of speedscope in which "join" of a file has 80 ms of 100.
func sampledBy(file string) string {
	return fmt.Sprintf(`{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[{"type":"sampled","unit":"milliseconds","samples":[[0,1],[0]],"weights":[80,20]}],`+
		`"shared":{"frames":[{"name":"main","file":"/srv/app/main.py"},{"name":"join","file":%q}]}}`, file)
}

// labelledCalls are profiles of functions that do little, and are called often.
func labelledCalls() []labelled {
	// Ten have three fifths of the time, and eight that are called once the rest.
	small := func(self, count int64) []fn { return with(fns(8, 5*self/6, 1), renamed(fns(10, self, count))...) }
	return []labelled{
		{name: "ten functions of 3 µs below one", label: rule.CheapCalls, num: 60 * ms, den: 100 * ms,
			in: given(yappiTable("CPU", with(small(6, 2000), fn{"/app/judge.py:1 main", 0, 100, 1})...))},
		{name: "ten functions of 9 µs, 1,000 times each", label: rule.CheapCalls, num: 90 * ms, den: 100 * ms,
			in: given(yappiTable("CPU", with(fns(2, 5, 1), renamed(fns(10, 9, 1000))...)...))},
		{name: "functions of the interpreter itself", label: rule.CheapCalls, num: 20 * ms, den: 100 * ms, in: given(pstatsTable(with(fns(10, 8, 1), builtIns(8)...)...))},
		{name: "functions of the interpreter, just under a fifth", label: "", near: rule.CheapCalls,
			in: given(pstatsTable(with(fns(9, 9, 1), builtIns(7)...)...))},
		{name: "ten functions of 10 µs", label: "", near: rule.CheapCalls, in: given(yappiTable("CPU", small(60, 6000)...))},
		{name: "ten functions of 6 µs, 999 times each", label: "", near: rule.CheapCalls, in: given(yappiTable("CPU", small(6, 999)...))},
		{name: "locks are taken and given back at once", label: rule.Waiting, near: rule.CheapCalls, num: 40 * ms, den: 100 * ms,
			in: given(yappiTable("WALL", with(fns(12, 5, 1), fn{lock, 40, 40, 90000})...))},
	}
}

// builtIns take 12 ms and what the first of them has, in many calls.
func builtIns(first int64) []fn {
	return []fn{{"{built-in method builtins.len}", first, first, 90000}, {"{built-in method builtins.isinstance}", 6, 6, 90000},
		{"{method 'append' of 'list' objects}", 6, 6, 90000}}
}

// renamed gives functions names of their own.
func renamed(rows []fn) []fn {
	for i := range rows {
		rows[i].name = strings.Replace(rows[i].name, "work.py", "small.py", 1)
	}
	return rows
}

// labelledPairs are two profiles of one program. A function with a tenth of the
// second or more is also reported by function-total, which warns up to a half of it.
func labelledPairs() []labelled {
	before := yappiTable("CPU", with(fns(16, 5, 1), fn{"/app/judge.py:2 look", 20, 20, 40})...) // 500 µs each
	after := yappiTable("CPU", with(fns(11, 5, 1), fn{"/app/judge.py:2 look", 45, 45, 30})...)  // 1.5 ms each
	nearly := yappiTable("CPU", with(fns(11, 5, 1), fn{"/app/judge.py:2 look", 45, 45, 46})...) // 0.98 ms each
	others := yappiTable("CPU", with(renamed(fns(11, 5, 1)), fn{"/app/judge.py:2 look", 45, 45, 30})...)
	calls := func(self, count int64) string { // of a function that does nothing by itself
		return pstatsTable(with(fns(int(100-self)/5, 5, 1), fn{"/app/judge.py:9 verify", 0, self, count}, fn{"/usr/lib/python3.11/re.py:5 match", self, self, 900})...)
	}
	return []labelled{
		{name: "a search in a list that grows", label: rule.GrowingAverage, num: ms, den: ms / 2, in: given(before, after)},
		{name: "a call of a library takes twice as long", label: rule.GrowingAverage, num: 10 * ms, den: 10 * ms, in: given(calls(30, 3), calls(40, 2))},
		{name: "the other way round", label: rule.FunctionTotal, near: rule.GrowingAverage, num: 45 * ms, den: 100 * ms, in: given(after, before)},
		{name: "it grows by 96%", label: rule.FunctionTotal, near: rule.GrowingAverage, num: 45 * ms, den: 100 * ms, in: given(before, nearly)},
		{name: "another program that has a function of the name", label: rule.FunctionTotal, near: rule.GrowingAverage, num: 45 * ms, den: 100 * ms, in: given(before, others)},
	}
}

// labelledNested are profiles in which the function that function-total names leaves
// its work to what it calls. It says of that function what to look at next, and so
// follows that finding: without it there is no function to speak of.
func labelledNested() []labelled {
	// Of 100 ms a function has so many itself, and five of libraries share the rest.
	tasks := func(self int64) []fn {
		rows := []fn{{"/app/judge.py:27 verify", self, 100, 9}}
		for i := range int64(5) {
			ms := (100 - self + i) / 5
			rows = append(rows, fn{fmt.Sprintf("/usr/lib/python3.11/json/decoder.py:%d part", i), ms, ms, 40})
		}
		return rows
	}
	said := func(name string, self, nested int64, in func(*testing.T) *summary.Summary) labelled {
		return labelled{name: name, label: rule.NestedCost, after: rule.FunctionTotal, num: nested * ms, den: (self + nested) * ms, in: in}
	}
	return []labelled{
		said("a function that does a tenth itself", 10, 90, given(yappiTable("CPU", tasks(10)...))),
		said("a log of one file, without what it calls", 3, 97, given(yappiTable("CPU", fn{"/app/judge.py:27 verify", 3, 100, 40}))),
		said("a fifth of the time is below a function of the program", 1, 19, given(pstatsTable(with(renamed(fns(27, 3, 1)),
			fn{"/app/judge.py:27 verify", 1, 20, 9}, fn{"/usr/lib/python3.11/re.py:5 match", 19, 19, 40})...))),
		{name: "a function that does 11% itself", label: "", near: rule.NestedCost, after: rule.FunctionTotal, in: given(yappiTable("CPU", tasks(11)...))},
	}
}
