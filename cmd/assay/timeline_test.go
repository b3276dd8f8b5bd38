package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/internal/test"
	"assay/internal/test/rankgen"
	"assay/summary"
)

// A chromeTrace is a timeline as encoding/json reads it.
type chromeTrace struct {
	BaseTime json.Number   `json:"baseTimeNanoseconds"`
	Events   []chromeEvent `json:"traceEvents"`
}

type chromeEvent struct {
	Ph   string
	Cat  string
	Name string
	PID  json.RawMessage
	TID  json.RawMessage
	TS   json.RawMessage
	Dur  json.RawMessage
	ID   json.RawMessage
	ID2  json.RawMessage
	Args map[string]json.RawMessage
}

// readChrome parses a timeline and checks what the trace processor of Perfetto requires:
// numbers for times, processes and threads of 32 bits, and the ends of arrows and spans by
// ids that are numbers. It also checks that no two processes have one name.
func readChrome(t *testing.T, text []byte) chromeTrace {
	t.Helper()
	var out chromeTrace
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	number := func(e chromeEvent, raw json.RawMessage, most float64) {
		t.Helper()
		if n, err := strconv.ParseFloat(string(raw), 64); err != nil || n > most {
			t.Fatalf("%+v: %s is no number up to %g", e, raw, most)
		}
	}
	names, pids := map[string]string{}, map[string]bool{}
	for _, e := range out.Events {
		number(e, e.PID, math.MaxUint32)
		number(e, e.TID, math.MaxInt32)
		number(e, e.TS, 1<<43) // up to which a float64 has the nanoseconds
		switch e.Ph {
		case "X":
			number(e, e.Dur, 1<<43)
		case "s", "t", "f", "b", "e", "n":
			if len(e.ID2) == 0 { // which is local to its process
				number(e, e.ID, 1<<53)
			}
		case "M":
			if e.Name == "process_name" {
				name := string(e.Args["name"])
				if old, ok := names[name]; ok && old != string(e.PID) {
					t.Errorf("the processes %s and %s have the name %s", old, e.PID, name)
				}
				names[name] = string(e.PID)
				pids[string(e.PID)] = true
			}
		}
	}
	for _, e := range out.Events {
		if e.Ph != "M" && !pids[string(e.PID)] {
			t.Fatalf("%+v: the process has no name", e)
		}
	}
	return out
}

// deviceRows are the rows of a GPU without what names the GPU.
type deviceRows struct {
	Events, Window int64
	Activity       summary.Activity
	Kernels        []summary.Kernel
	Copies         []summary.Copy
}

