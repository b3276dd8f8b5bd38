package comm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"

	"assay/internal/inflate"
	"assay/internal/textscan"
	"assay/logs"
)

func textLog(t testing.TB, text string) *logs.Log {
	t.Helper()
	f := NewFinder("log", logs.Limits{})
	if _, err := textscan.Scan(strings.NewReader(text), f); err != nil {
		t.Fatal(err)
	}
	return f.Log()
}

// numbersOf returns the numbers of a metric of all results, in the base unit.
func numbersOf(log *logs.Log, metric, stat string) (out []float64) {
	for i := range log.Benchmarks {
		if v, ok := log.Benchmarks[i].Figure(metric, stat); ok {
			out = append(out, v)
		}
	}
	return out
}

const allReduce = `# nccl-tests version 2.17.8
# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid 41 on node-a device  0 [0000:1b:00] NVIDIA H100
#  Rank  1 Group  0 Pid 42 on node-b device  0 [0000:1b:00] NVIDIA H100
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
        1024           256     float     sum      -1    20.50    0.05    0.05       0    19.25    0.05    0.05       0
    33554432       4194304    double     sum      -1  15668.1  183.49  321.10       3   182.88  183.48  321.08     N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 160.57
`

// TestTables: rows of both eras, with and without the columns of the operation and the
// root, after the prefix of mpirun, and with N/A.
func TestTables(t *testing.T) {
	// Trap: missing is not zero (N/A errors), and prefixes of mpirun.
	log := textLog(t, allReduce)
	if len(log.Benchmarks) != 3 {
		t.Fatalf("%d results", len(log.Benchmarks))
	}
	b := &log.Benchmarks[1]
	for _, w := range []struct {
		metric, stat string
		v            float64
	}{{"comm.busbw", "out-of-place", 321.10e9}, {"comm.busbw", "in-place", 321.08e9}, {"comm.time", "out-of-place", 15668.1e3}, {"comm.algbw", "in-place", 183.48e9}} {
		if v, ok := b.Figure(w.metric, w.stat); !ok || math.Abs(v-w.v) > 1 {
			t.Errorf("%s %s is %v, %v", w.stat, w.metric, v, ok)
		}
	}
	for name, v := range map[string]string{"test": "all_reduce_perf", "ranks": "2", "nodes": "2", "bytes": "33554432", "type": "double", "redop": "sum", "root": "", "wrong out-of-place": "3", "wrong in-place": ""} {
		if b.Setting(name) != v {
			t.Errorf("setting %s is %q, want %q", name, b.Setting(name), v)
		}
	}
	if got := numbersOf(log, "comm.busbw", "mean"); !slices.Equal(got, []float64{160.57e9}) {
		t.Errorf("averages are %v", got)
	}
	old := strings.ReplaceAll(`#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
        1024            64   float            16860    1.50    2.25    N/A    16678    1.75    2.50    N/A
        2048            64   float     sum    17.5     1.50    3.25  1e-07    16.25    1.75    3.50  0e+00
`, "#", "#")
	log = textLog(t, "[1,0]<stdout>:"+strings.ReplaceAll(strings.TrimSpace(old), "\n", "\n[1,0]<stdout>:"))
	if got := numbersOf(log, "comm.busbw", "out-of-place"); !slices.Equal(got, []float64{2.25e9, 3.25e9}) {
		t.Errorf("bus bandwidths are %v", got)
	}
	if got := log.Benchmarks[0].Setting("wrong out-of-place"); got != "" {
		t.Errorf("an unknown number of errors is %q", got)
	}
}

