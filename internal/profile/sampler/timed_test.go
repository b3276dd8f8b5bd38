package sampler

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"assay/internal/profile"
)

const pySpyText = `[{"args":{"filename":"","line":null,"name":"77: MainThread"},"cat":"py-spy","name":"thread_name","ph":"M","pid":42,"tid":0,"ts":0},
{"args":{"filename":"train.py","line":9},"cat":"py-spy","name":"main","ph":"B","pid":42,"tid":0,"ts":1000},
{"args":{"filename":"libcuda.so","line":null},"cat":"py-spy","name":"poll","ph":"B","pid":42,"tid":0,"ts":1000},
{"args":{"filename":"libcuda.so","line":null},"cat":"py-spy","name":"poll","ph":"E","pid":42,"tid":0,"ts":31000},
{"args":{"filename":"data.py","line":3},"cat":"py-spy","name":"collate","ph":"B","pid":42,"tid":0,"ts":31000},
{"args":{"filename":"data.py","line":3},"cat":"py-spy","name":"collate","ph":"E","pid":42,"tid":0,"ts":41000},
{"args":{"filename":"train.py","line":9},"cat":"py-spy","name":"main","ph":"E","pid":42,"tid":0,"ts":41000}]`

// TestTimed: the times of samples with their functions, by hand for each format.
func TestTimed(t *testing.T) {
	perf := "python 42/42 [001]  5.000001: 10 cpu-clock:\n\t1 clock_gettime (/lib/libc.so)\n\t1 py::collate:/w/data.py (/run/perf-42.map)\n\n" +
		"python 42/43 [001]  5.010000: 10 cpu-clock:\n\t1 f (/bin/x)\n\npython 42/42 [001]  5.020000: 10 cpu-clock:\n\t1 py::save:/w/io.py (/run/perf-42.map)\n\n"
	for _, c := range []struct {
		name, text, want string
		read             func(io.Reader, string, profile.Limits) (*profile.Profile, error)
	}{
		{"sampled", schema + `"profiles":[{"type":"sampled","name":"Process 8 Thread 0x7 \"MainThread\"","unit":"milliseconds","samples":[[0],[0,1],[0]],"weights":[10,12.5,9]}],"shared":{"frames":[{"name":"a","file":"a.py","line":1},{"name":"b","file":"b.py","line":2}]}}`,
			`8: 0 a/a 10000000 b/b 22500000 a/a`, ReadSpeedscope},
		{"evented", schema + `"profiles":[{"type":"evented","name":"t","unit":"seconds","events":[{"type":"O","frame":0,"at":5},{"type":"O","frame":1,"at":6},{"type":"C","frame":1,"at":8},{"type":"C","frame":0,"at":8},{"type":"O","frame":0,"at":9},{"type":"C","frame":0,"at":10}]}],"shared":{"frames":[{"name":"a","file":"a.py"},{"name":"b"}]}}`,
			`0: 0-1000000000 a/a 1000000000-3000000000 b/a 4000000000-5000000000 a/a`, ReadSpeedscope},
		{"no unit of time", schema + `"profiles":[{"type":"sampled","unit":"none","samples":[[0]],"weights":[1]}],"shared":{"frames":[{"name":"a"}]}}`, ``, ReadSpeedscope},
		{"py-spy", pySpyText, `42: 0-30000000 poll/main 30000000-40000000 collate/collate`, ReadPySpy},
		{"perf", perf, `42: 5000001000 clock_gettime/collate 5020000000 save/save; 42: 5010000000 f/f`, ReadPerf},
		{"perf beyond int64", strings.ReplaceAll(perf, "  5.02", "  20000000000.02"), `42: 5000001000 clock_gettime/collate; 42: 5010000000 f/f`, ReadPerf},
		{"perf of another event", strings.ReplaceAll(perf, "cpu-clock", "page-faults"), ``, ReadPerf},
	} {
		p, err := c.read(strings.NewReader(c.text), "x", profile.Limits{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var threads []string
		for _, th := range p.Threads {
			text := fmt.Sprint(th.PID, ":")
			for i, at := range th.At {
				text += fmt.Sprint(" ", at)
				if th.Until != nil {
					text += fmt.Sprint("-", th.Until[i])
				}
				text += " " + th.Inner[th.Stacks[i]].Name + "/" + th.Code[th.Stacks[i]].Name
			}
			threads = append(threads, strings.Replace(text, " :", ":", 1))
		}
		if got := strings.Join(threads, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestPySpy: the functions of a Chrome trace of py-spy have the time between its samples.
func TestPySpy(t *testing.T) {
	p, err := ReadPySpy(strings.NewReader(pySpyText), "p.json", profile.Limits{})
	if err != nil || folded(t, p) != "main;collate 10000000\nmain;poll 30000000\n" {
		t.Errorf("%v %q", err, folded(t, p))
	}
	if !SniffPySpy([]byte(pySpyText)) || SniffPySpy([]byte(`[{"cat":"cpu_op","ph":"X"}]`)) || SniffPySpy([]byte(`{"cat":"py-spy"}`)) {
		t.Error("SniffPySpy")
	}
	cut := pySpyText[:strings.Index(pySpyText, `{"args":{"filename":"data.py","line":3},"cat":"py-spy","name":"collate","ph":"E"`)]
	if p, err := ReadPySpy(strings.NewReader(cut), "p.json", profile.Limits{}); err != nil || !p.Cut || p.Sum(0) != 30e6 {
		t.Errorf("%v %+v", err, p)
	}
	if _, err := ReadPySpy(strings.NewReader(`[]`), "p.json", profile.Limits{}); err == nil {
		t.Error("no error")
	}
}
