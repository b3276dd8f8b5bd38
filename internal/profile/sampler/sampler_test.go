package sampler

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/profile"
	"assay/internal/test"
)

// folded returns a profile as lines "a;b value".
func folded(t *testing.T, p *profile.Profile) string {
	t.Helper()
	var out strings.Builder
	if err := p.WriteFolded(&out, p.Default); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// codes returns the codes of the issues of a profile with their counts.
func codes(p *profile.Profile) (out string) {
	for _, is := range p.Issues {
		out += fmt.Sprintf("%s %d;", is.Code, is.Count)
	}
	return out
}

const schema = `{"$schema":"https://www.speedscope.app/file-format-schema.json",`

// TestSpeedscope: samples and events give the time of stacks, exactly also for clocks beyond 2^53 ns.
func TestSpeedscope(t *testing.T) {
	frames := `"shared":{"frames":[{"name":"main","file":"a.py","line":3},{"name":"load"},{"name":"parse"}]}`
	for name, tt := range map[string]struct{ in, want, unit, issues string }{
		"samples in ms, the functions last": {schema + `"profiles":[{"type":"sampled","name":"t","unit":"milliseconds","samples":[[0],[0,1],[0,1],[0,1,2]],"weights":[1,2,0.5,10]}],` + frames + `}`,
			"main 1000000\nmain;load 2500000\nmain;load;parse 10000000\n", "nanoseconds", ""},
		"weights before samples": {schema + frames + `,"profiles":[{"weights":[7,5],"type":"sampled","unit":"none","samples":[[0,2],[0,2]]}]}`,
			"main;parse 12\n", "count", ""},
		"events in ns since the start of the machine": {schema + `"profiles":[{"type":"evented","unit":"nanoseconds","startValue":18598949628207192,"endValue":18598949628207300,"events":[` +
			`{"type":"O","frame":0,"at":18598949628207193},{"type":"O","frame":1,"at":18598949628207196},{"type":"C","frame":1,"at":18598949628207203},{"type":"C","frame":0,"at":18598949628207204}]}],` + frames + `}`,
			"main 4\nmain;load 7\n", "nanoseconds", ""},
		"events out of order, and calls without an end": {frames2 + `"profiles":[{"type":"evented","unit":"bytes","endValue":30,"events":[` +
			`{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":4},{"type":"C","frame":0,"at":9},{"type":"C","frame":1,"at":8},{"type":"O","frame":2,"at":10}]}]}`,
			"a 4\na;b 5\nc 20\n", "bytes", "calls-unpaired 3;time-backwards 1;"},
		"three samples and two weights": {frames2 + `"profiles":[{"type":"sampled","unit":"none","samples":[[0],[1],[2]],"weights":[3,4]}]}`,
			"a 3\nb 4\n", "count", "weights-missing 1;"},
		"a frame that is not there": {frames2 + `"profiles":[{"type":"sampled","unit":"none","samples":[[9]],"weights":[3]}]}`,
			"[unknown] 3\n", "count", "frames-unknown 1;"},
	} {
		p, err := ReadSpeedscope(strings.NewReader(tt.in), "p.json", profile.Limits{})
		if err != nil || folded(t, p) != tt.want || p.Columns[0].Unit != tt.unit || codes(p) != tt.issues {
			t.Errorf("%s: %v\n%+v", name, err, p)
		}
		if !SniffSpeedscope([]byte(tt.in)) {
			t.Errorf("%s is not recognized", name)
		}
		cut, err := ReadSpeedscope(strings.NewReader(tt.in[:len(tt.in)-1]), "p.json", profile.Limits{})
		if err != nil || !cut.Cut {
			t.Errorf("%s without its end: %v", name, err)
		}
	}
}

// frames2 is the beginning of a file of version 0.0.1, which has no schema.
const frames2 = `{"version":"0.0.1","shared":{"frames":[{"name":"a"},{"name":"b"},{"name":"c"}]},`

// TestThreads: the times of threads do not add up. Of several, Python's main thread is shown, or else the longest.
func TestThreads(t *testing.T) {
	const rest = `"samples":[[1]],"weights":[%d],"type":"sampled","unit":"seconds"}`
	one := func(name string, seconds int) string { return fmt.Sprintf(`{"name":%q,`+rest, name, seconds) }
	for want, profiles := range map[string][]string{
		"b 2000000000\n": {one("Thread 7 (worker)", 9), one(`Thread 1 "MainThread"`, 2)},
		"b 5000000000\n": {one("python", 5), one("pool", 3)},
	} {
		p, err := ReadSpeedscope(strings.NewReader(frames2+`"profiles":[`+strings.Join(profiles, ",")+`]}`), "p.json", profile.Limits{})
		if err != nil || folded(t, p) != want || len(p.Beside) != 1 || len(p.Beside[0].Rows) != 2 || codes(p) != "threads-apart 1;" {
			t.Errorf("%v\n%+v", err, p)
		}
	}
}

// TestV8: a sample has the time since the one before it; without times, samples count. Time without code is left out.
func TestV8(t *testing.T) {
	nodes := `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2,5]},{"id":2,"callFrame":{"functionName":"run","url":"file:///app.js","lineNumber":6},"hitCount":1,"children":[3]},` +
		`{"id":3,"callFrame":{"functionName":""},"hitCount":4},{"id":5,"callFrame":{"functionName":"(idle)"},"hitCount":9}]`
	p, err := ReadV8(strings.NewReader(nodes+`,"startTime":100,"endTime":1100,"samples":[2,3,5,3,77],"timeDeltas":[10,200,500,30,4]}`), "a.cpuprofile", profile.Limits{})
	if err != nil || folded(t, p) != "run 10000\nrun;(anonymous) 230000\n" || p.Duration != 1e6 || codes(p) != "frames-unknown 1;" || p.Samples[0].Stack[0].Line != 7 {
		t.Errorf("%v\n%+v", err, p)
	}
	p, err = ReadV8(strings.NewReader(nodes+`}`), "a.cpuprofile", profile.Limits{})
	if err != nil || folded(t, p) != "run 1\nrun;(anonymous) 4\n" || p.Columns[0].Unit != "count" {
		t.Errorf("%v\n%+v", err, p)
	}
}

const perfText = `# cmdline : perf record -g
python train 4711/4712 [003]  8123.000001:    1000000 task-clock:u:
	    7f00 memcpy+0x1f (/usr/lib/libc.so.6)
	    55d1 py::collate:/app/data.py (perf-4711.map)
	    55d0 main (/usr/bin/python3)

python train 4711/4712 [003]  8123.000002:    3000000 task-clock:u:
	    7f01 memcpy+0x2f (/usr/lib/libc.so.6)
	    55d1 py::collate:/app/data.py (perf-4711.map)
	    55d0 main (/usr/bin/python3)

python train 4711/4712 [003]  8123.000003:          7 page-faults:u:
	    55d0 main (/usr/bin/python3)

`

// TestPerf: samples of the CPU clock have their period as time; the samples of another event are not added to them.
func TestPerf(t *testing.T) {
	p, err := ReadPerf(strings.NewReader(perfText), "perf.txt", profile.Limits{})
	if err != nil || folded(t, p) != "python train;main;collate;memcpy 4000000\n" || p.Columns[0].Name != profile.ClockCPU || codes(p) != "events-apart 1;" || p.Samples[0].Stack[2].File != "/app/data.py" {
		t.Errorf("%v\n%+v", err, p)
	}
	flat := "app 9 1.5: 77 cycles: 400577 f (/bin/app)\napp 9 1.6: 99 cycles: 400578 f (/bin/app)\nkworker/0:1 12 1.7: 1 cycles: ffff g+0x1 ([kernel.kallsyms])\n"
	p, err = ReadPerf(strings.NewReader(flat), "perf.txt", profile.Limits{})
	if err != nil || folded(t, p) != "app;f 2\nkworker/0:1;g 1\n" || p.Columns[0].Unit != "count" {
		t.Errorf("%v\n%+v", err, p)
	}
}

const scaleneText = `{"alloc_samples":0,"elapsed_time_sec":50.0,"files":{"/srv/app/tok.py":{"functions":[` +
	`{"line":"T.encode","lineno":10,"n_cpu_percent_python":30.0,"n_cpu_percent_c":8.0,"n_sys_percent":2.0,"n_malloc_mb":3.0}],"lines":[` +
	`{"line":"password = 'hunter2'","lineno":2,"n_cpu_percent_python":10.0,"n_cpu_percent_c":0,"n_sys_percent":0},` +
	`{"line":"x","lineno":12,"n_cpu_percent_python":30.0,"n_cpu_percent_c":0,"n_sys_percent":2.0,"n_malloc_mb":3.0},{"line":"y","lineno":13,"n_cpu_percent_c":8.0}]}}}`

// TestScalene: percents of the elapsed time become times; what is in no function is that of the module.
func TestScalene(t *testing.T) {
	tables, err := ReadScalene(strings.NewReader(scaleneText), "s.json", 0)
	if err != nil || len(tables.List) != 1 || len(tables.Issues) > 0 {
		t.Fatal(err, tables)
	}
	got := ""
	for _, r := range tables.List[0].Rows {
		got += fmt.Sprintln(r.Name, r.Cells, r.Labels)
	}
	want := "tok.py:10 T.encode [{20000000000 true} {15000000000 true} {4000000000 true} {1000000000 true} {3145728 true}] [{file /srv/app/tok.py 0 } {largest line 12 (80%) 0 }]\n" +
		"tok.py:1 <module> [{5000000000 true} {5000000000 true} {0 true} {0 true} {0 true}] [{file /srv/app/tok.py 0 } {largest line 2 (100%) 0 }]\n"
	if got != want || strings.Contains(got, "hunter2") {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestNot: files that look alike are none of these.
func TestNot(t *testing.T) {
	for _, text := range []string{
		`{"traceEvents":[{"ph":"X","name":"callFrame","args":{"callFrame":{"functionName":"f"},"nodes":[]}}]}`,
		`{"profiles":["default"],"shared":{"theme":"dark"}}`, `{"profiles":[{"type":"user"}]}`, `[{"profiles":[]}]`,
		`{"elapsed_time_sec":3,"files":{"a.txt":{"bytes":4}}}`, "step 1: 2.5 loss\n\tfile.c\n",
		"python 12 [000] 1.5: sched:sched_switch: prev_comm=a prev_pid=1 ==> next_comm=b\npython 12 [000] 1.6: sched:sched_switch: prev_comm=a\n",
		"Linux 5.4 host 100 12:30:01: warning\n", "", "\n\n",
	} {
		head := []byte(text)
		if SniffSpeedscope(head) || SniffV8(head) || SniffPerf(head) || SniffScalene(head) {
			t.Errorf("%.60q is taken for a profile", text)
		}
	}
	for _, text := range []string{schema + `"profiles":[]}`, `{"nodes":[]}`, `{"alloc_samples":1,"elapsed_time_sec":1,"files":{}}`, ``} {
		if p, err := ReadSpeedscope(strings.NewReader(text), "x", profile.Limits{}); err == nil || p != nil {
			t.Error(p, err)
		}
		if p, err := ReadV8(strings.NewReader(text), "x", profile.Limits{}); err == nil || p != nil {
			t.Error(p, err)
		}
		if p, err := ReadScalene(strings.NewReader(text), "x", 0); err == nil || p != nil {
			t.Error(p, err)
		}
		if p, err := ReadPerf(strings.NewReader(text), "x", profile.Limits{}); err == nil || p != nil {
			t.Error(p, err)
		}
	}
}

// TestCorpus: sums of others' files, computed by a script that shares no code with this.
func TestCorpus(t *testing.T) {
	for name, want := range map[string]int64{"two_sampled_0.6.0.speedscope": 14e9, "karpenet_deepsort.speedscope": 0} {
		for _, file := range test.Files(t, filepath.Join(test.Corpus(t, "inputs"), "speedscope", "*"+name+".json")) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := ReadSpeedscope(f, file, profile.Limits{})
			f.Close()
			if err != nil || want > 0 && p.Sum(0) != want || p.Sum(0) <= 0 || p.Sum(0) > 18598949647052904-18598949628207192 && want == 0 {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestLimit: stacks over the limit of memory are added up in one, and no sum is lost.
func TestLimit(t *testing.T) {
	var b strings.Builder
	b.WriteString(frames2 + `"profiles":[{"type":"sampled","unit":"none","samples":[`)
	for i := range 3000 {
		fmt.Fprintf(&b, "[0,%d],", i)
	}
	b.WriteString(`[0]]}]}`)
	p, err := ReadSpeedscope(strings.NewReader(b.String()), "p.json", profile.Limits{Memory: 1 << 20})
	if err != nil || p.Sum(0) != 3001 || !strings.Contains(codes(p), "table-rows-pooled") {
		t.Error(err, codes(p))
	}
}

// Fuzz: no input makes a reader fail in another way than with an error, and profiles are consistent.
func Fuzz(f *testing.F) {
	for _, text := range []string{schema + `"profiles":[{"type":"sampled","unit":"seconds","samples":[[0]],"weights":[1]}],"shared":{"frames":[{"name":"a"}]}}`,
		frames2 + `"profiles":[{"type":"evented","events":[{"type":"O","frame":0,"at":0},{"type":"C","frame":0,"at":2}]}]}`,
		`{"nodes":[{"id":1,"callFrame":{"functionName":"f"},"hitCount":3,"children":[1]}],"samples":[1],"timeDeltas":[5]}`, perfText, scaleneText, pySpyText} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func(io.Reader, string, profile.Limits) (*profile.Profile, error){ReadSpeedscope, ReadV8, ReadPerf, ReadPySpy} {
			p, err := read(strings.NewReader(string(text)), "x", profile.Limits{Memory: 1 << 24})
			if (p == nil) == (err == nil) {
				t.Fatal(p, err)
			}
			if p == nil {
				continue
			}
			if p.Check() != nil {
				t.Fatal(p.Check())
			}
			for _, s := range p.Samples {
				if s.Values[0] < 0 {
					t.Fatalf("%+v", s)
				}
			}
			for _, th := range p.Threads {
				if !slices.IsSorted(th.At) || len(th.At) != len(th.Stacks) || th.Until != nil && len(th.Until) != len(th.At) || len(th.Inner) != len(th.Code) {
					t.Fatalf("%+v", th)
				}
			}
		}
		if tables, err := ReadScalene(strings.NewReader(string(text)), "x", 100); err == nil && tables.List[0].Check() != nil {
			t.Fatal(tables.List[0].Check())
		}
	})
}

// TestPerfIdle: samples of the process 0 are of CPUs with nothing to do: they are in no function, and their sum is known.
// Another process that is named like it is a program.
func TestPerfIdle(t *testing.T) {
	const text = `swapper     0 [003]  8123.000001:    1000000 cpu-clock:pppH:
	ffff default_idle+0x1f ([kernel.kallsyms])
	ffff do_idle+0x1f ([kernel.kallsyms])

swapper 0/0 [004]  8123.000001:    2000000 cpu-clock:pppH:
	ffff native_safe_halt+0x1f ([kernel.kallsyms])

swapper 20/21 [004]  8123.000002:    500000 cpu-clock:pppH:
	55d0 solve (/opt/swapper)

`
	p, err := ReadPerf(strings.NewReader(text), "perf.txt", profile.Limits{})
	if err != nil || folded(t, p) != "swapper;solve 500000\n" || p.Idle != 3000000 || codes(p) != "" {
		t.Errorf("%v\n%+v", err, p)
	}
	if _, err := ReadPerf(strings.NewReader(text[:strings.Index(text, "swapper 20")]), "perf.txt", profile.Limits{}); err == nil || !strings.Contains(err.Error(), "idle CPUs") {
		t.Error(err)
	}
}

// TestPerfEvents: only samples of events that follow the work of a CPU are called samples; others keep the name of the event.
func TestPerfEvents(t *testing.T) {
	for event, unit := range map[string]string{
		"cycles": "count", "cpu-cycles": "count", "cpu_core/cycles/": "count", "instructions": "count", "ref-cycles": "count", "cycles:P": "count",
		"cpu-clock": "nanoseconds", "task-clock:u": "nanoseconds", "context-switches": profile.UnitEvents, "minor-faults:u": profile.UnitEvents,
		"sched:sched_switch": profile.UnitEvents, "cache-misses": profile.UnitEvents, "cpu-migrations": profile.UnitEvents, "syscalls:sys_enter_read": profile.UnitEvents,
	} {
		p, err := ReadPerf(strings.NewReader("app 9 1.5:  77 "+event+":\n\t400577 f (/bin/app)\n\n"), "perf.txt", profile.Limits{})
		if err != nil || p.Columns[0].Unit != unit {
			t.Errorf("%s: %v %+v", event, err, p)
		}
	}
}

// TestV8Idle: the time without code is known, of times and of samples.
func TestV8Idle(t *testing.T) {
	const nodes = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2,5]},{"id":2,"callFrame":{"functionName":"run"},"hitCount":3},{"id":5,"callFrame":{"functionName":"(idle)"},"hitCount":8}]`
	for text, want := range map[string]int64{nodes + `,"samples":[2,5,5],"timeDeltas":[10,200,500]}`: 700000, nodes + `}`: 8} {
		p, err := ReadV8(strings.NewReader(text), "a.cpuprofile", profile.Limits{})
		if err != nil || p.Idle != want {
			t.Errorf("%v\n%+v", err, p)
		}
	}
}