// TestColumnsByName: columns that a newer version puts between the known ones shift none of them, and a row with a
// number too few or too many is no row. A table that was pasted without its marks is read, too.
func TestColumnsByName(t *testing.T) {
	const rows = `#       size         count      type   redop    root     time   algbw   busbw  #wrong    worst     time   algbw   busbw  #wrong    worst
     4194304       1048576  bfloat16     sum       2    50.00   83.89   41.94       0    90.00    40.00  104.86   52.43       3    70.00
     8388608       2097152  bfloat16     sum       2   100.00   83.89   41.94       0    90.00    80.00  104.86   52.43       0
    16777216       4194304  bfloat16     sum       2   200.00   83.89   41.94       0   180.00   160.00  104.86   52.43       0   140.00
`
	for _, text := range []string{rows, strings.Replace(rows, "#", " ", 1)} {
		log := textLog(t, text)
		for metric, want := range map[string][]float64{"comm.time": {40e3, 160e3}, "comm.algbw": {104.86e9, 104.86e9}, "comm.busbw": {52.43e9, 52.43e9}} {
			if got := numbersOf(log, metric, "in-place"); !slices.Equal(got, want) {
				t.Errorf("%s in place: %v, want %v", metric, got, want)
			}
		}
		if got := log.Benchmarks[0].Setting("wrong in-place"); got != "3" || log.Benchmarks[0].Setting("root") != "2" {
			t.Errorf("%+v, want 3 errors in place and root 2", log.Benchmarks[0])
		}
	}
}

// TestGluedRows: NCCL prints its own lines between the parts of a row.
func TestGluedRows(t *testing.T) {
	// Trap: glued records.
	const head = `#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
     8388608       2097152     float     sum      -1node1:41:41 [1] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 9 datatype 7 op 0 root 0 comm 0xc [nranks=2] stream 0x5
node1:41:41 [0] NCCL INFO something else
    83.33  100.66  101.50      0node1:41:41 [1] NCCL INFO AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x2 count 9 datatype 7 op 0 root 0 comm 0xc [nranks=2] stream 0x5
    80.98  103.59  104.25      0
`
	log := textLog(t, "node1:41:41 [0] NCCL INFO ncclCommInitRankConfig comm 0xc rank 1 nranks 2 cudaDev 1 busId 1 commId 0xabc - Init COMPLETE\n"+head)
	if got := numbersOf(log, "comm.busbw", "out-of-place"); !slices.Equal(got, []float64{101.5e9}) {
		t.Errorf("bus bandwidths are %v", got)
	}
	if got := numbersOf(log, "comm.time", "in-place"); !slices.Equal(got, []float64{80.98e3}) {
		t.Errorf("times are %v", got)
	}
	g := log.Groups[0]
	if len(g.Ops) != 1 || g.Ops[0] != (logs.GroupOp{Op: "AllReduce", Count: 9, Dtype: "float32", Peer: -1, Calls: 2}) || g.Name != "0xabc" || g.Place != 1 || g.Size != 2 {
		t.Errorf("%+v", g)
	}
}

// TestInfo: transports, channels, nodes and calls of each communicator of each process.
func TestInfo(t *testing.T) {
	log := textLog(t, `NCCL version 2.27.3+cuda12.9
a:1:5 [0] NCCL INFO ncclCommInitRankConfig comm 0xd0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 4b000 commId 0x62 - Init START
a:1:5 [0] NCCL INFO comm 0xd0 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0
a:1:5 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA
a:1:5 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
a:1:5 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM
a:1:5 [0] NCCL INFO 2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer
a:1:5 [0] NCCL INFO Send: opCount 2a sendbuff (nil) recvbuff 0x7f count 64 datatype 9 op 0 root 1 comm 0xd0 [nranks=2] stream (nil)
a:2:5 [0] NCCL INFO ncclCommInitRank comm 0xd0 rank 1 nranks 2 cudaDev 0 busId 4b000 commId 0x62 - Init COMPLETE
a:1:9 [0] NCCL WARN NET/IB : Got completion from peer with status=12
`)
	if len(log.Groups) != 2 || len(log.Issues) != 1 || log.Issues[0].Code != "nccl-warning" || log.Issues[0].First.Line != 10 {
		t.Fatalf("%+v", log)
	}
	g := log.Groups[0]
	if g.Version != "2.27.3+cuda12.9" || g.Nodes != 2 || g.Channels != 2 || g.Transports["NET/IB/GDRDMA"] != 1 || g.Transports["P2P/CUMEM"] != 2 || len(g.Ops) != 1 || g.Ops[0].Peer != 1 || g.Ops[0].Dtype != "bfloat16" {
		t.Errorf("%+v", g)
	}
	if log.Groups[1].Place != 1 || log.Groups[1].Name != "0x62" {
		t.Errorf("%+v", log.Groups[1])
	}
}

