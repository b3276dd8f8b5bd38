package whatif

import (
	"fmt"
	"strings"
	"testing"

	"assay/summary"
	"assay/trace"
)

// read makes a trace of events.
func read(t *testing.T, events ...string) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(`{"schemaVersion":1,"traceEvents":[`+strings.Join(events, ",\n")+`]}`), "test", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func event(cat, name string, pid, tid, ts, dur int, args string) string {
	return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":%d,"tid":%d,"ts":%d,"dur":%d,"args":{%s}}`, cat, name, pid, tid, ts, dur, args)
}

func trailOf(t *testing.T, tr *trace.Trace, most int) *summary.Detail {
	t.Helper()
	in := Input{Trace: tr, Index: 0, Rank: 3}
	groups, _ := Graphs([]Input{in}, Question{})
	d := &summary.Detail{Input: 0, Rank: 3, Device: 1, StartNS: 116_000, WindowNS: 152_000, Names: []string{"pool"}}
	paths := groups[0].Paths()
	groups[0].trail(d, paths, groups[0].chosen(paths), most)
	return d
}

// A step of 10 µs of the host, a call of 4, a delay of 2, 100 of embed, a gap of 2 after an event, 50 of pool on another stream. The GPU window begins
// with embed, so the path begins 16 µs before it.
func TestTrail(t *testing.T) {
	tr := read(t,
		event("user_annotation", "ProfilerStep#4", 3, 3, 100, 40, ""),
		event("cuda_runtime", "cudaLaunchKernel", 3, 3, 110, 4, `"correlation":1`),
		event("cuda_runtime", "cudaEventRecord", 3, 3, 115, 1, `"correlation":50`),
		event("cuda_runtime", "cudaStreamWaitEvent", 3, 3, 117, 1, `"correlation":51`),
		event("cuda_runtime", "cudaLaunchKernel", 3, 3, 120, 4, `"correlation":2`),
		event("kernel", "embed", 1, 3, 116, 100, `"device":1,"stream":3,"correlation":1`),
		event("kernel", "pool", 1, 8, 218, 50, `"device":1,"stream":8,"correlation":2`))
	d := trailOf(t, tr, 100)
	var lines []string
	sum := int64(0)
	for _, p := range d.Path.Pieces {
		where := fmt.Sprintf("GPU %d stream %d", p.Device, p.Stream)
		if p.Host {
			where = "CPU"
		}
		lines = append(lines, fmt.Sprintf("%d for %d %s %s on %s, %s %t, %s %d", p.AtNS, p.NS, p.Class, d.Names[p.Name], where, p.Cause, p.Inferred, p.Next, p.SlackNS))
		sum += p.NS
	}
	want := `-16000 for 10000 python ProfilerStep#4 on CPU,  false,  0
-6000 for 4000 runtime embed on GPU 1 stream 3, launch false,  0
-2000 for 2000 launch_delay embed on GPU 1 stream 3, launch false,  0
0 for 100000 compute embed on GPU 1 stream 3, launch false,  0
100000 for 2000 kernel_gap pool on GPU 1 stream 8, event true, launch 92000
102000 for 50000 compute pool on GPU 1 stream 8, event true, launch 92000`
	if got := strings.Join(lines, "\n"); got != want || sum != 168_000 || d.Path.Steps != 1 || d.Path.Withheld != 0 {
		t.Errorf("got\n%s\nwant\n%s\nsum %d", got, want, sum)
	}
	if d.Names[0] != "pool" || len(d.Names) != 3 {
		t.Errorf("names %q", d.Names)
	}
	// With room for five pieces, the call and the delay are joined; the gap is as short as the delay, but its neighbours are long.
	d = trailOf(t, tr, 5)
	if got := d.Path; len(got.Pieces) != 5 || got.ShortNS != 4096 || got.Pieces[1].NS != 6000 || got.Pieces[1].Count != 2 {
		t.Errorf("%+v", got)
	}
}

// Many steps and few rows: it ends, each row is within the limit, and what is left out is counted.
func TestTrailOfManySteps(t *testing.T) {
	var events []string
	for i := range 9 {
		at := 100 + 100*i
		events = append(events, event("user_annotation", fmt.Sprintf("ProfilerStep#%d", i), 3, 3, at, 90, ""),
			event("cuda_runtime", "cudaLaunchKernel", 3, 3, at+10, 4, fmt.Sprintf(`"correlation":%d`, i+1)),
			event("kernel", "scan", 1, 3, at+16, 20, fmt.Sprintf(`"device":1,"stream":3,"correlation":%d`, i+1)))
	}
	tr := read(t, events...)
	d := trailOf(t, tr, 4)
	if p := d.Path; len(p.Pieces) != 4 || p.StepsLeft != 5 || p.Steps != 9 {
		t.Errorf("%+v", p)
	}
	whole, joined := trailOf(t, tr, 1000), trailOf(t, tr, 12)
	sums := [2]int64{}
	for i, d := range []*summary.Detail{whole, joined} {
		for _, p := range d.Path.Pieces {
			sums[i] += p.NS
		}
	}
	if sums[0] != sums[1] || sums[0] == 0 || len(joined.Path.Pieces) > 12 {
		t.Errorf("joined pieces sum to %d, all to %d", sums[1], sums[0])
	}
}

// A trace whose launches are lost has no path, and the reason.
func TestTrailWithheld(t *testing.T) {
	var events []string
	for i := range 40 {
		events = append(events, event("cuda_runtime", "cudaLaunchKernel", 3, 3, 100+10*i, 4, fmt.Sprintf(`"correlation":%d`, i+1)))
	}
	d := trailOf(t, read(t, append(events, event("kernel", "scan", 1, 3, 106, 20, `"device":1,"stream":3,"correlation":1`))...), 50)
	if p := d.Path; len(p.Pieces) != 0 || p.Withheld != 1 || !strings.Contains(p.Reason, "launches have no GPU work") {
		t.Errorf("%+v", p)
	}
}
