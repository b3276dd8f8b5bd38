package nsys

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"assay/trace"
)

// contents writes down every row of a trace, sorted.
func contents(t *trace.Trace) (out []string) {
	track := func(id trace.TrackID) string {
		k := t.Tracks[id]
		return fmt.Sprintf("%s/%s %s/%s %t %d %d", k.PID, k.TID, k.Process, k.Thread, k.OnDevice, k.Device, k.Stream)
	}
	say := func(words ...any) { out = append(out, strings.TrimSuffix(fmt.Sprintln(words...), "\n")) }
	for a := range t.Activities.All() {
		d := t.Detail(a.Detail)
		say("work", a.Start, a.Dur, a.Kind, t.Name(a.Name), a.Correlation, track(a.Track), d.Bytes, d.GraphID)
	}
	for c := range t.Calls.All() {
		say("call", c.Start, c.Dur, c.Kind, t.Name(c.Name), c.Correlation, track(c.Track))
	}
	for s := range t.Spans.All() {
		say("span", s.Start, s.Dur, s.Kind, t.Name(s.Name), t.Name(s.Category), track(s.Track))
	}
	for _, s := range t.Async {
		say("async", s.Start, s.Dur, s.Kind, t.Name(s.Name), t.Name(s.Category), track(s.Track))
	}
	for o := range t.Ops.All() {
		say("op", o.Start, o.Dur, t.Name(o.Name), o.External, o.Sequence, track(o.Track))
	}
	for _, is := range t.Issues {
		say("issue", is.Code, is.Count)
	}
	slices.Sort(out)
	return out
}

// TestJSONLines reads one capture in both forms: every row and every issue is
// the same, but for the tables that only the database has.
func TestJSONLines(t *testing.T) {
	lines := exportsOf(t, "nsys_json_docs/power_iteration.SYNTHETIC.jsonl")[0]
	database := exportsOf(t, "brycelelbach_nsightful/power_iteration__baseline.sqlite")[0]
	f, err := os.Open(lines)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := ReadJSON(f, lines, trace.SelectAll(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ReadSQLite(database, database, trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	a, b := contents(got), slices.DeleteFunc(contents(want), func(row string) bool {
		return strings.Contains(row, " osrt ") || strings.Contains(row, " sched ") || strings.Contains(row, "cuda-events-uncertain")
	})
	if len(a) != len(b) {
		t.Errorf("%d rows, the database has %d", len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s\nthe database has\n%s", a[i], b[i])
		}
	}
}

// TestEvents reads the older form: an event of each kind, with what it says
// where.
func TestEvents(t *testing.T) {
	const tid = 1<<48 | 42<<24 | 43
	const pid = 1<<48 | 42<<24
	in := strings.Join([]string{
		`{"data":["","gemm","cudaLaunchKernel_v7000","cuLaunchKernel","poll"],"files":[]}`,
		fmt.Sprintf(`{"Type":48,"TraceProcessEvent":{"startNs":"100","endNs":"120","correlationId":7,"eventClass":0,"name":"2","globalTid":"%d"}}`, tid),
		fmt.Sprintf(`{"Type":48,"TraceProcessEvent":{"startNs":"103","endNs":"110","correlationId":7,"eventClass":1,"name":"3","globalTid":"%d"}}`, tid),
		fmt.Sprintf(`{"Type":85,"TraceProcessEvent":{"startNs":"130","endNs":"140","eventClass":27,"name":"4","globalTid":"%d"}}`, tid),
		fmt.Sprintf(`{"Type":79,"CudaEvent":{"startNs":"125","endNs":"150","correlationId":7,"deviceId":1,"streamId":"9","globalPid":"%d","kernel":{"demangledName":"1","shortName":"1"}}}`, pid),
		fmt.Sprintf(`{"Type":80,"CudaEvent":{"startNs":"150","endNs":"160","correlationId":8,"deviceId":1,"streamId":"9","globalPid":"%d","memcpy":{"sizebytes":"4096","copyKind":"2","srcKind":2,"dstKind":1}}}`, pid),
		fmt.Sprintf(`{"Type":80,"CudaEvent":{"startNs":"160","endNs":"161","correlationId":9,"deviceId":1,"streamId":"9","globalPid":"%d","memset":{"sizebytes":"64","memKind":2}}}`, pid),
		fmt.Sprintf(`{"Type":106,"CudaEvent":{"startNs":"161","endNs":"170","correlationId":10,"deviceId":1,"streamId":"9","globalPid":"%d","sync":{"eventId":4294967295,"syncType":"SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE"}}}`, pid),
		fmt.Sprintf(`{"Type":59,"NvtxEvent":{"Type":59,"Timestamp":"90","EndTimestamp":"200","Text":"step 1","GlobalTid":"%d","DomainId":"0","NsTime":true}}`, tid),
		fmt.Sprintf(`{"Type":59,"NvtxEvent":{"Type":59,"Timestamp":"90","EndTimestamp":"99","Text":"old clock","GlobalTid":"%d","NsTime":false}}`, tid),
		`{"Type":59,"NvtxEv`,
	}, "\n")
	tr, err := ReadJSON(strings.NewReader(in), "in.json", trace.SelectAll(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(contents(tr), "\n")
	for _, want := range []string{
		"work 125 25 kernel gemm 7", "work 150 10 gpu_memcpy Memcpy DtoH (Device -> Pinned) 8", "work 160 1 gpu_memset Memset (Device) 9",
		"call 100 20 cuda_runtime cudaLaunchKernel 7", "call 103 7 cuda_driver cuLaunchKernel 7",
		"span 130 10 osrt poll", "span 161 9 cuda_sync Stream Sync", "span 90 110 user_annotation step 1",
		"issue time-unit-unknown 1", "issue input-truncated 1",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestSniffJSON(t *testing.T) {
	for in, want := range map[string]bool{
		`{"id":0,"table":"StringIds","value":"x"}` + "\n":                      true,
		`{"globalPid":284057963331584,"name":"x","pid":1,"table":"PROCESSES"}`: true,
		`{"name":"COLLECT","table":"META_DATA_CAPTURE","value":"false"}`:       true,
		`{"data":["a","b"],"files":[]}`:                                        true,
		`{"Type":59,"NvtxEvent":{"Type":59}}`:                                  true,
		`{"table":"users","id":1}`:                                             false,
		`{"traceEvents":[]}`:                                                   false,
		`{"data":[{"traceEvents":[]}]}`:                                        false,
		`[{"table":"StringIds"}]`:                                              false,
		``:                                                                     false,
		`{"schemaVersion":1,"traceEvents":[{"args":{"table":"StringIds"}}]}`: false,
	} {
		if got := SniffJSON([]byte(in)); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}