// TestWatchdog: one time-out that is printed three times counts once; a later one of the
// same call is another.
func TestWatchdog(t *testing.T) {
	// Trap: repeated lines.
	const first = `[rank3]:[E1125 03:31:45.913 ProcessGroupNCCL.cpp:683] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=97, OpType=ALLREDUCE, NumelIn=512, NumelOut=512, Timeout(ms)=600000) ran for 600079 milliseconds before timing out.
[rank3]:[E1125 03:31:45.914 ProcessGroupNCCL.cpp:690] [PG ID 2 PG GUID 11(TENSOR_GROUP) Rank 1] Exception (either an error or timeout) detected by watchdog at work: 97, last enqueued NCCL work: 99, last completed NCCL work: 96.
[rank3]:[E1125 03:32:45.551 ProcessGroupNCCL.cpp:2057] [PG ID 2 PG GUID 11(TENSOR_GROUP) Rank 1] Process group watchdog thread terminated with exception: [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=97, OpType=ALLREDUCE, NumelIn=512, NumelOut=512, Timeout(ms)=600000) ran for 600079 milliseconds before timing out.
  what():  [PG ID 2 PG GUID 11(TENSOR_GROUP) Rank 1] Process group watchdog thread terminated with exception: [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=97, OpType=ALLREDUCE, NumelIn=512, NumelOut=512, Timeout(ms)=600000) ran for 600079 milliseconds before timing out.
`
	log := textLog(t, first)
	if len(log.Groups) != 1 {
		t.Fatalf("%+v", log.Groups)
	}
	g := log.Groups[0]
	if g.Rank != 3 || g.Place != 1 || g.Name != "11" || g.Desc != "TENSOR_GROUP" || g.LastEnqueued != 99 || g.LastCompleted != 96 || len(g.Pending) != 1 {
		t.Errorf("%+v", g)
	}
	if p := g.Pending[0]; p.Op != "allreduce" || p.Seq != 97 || p.Ran != 600_079e6 || p.Shape != "512 elements" {
		t.Errorf("%+v", p)
	}
	if log := textLog(t, first+strings.ReplaceAll(first, "600079", "600041")); len(log.Groups) != 2 {
		t.Errorf("%d groups", len(log.Groups))
	}
}

const dumpJSON = `{"version":"2.5","nccl_version":"2.27.3","rank":3,"pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 3]"},"7":{"name":"7","desc":"tp","ranks":"[3]"}},
"pg_status":{"0":{"last_enqueued_collective":9,"last_started_collective":-1,"last_completed_collective":7}},
"entries":[{"process_group":["0","default_pg"],"pg_id":0,"collective_seq_id":9,"p2p_seq_id":0,"profiling_name":"nccl:all_reduce","time_created_ns":1724779239936775119,"input_sizes":[[3,4]],"input_dtypes":["Float"],"state":"scheduled","is_p2p":false},
{"process_group":["0","default_pg"],"pg_id":0,"collective_seq_id":8,"p2p_seq_id":0,"profiling_name":"nccl:broadcast","state":"started","is_p2p":false},
{"process_group":["0","default_pg"],"pg_id":0,"collective_seq_id":7,"profiling_name":"nccl:broadcast","state":"completed","is_p2p":false}]}`

func checkDump(t *testing.T, log *logs.Log) {
	t.Helper()
	if len(log.Groups) != 2 {
		t.Fatalf("%+v", log.Groups)
	}
	slices.SortFunc(log.Groups, func(a, b logs.Group) int { return strings.Compare(a.Name, b.Name) })
	g := log.Groups[0]
	if g.Rank != 3 || g.Version != "2.27.3" || !slices.Equal(g.Members, []int{0, 3}) || g.LastEnqueued != 9 || g.LastCompleted != 7 || len(g.Pending) != 2 {
		t.Errorf("%+v", g)
	}
	if p := g.Pending[1]; p.Op != "all_reduce" || p.Seq != 9 || p.Created != 1724779239936775119 || p.Shape != "3x4 Float" || g.Pending[0].Seq != 8 {
		t.Errorf("%+v", g.Pending)
	}
	if log.Groups[1].Desc != "tp" || len(log.Groups[1].Pending) != 0 {
		t.Errorf("%+v", log.Groups[1])
	}
}