// byDevice returns the rows of the GPUs in the order of a summary.
func byDevice(s *summary.Summary) []deviceRows {
	var out []deviceRows
	for _, d := range s.Devices {
		rows := deviceRows{Events: d.Events, Window: d.WindowNS, Activity: d.Activity}
		for _, k := range s.Kernels {
			if k.Input == d.Input && k.Rank == d.Rank && k.Device == d.Device {
				k.Input, k.Rank, k.Device = 0, 0, 0
				rows.Kernels = append(rows.Kernels, k)
			}
		}
		for _, c := range s.Copies {
			if c.Input == d.Input && c.Rank == d.Rank && c.Device == d.Device {
				c.Input, c.Rank, c.Device = 0, 0, 0
				rows.Copies = append(rows.Copies, c)
			}
		}
		slices.SortFunc(rows.Kernels, func(a, b summary.Kernel) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		slices.SortFunc(rows.Copies, func(a, b summary.Copy) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		out = append(out, rows)
	}
	return out
}

// sameDevices checks that a timeline has the rows that its inputs have by themselves.
func sameDevices(t *testing.T, timeline string, inputs ...string) *summary.Summary {
	t.Helper()
	got := summaryOf(t, outputOf(t, "summary", "--full", "--format", "json", timeline))
	want := summaryOf(t, outputOf(t, append([]string{"summary", "--full", "--format", "json"}, inputs...)...))
	a, b := byDevice(got), byDevice(want)
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%d GPUs, want %d", len(a), len(b))
	}
	for i := range a {
		if diff := gocmp.Diff(b[i], a[i]); diff != "" {
			t.Errorf("GPU %d, its files (-) and the timeline (+): %.2000s", i, diff)
		}
	}
	return got
}

// endsOfCollectives returns the ends in ns of the kernels of each numbered collective.
func endsOfCollectives(tr chromeTrace) map[string][]int64 {
	out := map[string][]int64{}
	for _, e := range tr.Events {
		id, seq := string(e.Args["Comms Id"]), string(e.Args["Seq"])
		if e.Cat != "kernel" || id == "" || seq == "" {
			continue
		}
		ns := func(raw json.RawMessage) int64 {
			us, frac, _ := strings.Cut(string(raw), ".")
			n, _ := strconv.ParseInt(us+(frac + "000")[:3], 10, 64)
			return n
		}
		key := id + " " + seq + " " + string(e.Args["Collective name"])
		out[key] = append(out[key], ns(e.TS)+ns(e.Dur))
	}
	return out
}

// TestTimelineOfScenarios: the timeline of a generated run has the kernels, copies and
// activity of its files, launched by the same operators; it is the same for any order of
// the files; and its clocks are aligned to the nanosecond.
func TestTimelineOfScenarios(t *testing.T) {
	for i, s := range rankgen.Scenarios() {
		if s.Name == "trainer_rollout" || i%test.Every(4) != 0 {
			continue // two runs: see TestTimelineRefusals
		}
		t.Run(s.Name, func(t *testing.T) {
			j, given := s.Job()
			dir, paths, _ := writeRanks(t, j, given)
			whole := filepath.Join(t.TempDir(), "run.json")
			all := fmt.Sprintf("0-%d", len(j.Places())-1)
			if len(given) < len(j.Places()) {
				all = strings.Trim(strings.Join(strings.Fields(fmt.Sprint(given)), ","), "[]")
			}
			outputOf(t, "convert", dir, "--to", "chrome", "--rank", all, "-o", whole)
			text, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			slices.Reverse(paths)
			if again := outputOf(t, append([]string{"convert", "--to", "chrome", "--rank", all}, paths...)...); !bytes.Equal(again, text) {
				t.Error("the output depends on the order of the files")
			}
			tr := readChrome(t, text)
			got := sameDevices(t, whole, dir)
			if s.Apart {
				return
			}
			for _, r := range got.Ranks {
				if r.OffsetNS != nil && *r.OffsetNS != 0 && j.Era == rankgen.Era2026 {
					t.Errorf("GPU %d: the clock is %d ns ahead in the timeline", r.Device, *r.OffsetNS)
				}
			}
			pairs, collectives := 0, 0
			for key, ends := range endsOfCollectives(tr) {
				if strings.Contains(key, "send") || strings.Contains(key, "recv") {
					continue
				}
				collectives++
				if len(ends) > 1 {
					pairs++
				}
				if slices.Max(ends) != slices.Min(ends) {
					t.Errorf("collective %s: ends at %v, want one time", key, ends)
				}
			}
			if collectives > 0 && pairs == 0 && s.Name != "graphs" { // kernels of graphs have no numbers
				t.Error("no collective is on two ranks")
			}
		})
	}
}

// TestTimelineOfRanks: the timelines of real runs have the rows of their files, and a
// format that is not Chrome JSON loses none.
func TestTimelineOfRanks(t *testing.T) {
	for i, name := range []string{"cs336_ddp_2x3090_nsys", "megatron_tp8_a100", "hta_sampled_2of128", "nsysai_pipeline_2gpu", "deepseek_ep64_train"} {
		if i%test.Every(3) != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := ofRanks(t, name)
			whole := filepath.Join(t.TempDir(), "run.json.zst")
			outputOf(t, "convert", dir, "--to", "chrome", "-o", whole)
			got := sameDevices(t, whole, dir)
			least := int64(1000)
			for _, c := range got.Collectives {
				if c.Op == "all-to-all" { // a GPU leaves it after its own sends and receives
					least = 25_000
				}
			}
			for _, r := range got.Ranks {
				if r.OffsetNS != nil && max(*r.OffsetNS, -*r.OffsetNS) > max(least, *r.ResidualNS) {
					t.Errorf("GPU %d: the clock is %d ns ahead, over the residual of %d", r.Device, *r.OffsetNS, *r.ResidualNS)
				}
			}
			readChrome(t, outputOf(t, "convert", dir, "--to", "chrome"))
		})
	}
}

// hardTrace has what other programs than Kineto write, and what is not JSON.
const hardTrace = `{"displayTimeUnit": "ns", "distributedInfo": {"rank": %d, "world_size": 2}, "baseTimeNanoseconds": %d, "stackFrames": {"7": {"name": "main"}}, "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}},
{"ph": "M", "name": "process_labels", "pid": 0, "args": {"labels": "GPU 0"}},
{"ph": "M", "name": "thread_name", "pid": "host", "tid": "main thread", "args": {"name": "main"}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 10.0015, "dur": 2.25, "sf": 7, "args": {"correlation": 5, "External id": 0}},
{"ph": "X", "cat": "gpu_memset", "name": "m", "pid": 0, "tid": 7, "ts": "1.3e1", "dur": "0.5"},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": "host", "tid": "main thread", "ts": 1, "dur": 2, "args": {"correlation": 5, "loss": NaN, "API_KEY": "hunter2hunter2", "of": [1, {"a": "\\u00e9"}], "bad": [1 2]}},
{"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 5, "pid": "host", "tid": "main thread", "ts": 1},
{"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 5, "pid": 0, "tid": "stream 7", "ts": 10.0015, "bp": "e"},
{"ph": "b", "cat": "request", "name": "r", "id": "0xabc", "pid": "host", "tid": 3, "ts": 2},
{"ph": "e", "cat": "request", "name": "r", "id": "0xabc", "pid": "host", "tid": 3, "ts": 9},
{"ph": "b", "cat": "request", "name": "l", "id2": {"local": "0x1"}, "pid": "host", "tid": 3, "ts": 2},
{"ph": "e", "cat": "request", "name": "l", "id2": {"local": "0x1"}, "pid": "host", "tid": 3, "ts": 9},
{"ph": "C", "name": "memory", "pid": "host", "ts": 3, "args": {"bytes": 17, "free": 2.5}},
{"ph": "i", "name": "say "hi"", "pid": "host", "tid": -4, "ts": 3, "s": "t"},
{"ph": "X", "cat": "kernel", "name": "no time", "pid": 0, "tid": 7, "dur": 1},
{"ph": "X", "name": "backwards", "pid": 0, "tid": 7, "ts": 5, "dur": -1}
]}`