// TestFlight: a dump is the same as JSON and as a pickle.
func TestFlight(t *testing.T) {
	for _, text := range [][]byte{[]byte(dumpJSON), pickleOf(t, dumpJSON)} {
		if !SniffFlight(text) {
			t.Error("Sniff says no")
		}
		log, err := ReadFlight(bytes.NewReader(text), "x", logs.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		checkDump(t, log)
	}
}

// TestSniffFlight: a dump whose groups fill the head is one; a trace that lists the groups
// of its job is not, wherever it lists them.
func TestSniffFlight(t *testing.T) {
	var groups strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&groups, `"%d":{"name":"%d","desc":"dp","ranks":"[%d, %d]"},`, i, i, i, i+1)
	}
	large := `{"version":"2.5","pg_config":{` + groups.String() + `"x":{}},"entries":[]}`
	for _, tt := range []struct {
		text string
		want bool
	}{
		{large, true},
		{`{"version":"2.5","nccl_version":"2.27.3","list":[{"pg_config":{}}, 2],"pg_config":{`, true},
		{`{"schemaVersion":1,"distributedInfo":{"backend":"nccl","pg_config":[{"pg_name":"0"}],"nccl_version":"2.21.5"},"traceEvents":[`, false},
		{`{"schemaVersion":1,"otherInfo":{"pg_config":[{}],"nccl_version":"2.21.5"},"entries":"pg_config","traceEvents":[`, false},
		{`{"values":["pg_config", "entries"]}`, false},
	} {
		if got := SniffFlight([]byte(tt.text)); got != tt.want {
			t.Errorf("%.60s: %v, want %v", tt.text, got, tt.want)
		}
	}
}

// TestFlightDamaged: a pickle that is cut keeps what it has, and one that asks for a
// function is refused.
func TestFlightDamaged(t *testing.T) {
	whole := pickleOf(t, dumpJSON)
	log, err := ReadFlight(bytes.NewReader(whole[:len(whole)*3/4]), "x", logs.Limits{})
	if err != nil || log.Complete || len(log.Issues) != 1 {
		t.Errorf("%v, %+v", err, log)
	}
	if _, err := ReadFlight(strings.NewReader("\x80\x02cos\nsystem\n(X\x09\x00\x00\x00pg_configtR."), "x", logs.Limits{}); err == nil || !strings.Contains(err.Error(), "os.system") {
		t.Errorf("a call is %v", err)
	}
	if _, err := ReadFlight(strings.NewReader(`{"pg_config": [`), "x", logs.Limits{}); err == nil {
		t.Error("cut JSON has no error")
	}
}

// pickleOf writes JSON as a pickle of protocol 2, as PyTorch does.
func pickleOf(t testing.TB, text string) []byte {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	out := []byte("\x80\x02")
	u32 := func(n int) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)} }
	var write func(v any)
	write = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(append(append(out, 'X'), u32(len(v))...), v...)
		case bool:
			out = append(out, map[bool]byte{true: 0x88, false: 0x89}[v])
		case float64:
			n := int64(v)
			if v == 1724779239936775119 {
				n = 1724779239936775119
			}
			out = append(out, 0x8a, 8)
			for i := range 8 {
				out = append(out, byte(n>>(8*i)))
			}
		case nil:
			out = append(out, 'N')
		case []any:
			out = append(out, ']', '(')
			for _, e := range v {
				write(e)
			}
			out = append(out, 'e')
		case map[string]any:
			out = append(out, '}', '(')
			keys := make([]string, 0, len(v))
			for k := range v {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			slices.Reverse(keys) // version and config come first
			slices.SortStableFunc(keys, func(a, b string) int {
				return strings.Compare(map[string]string{"entries": "z"}[a], map[string]string{"entries": "z"}[b])
			})
			for _, k := range keys {
				write(k)
				write(v[k])
			}
			out = append(out, 'u')
		}
	}
	write(v)
	return append(out, '.')
}

// TestRealFiles: tables, dumps and messages of real files have what another program reads.
func TestRealFiles(t *testing.T) {
	dir := test.Corpus(t)
	kinds := map[string]int{}
	for file, raw := range test.Expected(t, "null") {
		kind, _, _ := strings.Cut(file, "/")
		content, err := os.ReadFile(filepath.Join(dir, "series", file))
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Avg      []float64 `json:"avg_busbw"`
			Max      float64   `json:"max_busbw_out"`
			Rows     int
			Entries  int
			PGs      int
			Versions []string
			Nccl     json.RawMessage
		}
		if kind != "nccl_tests" && kind != "flight_recorder" && kind != "nccl" && kind != "watchdog" {
			continue
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		kinds[kind]++
		switch kind {
		case "nccl_tests":
			log := textLog(t, string(content))
			avg, out := numbersOf(log, "comm.busbw", "mean"), numbersOf(log, "comm.busbw", "out-of-place")
			for i := range avg {
				avg[i] /= 1e9
			}
			if len(out) != want.Rows || len(avg) != len(want.Avg) || len(out) > 0 && math.Abs(slices.Max(out)/1e9-want.Max) > 1e-3*want.Max {
				t.Errorf("%s: %d rows, %d averages; want %d, %d", file, len(out), len(avg), want.Rows, len(want.Avg))
				continue
			}
			for i := range avg {
				if math.Abs(avg[i]-want.Avg[i]) > 1e-3*want.Avg[i] {
					t.Errorf("%s: averages %v, want %v", file, avg, want.Avg)
				}
			}
		case "flight_recorder":
			if !SniffFlight(content) {
				t.Errorf("%s: Sniff says no", file)
			}
			log, err := ReadFlight(bytes.NewReader(content), file, logs.Limits{})
			if err != nil {
				t.Error(err)
				continue
			}
			n := 0
			for _, g := range log.Groups {
				n += len(g.Pending)
			}
			if n != want.Entries || len(log.Groups) != want.PGs || !log.Complete {
				t.Errorf("%s: %d calls of %d groups, want %d of %d", file, n, len(log.Groups), want.Entries, want.PGs)
			}
		case "nccl":
			log := textLog(t, string(content))
			if len(log.Groups) == 0 || log.Groups[0].Version != want.Versions[0] {
				t.Errorf("%s: %d groups", file, len(log.Groups))
			}
		case "watchdog": // six lines have two time-outs
			if log := textLog(t, string(content)); len(log.Groups) != 2 || log.Groups[0].Pending[0].Seq != 97 || log.Groups[0].Name != "0" {
				t.Errorf("%s: %+v", file, log.Groups)
			}
		}
	}
	if kinds["nccl_tests"] != 7 || kinds["flight_recorder"] != 32 || kinds["nccl"] != 3 || kinds["watchdog"] != 1 {
		t.Errorf("files are %v", kinds)
	}
}

// TestRealBandwidths: of each row of real tables, the bus bandwidth is the printed algorithm bandwidth
// times the factor that nccl-tests' documentation gives for the collective.
func TestRealBandwidths(t *testing.T) {
	files := test.Files(t, filepath.Join(test.Corpus(t, "series"), "nccl_tests", "*", "*.log"))
	if len(files) != 6 {
		t.Fatalf("%d files", len(files))
	}
	rows := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range textLog(t, string(text)).Benchmarks {
			set := map[string]string{}
			for _, l := range b.Settings {
				set[l.Name] = l.Value
			}
			test, n := set["test"], 0.0
			if test == "" { // older files are named after their test, and have the ranks in the head
				test = filepath.Base(file)
			}
			fmt.Sscan(set["ranks"], &n)
			factor := map[bool]float64{strings.Contains(test, "reduce_perf") || strings.Contains(test, "allreduce"): 2 * (n - 1) / n,
				strings.Contains(test, "gather") || strings.Contains(test, "scatter") || strings.Contains(test, "alltoall"): (n - 1) / n}[true]
			if strings.Contains(test, "sendrecv") {
				factor = 1
			}
			alg, bus := -1.0, -1.0
			for _, f := range b.Metrics {
				switch {
				case f.Metric.Name == "comm.algbw" && f.Stat == "out-of-place":
					alg = f.Value / 1e9
				case f.Metric.Name == "comm.busbw" && f.Stat == "out-of-place":
					bus = f.Value / 1e9
				}
			}
			if alg < 0 || n == 0 {
				continue
			}
			rows++
			if math.Abs(bus-alg*factor) > 0.0051*(1+factor) { // both are printed with two decimals
				t.Errorf("%s line %d: bus bandwidth %g, algorithm bandwidth %g with %g ranks", file, b.Line, bus, alg, n)
			}
		}
	}
	if rows < 150 {
		t.Errorf("%d rows", rows)
	}
}