// TestTimelineOfOddEvents: texts as numbers of processes, threads and ids, words that are
// not JSON, quotes that are not escaped, counters, and secrets. The numbers expected are
// written down by hand.
func TestTimelineOfOddEvents(t *testing.T) {
	dir := t.TempDir()
	const base = 1_750_000_000_000_000_000
	for rank := range 2 {
		write(t, filepath.Join(dir, fmt.Sprintf("rank%d.json", rank)), fmt.Sprintf(hardTrace, rank, base+rank*1_000), 0o666)
	}
	var stdout, stderr bytes.Buffer
	if status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"convert", dir, "--to", "chrome"}); status != exitOK {
		t.Fatal(stderr.String())
	}
	for _, want := range []string{"rank0.json: 2 events cannot be shown and were left out", "the ranks share no matched collective, so their clocks are not aligned", "1 possible secret is masked"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in %s", want, stderr.String())
		}
	}
	text := stdout.String()
	if strings.Contains(text, "hunter2") || strings.Contains(text, `"sf"`) {
		t.Error("a secret or a stack frame is in the timeline")
	}
	type key struct {
		name, ph string
	}
	found := map[key][]chromeEvent{}
	for _, e := range readChrome(t, stdout.Bytes()).Events {
		k := key{e.Name, e.Ph}
		found[k] = append(found[k], e)
	}
	check := func(name, ph string, rank int, what string, got json.RawMessage, want string) {
		t.Helper()
		if string(got) != want {
			t.Errorf("rank %d, %s %s: %s is %s, want %s", rank, ph, name, what, got, want)
		}
	}
	for rank := range 2 {
		one := func(name, ph string) chromeEvent {
			t.Helper()
			list := found[key{name, ph}]
			if len(list) != 2 {
				t.Fatalf("%d events %s %s, want one for each rank", len(list), ph, name)
			}
			return list[rank]
		}
		k, m, call := one("k", "X"), one("m", "X"), one("cudaLaunchKernel", "X")
		check("k", "X", rank, "ts", k.TS, []string{"10.002", "11.002"}[rank]) // its base is 1 µs later; half a nanosecond is rounded up
		check("k", "X", rank, "dur", k.Dur, "2.25")
		check("k", "X", rank, "device", k.Args["device"], strconv.Itoa(rank))
		check("k", "X", rank, "stream", k.Args["stream"], "7")
		check("k", "X", rank, "External id", k.Args["External id"], "0")
		check("m", "X", rank, "ts", m.TS, strconv.Itoa(13+rank))
		check("m", "X", rank, "dur", m.Dur, "0.5")
		check("call", "X", rank, "loss", call.Args["loss"], `"NaN"`)
		check("call", "X", rank, "of", call.Args["of"], `[1, {"a": "\\u00e9"}]`)
		check("call", "X", rank, "bad", call.Args["bad"], `"[1 2]"`)
		check("call", "X", rank, "correlation", call.Args["correlation"], string(k.Args["correlation"]))
		check("ac2g", "s", rank, "id", one("ac2g", "s").ID, string(one("ac2g", "f").ID))
		check("r", "b", rank, "id", one("r", "b").ID, string(one("r", "e").ID))
		check("memory", "C", rank, "bytes", one("memory", "C").Args["bytes"], "17")
		check("memory", "C", rank, "free", one("memory", "C").Args["free"], "2.5")
		check("i", "i", rank, "ts", one(`say "hi"`, "i").TS, strconv.Itoa(3+rank))
	}
	for _, k := range []key{{"ac2g", "s"}, {"r", "b"}} {
		if a, b := found[k][0].ID, found[k][1].ID; string(a) == string(b) {
			t.Errorf("%v: two ranks have the id %s", k, a)
		}
	}
	if a, b := found[key{"k", "X"}][0], found[key{"k", "X"}][1]; string(a.Args["correlation"]) == string(b.Args["correlation"]) || string(a.PID) == string(b.PID) {
		t.Errorf("the kernels of two ranks have one correlation or process: %+v, %+v", a, b)
	}
}

// TestTimelineOfManyRanks: of more than eight ranks the timeline has those that stand out,
// and the command says which. The slowest is the one whose kernels are longer.
func TestTimelineOfManyRanks(t *testing.T) {
	j, given := scenario(t, "ten")
	truth := j.Truth(given)
	dir, _, _ := writeRanks(t, j, given)
	slow, fast := 0, 0
	for i, r := range truth.Ranks {
		if r.Wait < truth.Ranks[slow].Wait {
			slow = i
		}
		if r.Wait > truth.Ranks[fast].Wait {
			fast = i
		}
	}
	var stdout, stderr bytes.Buffer
	if status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"convert", dir, "--to", "chrome"}); status != exitOK {
		t.Fatal(stderr.String())
	}
	for _, want := range []string{
		fmt.Sprintf("%d ranks were given; the timeline has rank %d (slowest), rank ", len(given), truth.Ranks[slow].Number),
		fmt.Sprintf("rank %d (fastest); choose others with --rank", truth.Ranks[fast].Number), "the clocks of 3 ranks are aligned",
	} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("no %q in %s", want, stderr.String())
		}
	}
	ranks := map[string]bool{}
	for _, e := range readChrome(t, stdout.Bytes()).Events {
		if e.Name == "process_name" {
			rank, _, _ := strings.Cut(string(e.Args["name"]), ":")
			ranks[rank] = true
		}
	}
	if len(ranks) != 3 || !ranks[fmt.Sprintf(`"rank %d`, truth.Ranks[slow].Number)] {
		t.Errorf("the timeline has %v, want 3 ranks", ranks)
	}
}