// TestOldGroups: logs of NCCL without a commId have a pointer of each process. The members are one
// group if each place of it is there once; two groups of one size are not merged.
func TestOldGroups(t *testing.T) {
	member := func(pid, place, size int) string {
		return fmt.Sprintf("h:%d:%d [0] NCCL INFO comm 0x7f%02x rank %d nranks %d cudaDev 0 busId 10 - Init COMPLETE\n", pid, pid, pid, place, size)
	}
	names := func(text string) map[string]int {
		out := map[string]int{}
		for _, g := range textLog(t, text).Groups {
			out[g.Name]++
		}
		return out
	}
	one := member(12, 1, 3) + member(11, 0, 3) + member(13, 2, 3)
	if got := names(one); len(got) != 1 || got["0x7f0b"] != 3 {
		t.Errorf("one group: %v", got)
	}
	for name, text := range map[string]string{
		"a member is missing": member(12, 1, 3) + member(11, 0, 3),
		"two groups":          member(11, 0, 2) + member(12, 1, 2) + member(13, 0, 2) + member(14, 1, 2),
		"a place twice":       member(11, 0, 3) + member(12, 1, 3) + member(13, 1, 3),
	} {
		if got := names(text); len(got) != strings.Count(text, "\n") {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestRealSends: in the logs of a run that failed, rank 1 of two groups sent what rank 0
// did not receive.
func TestRealSends(t *testing.T) {
	files := test.Files(t, filepath.Join(test.Corpus(t, "ranks", "torchtitan_fsdp2_pp4_failed_nccl_logs"), "*.log.gz"))
	if len(files) != 8 {
		t.Fatalf("%d logs", len(files))
	}
	type pair struct {
		group    string
		src, dst int
		count    int64
		dtype    string
	}
	balance := map[pair]int64{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		z := inflate.NewReader(f)
		finder := NewFinder(file, logs.Limits{})
		if _, err := textscan.Scan(z, finder); err != nil {
			t.Fatal(err)
		}
		f.Close()
		for _, g := range finder.Log().Groups {
			for _, op := range g.Ops {
				switch op.Op {
				case "Send":
					balance[pair{g.Name, g.Place, op.Peer, op.Count, op.Dtype}] += op.Calls
				case "Recv":
					balance[pair{g.Name, op.Peer, g.Place, op.Count, op.Dtype}] -= op.Calls
				}
			}
		}
	}
	groups := map[string]bool{}
	for p, n := range balance {
		if n == 0 {
			continue
		}
		groups[p.group] = true
		if p.src != 1 || p.dst != 0 || p.count != 301344 || p.dtype != "bfloat16" || n != 2 {
			t.Errorf("%+v: %d", p, n)
		}
	}
	if len(groups) != 2 || len(balance) < 50 {
		t.Errorf("%d groups of %d", len(groups), len(balance))
	}
}

func FuzzFinder(f *testing.F) {
	f.Add([]byte(allReduce))
	f.Add([]byte("a:1:5 [0] NCCL INFO comm 0xd0 rank 0 nRanks 2 nNodes 2 x\na:1:5 [0] NCCL INFO Send: opCount 2a x count 64 datatype 9 op 0 root 1 comm 0xd0 [nranks=2]\n"))
	f.Add([]byte("[rank3]:[E [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=97, OpType=A, NumelIn=5, NumelOut=5, Timeout(ms)=6) ran for 7 milliseconds\n"))
	f.Fuzz(func(t *testing.T, text []byte) { textLog(t, string(text)) })
}

func FuzzFlight(f *testing.F) {
	f.Add([]byte(dumpJSON))
	f.Add(pickleOf(f, dumpJSON))
	f.Fuzz(func(t *testing.T, text []byte) {
		SniffFlight(text)
		ReadFlight(bytes.NewReader(text), "x", logs.Limits{Memory: 16 << 20})
	})
}
