package ncu

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"assay/internal/test"
)

// read reads a text that must be valid.
func read(t *testing.T, text string) *Capture {
	t.Helper()
	c, err := Read(strings.NewReader(text), "in", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// say prints a capture: launches, metrics with a quantity, texts, rules and
// issues.
func say(c *Capture) string {
	var b strings.Builder
	for i := range c.Launches {
		l := &c.Launches[i]
		fmt.Fprintf(&b, "%s pid=%d dev=%d cc=%s ctx=%d str=%d grid=%v block=%v n=%d\n", l.Kernel, l.PID, l.Device, l.Capability, l.Context, l.Stream, l.Grid, l.Block, l.Count)
		for _, m := range l.Metrics {
			k := c.Keys[m.Key]
			switch {
			case m.Text != 0:
				fmt.Fprintf(&b, "  %s/%s is %s\n", k.Section, k.Name, c.Texts[m.Text])
			case k.Quantity == None:
				fmt.Fprintf(&b, "  %s/%s = %.9g %s\n", k.Section, k.Name, m.Value, k.Unit)
			default:
				fmt.Fprintf(&b, "  %s/%s = %.9g %s -> %s%s\n", k.Section, k.Name, m.Value, k.Unit, quantityNames()[k.Quantity], k.Part)
			}
		}
		for _, r := range l.Rules {
			fmt.Fprintf(&b, "  %s %s %s %g%s\n", r.Type, r.Name, r.Text, r.Speedup, r.SpeedupKind)
		}
	}
	for _, is := range c.Issues {
		fmt.Fprintf(&b, "%s %s %d %s\n", is.Severity, is.Code, is.Count, is.First)
	}
	return b.String()
}

func quantityNames() map[Quantity]string {
	return map[Quantity]string{
		Duration: "time", ComputeShare: "compute", MemoryShare: "memory", DRAMRate: "rate", SMFrequency: "clock",
		DRAMBytes: "moved", DRAMRead: "read", Stalls: "stall by ", PeakF32: "peak",
	}
}

const (
	newHeader = `"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"` + "\n"
	oldHeader = `"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value"` + "\n"
	start     = `"0","41","app","127.0.0.1","k<int>(float*, int)","1","7","(256, 1, 1)","(8, 4, 1)","2","9.0",`
	launch0   = "k<int>(float*, int) pid=41 dev=2 cc=9.0 ctx=1 str=7 grid=[8 4 1] block=[256 1 1] n=1\n"
)

func TestPages(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"details with rules, ragged, and other lines around them",
			"==PROF== Connected to process 41 (/usr/bin/app)\nloss 1.25, \"ok\"\n==PROF== Disconnected from process 41\n" + newHeader +
				start + `"GPU Speed Of Light Throughput","Duration","ns","1,234,567",` + "\n" +
				start + `"GPU Speed Of Light Throughput","Memory Throughput","%","61.84",` + "\n" +
				"epoch 1 done\n" +
				start + `"Memory Workload Analysis","Memory Throughput","byte/s","196,456,177,859.63",` + "\n" +
				start + `"Launch Statistics","Function Cache Configuration","","CachePreferNone",` + "\n" +
				start + `"Occupancy","Cluster Occupancy","%","n/a",` + "\n" +
				start + `"SpeedOfLight","","","","SOLBottleneck","OPT","Use ""less"", it says","global","45.14"` + "\n",
			launch0 +
				"  GPU Speed Of Light Throughput/Duration = 1234567 ns -> time\n" +
				"  GPU Speed Of Light Throughput/Memory Throughput = 61.84 % -> memory\n" +
				"  Memory Workload Analysis/Memory Throughput = 1.96456178e+11 byte/s -> rate\n" +
				"  Launch Statistics/Function Cache Configuration is CachePreferNone\n" +
				"  OPT SOLBottleneck Use \"less\", it says 45.14global\n"},
		{"old header and old, scaled units",
			oldHeader +
				`"3","9","a.out","h","old","2020-Nov-01 10:00:00","1","7","GPU Speed Of Light","Duration","usecond","12.50"` + "\n" +
				`"3","9","a.out","h","old","2020-Nov-01 10:00:00","1","7","GPU Speed Of Light","SOL SM","%","70.10"` + "\n" +
				`"3","9","a.out","h","old","2020-Nov-01 10:00:00","1","7","GPU Speed Of Light","SM Frequency","cycle/nsecond","1.41"` + "\n" +
				`"3","9","a.out","h","old","2020-Nov-01 10:00:00","1","7","Memory Workload Analysis","Memory Throughput","Gbyte/second","820.5"` + "\n" +
				`"4","9","a.out","h","old","2020-Nov-01 10:00:01","1","7","GPU Speed Of Light","Duration","msecond","2"` + "\n",
			"old pid=9 dev=0 cc= ctx=1 str=7 grid=[0 0 0] block=[0 0 0] n=1\n" +
				"  GPU Speed Of Light/Duration = 12500 ns -> time\n  GPU Speed Of Light/SOL SM = 70.1 % -> compute\n" +
				"  GPU Speed Of Light/SM Frequency = 1.41e+09 hz -> clock\n  Memory Workload Analysis/Memory Throughput = 8.205e+11 byte/s -> rate\n" +
				"old pid=9 dev=0 cc= ctx=1 str=7 grid=[0 0 0] block=[0 0 0] n=1\n  GPU Speed Of Light/Duration = 2000000 ns -> time\n"},
		{"raw page with its row of units",
			`"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum","dram__bytes_read.sum","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"` + "\n" +
				`"","","","","","","","","","","","us","Mbyte","inst","inst/cycle"` + "\n" +
				start + `"1.5","2","7.25","128"` + "\n" + start + `"2.5","4","(!) n/a","128"` + "\n",
			launch0 +
				"  /gpu__time_duration.sum = 1500 ns -> time\n  /dram__bytes_read.sum = 2000000 byte -> read\n" +
				"  /smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio = 7.25 inst -> stall by long scoreboard\n" +
				"  /sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained = 256 inst/cycle -> peak\n" +
				launch0 +
				"  /gpu__time_duration.sum = 2500 ns -> time\n  /dram__bytes_read.sum = 4000000 byte -> read\n" +
				"  /sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained = 256 inst/cycle -> peak\n"},
		{"--metrics, and names that have their labels too",
			oldHeader + `"0","9","a","h","m","t","1","7","Command line profiler metrics","dram__bytes.sum","Kbyte","3.5"` + "\n" +
				`"0","9","a","h","m","t","1","7","Command line profiler metrics","Duration (gpu__time_duration.sum)","nsecond","640"` + "\n",
			"m pid=9 dev=0 cc= ctx=1 str=7 grid=[0 0 0] block=[0 0 0] n=1\n  Command line profiler metrics/dram__bytes.sum = 3500 byte -> moved\n" +
				"  Command line profiler metrics/Duration (gpu__time_duration.sum) = 640 ns -> time\n"},
		{"--print-summary",
			`"Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Invocations","Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average"` + "\n" +
				`"9","a","h","k","1","7","(64, 1, 1)","(2, 1, 1)","0","8.0","12","GPU Speed Of Light Throughput","Duration","us","1.00","3.00","2.25"` + "\n" +
				`"9","a","h","k","1","7","(64, 1, 1)","(4, 1, 1)","0","8.0","3","GPU Speed Of Light Throughput","Duration","us","1.00","3.00","2.50"` + "\n",
			"k pid=9 dev=0 cc=8.0 ctx=1 str=7 grid=[2 1 1] block=[64 1 1] n=12\n  GPU Speed Of Light Throughput/Duration = 2250 ns -> time\n" +
				"k pid=9 dev=0 cc=8.0 ctx=1 str=7 grid=[4 1 1] block=[64 1 1] n=3\n  GPU Speed Of Light Throughput/Duration = 2500 ns -> time\n"},
		{"two tables, a prefix of a log, an error of ncu",
			"[rank0] " + newHeader + "[rank0] " + start + `"S","Duration","ns","10"` + "\n==ERROR== The application returned an error code (1)\n" +
				newHeader + start + `"S","Duration","ns","20"` + "\n",
			launch0 + "  S/Duration = 10 ns -> time\n" + launch0 + "  S/Duration = 20 ns -> time\ndata-loss ncu-error 1 in:3\n"},
		{"trouble", newHeader + start + `"S","Duration","parsec","10"` + "\n" + start + `"S","Waves Per SM","","many"` + "\n" +
			start + `"S","Registers Per Thread","","-4"` + "\n" + `"0","41","app"` + "\n" + start + `"S","cut off`,
			launch0 + "  S/Duration = 10 parsec\n" +
				"data-loss input-truncated 1 in:6\ndata-loss row-malformed 1 in:5\ndata-loss unit-unknown 1 in:2\ndata-loss value-malformed 2 in:3\n"},
		{"output without an end of line before the header, blanks between cells, an empty line",
			`loss 1.25"ID", "Process ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"` + "\n\n" + `"0", "9", "k", "Duration", "ns", "1,234"` + "\n",
			"k pid=9 dev=0 cc= ctx=0 str=0 grid=[0 0 0] block=[0 0 0] n=1\n  /Duration = 1234 ns -> time\ninfo number-format-assumed 1 in:4\n"},
		{"quotes only where they are needed, semicolons",
			"ID;Process ID;Process Name;Host Name;Kernel Name;Metric Name;Metric Unit;Metric Value\n0;9;a;h;\"k; x\";Duration;us;1,5\nstep 1; loss; 2\n",
			"k; x pid=9 dev=0 cc= ctx=0 str=0 grid=[0 0 0] block=[0 0 0] n=1\n  /Duration = 1500 ns -> time\n"},
		{"summary by range, without units",
			`"Domain","Range:PL_Type:PL_Value","Kernel Name","Invocations","Metric Name","Average"` + "\n" +
				`"<default domain>"," ""step:none"" ","k","4","sm__throughput.avg.pct_of_peak_sustained_elapsed","57.25"` + "\n",
			"k pid=0 dev=0 cc= ctx=0 str=0 grid=[0 0 0] block=[0 0 0] n=4\n  /sm__throughput.avg.pct_of_peak_sustained_elapsed = 57.25 % -> compute\n"},
		{"a name of two lines", newHeader + strings.Replace(start, "k<int>", "k\n<int>", 1) + `"S","Duration","ns","10"` + "\n",
			strings.Replace(launch0, "k<int>", "k\n<int>", 1) + "  S/Duration = 10 ns -> time\n"},
	} {
		if got := say(read(t, tc.in)); got != tc.want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", tc.name, got, tc.want)
		}
		if !Sniff([]byte(tc.in)) {
			t.Errorf("%s: not sniffed", tc.name)
		}
	}
}

// TestLocales reads the same table in the formats of several locales.
func TestLocales(t *testing.T) {
	values := func(ns, share, rate, ambiguous string) string {
		return newHeader + start + `"S","A","","` + ambiguous + `",` + "\n" + start + `"S","Duration","ns","` + ns + `",` + "\n" +
			start + `"S","Memory Throughput","%","` + share + `",` + "\n" + start + `"S","Memory Throughput","byte/s","` + rate + `",` + "\n"
	}
	for _, in := range []string{
		values("21058944", "61.84", "196456177859.63", "1234"),
		values("21,058,944", "61.84", "196,456,177,859.63", "1,234"),
		values("21.058.944", "61,84", "196.456.177.859,63", "1.234"),
		values("21 058 944", "61,84", "196 456 177 859,63", "1 234"),
		values("21\u00a0058\u00a0944", "61,84", "196\u202f456\u202f177\u202f859,63", "1\u202f234"),
		values("21'058'944", "61.84", "196’456’177’859.63", "1'234"),
		values("2.1058944e+07", "61.84", "1.9645617785963e+11", "1.234e3"),
	} {
		c := read(t, in)
		want := []float64{1234, 21058944, 61.84, 196456177859.63}
		for i, m := range c.Launches[0].Metrics {
			if math.Abs(m.Value-want[i]) > 1e-9*want[i] {
				t.Errorf("metric %d of\n%s\nis %v, want %v", i, in, m.Value, want[i])
			}
		}
		if len(c.Issues) != 0 || len(c.Launches[0].Metrics) != len(want) {
			t.Errorf("%s\nhas %s", in, say(c))
		}
	}
	lone := read(t, newHeader+start+`"S","A","","1,234",`+"\n"+start+`"S","B","","1.234",`+"\n")
	if got := say(lone); got != launch0+"  S/A = 1234 \n  S/B = 1.234 \ninfo number-format-assumed 1 in:4\n" {
		t.Errorf("numbers in doubt read as\n%s", got)
	}
}

func TestNumber(t *testing.T) {
	for _, tc := range []struct {
		text    string
		percent bool
		want    float64
		ok      bool
	}{
		{"0", false, 0, true}, {"-3", false, -3, true}, {"0.123", false, 0.123, true}, {".5", false, 0.5, true}, {"1234.567", false, 1234.567, true},
		{"5,818", true, 5.818, true}, {"5.818", true, 5.818, true}, {"4,096 (512; 3,584)", false, 4096, true}, {"1e3", false, 1000, true},
		{"", false, 0, false}, {"-", false, 0, false}, {"1,2.3,4", false, 0, false}, {"12x", false, 0, false}, {"1e999", false, 0, false},
		{"٣", false, 0, false}, {strings.Repeat("1", 65), false, 0, false},
	} {
		var n notation
		got, ok := n.number(tc.text, tc.percent)
		if ok != tc.ok || ok && got.value != tc.want {
			t.Errorf("number(%q, %v) = %v, %v, want %v, %v", tc.text, tc.percent, got.value, ok, tc.want, tc.ok)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, tc := range []struct {
		unit, base string
		size       float64
	}{
		{"nsecond", "ns", 1}, {"usecond", "ns", 1e3}, {"ms", "ns", 1e6}, {"second", "ns", 1e9}, {"Kbyte", "byte", 1e3}, {"Gbyte", "byte", 1e9},
		{"Gbyte/second", "byte/s", 1e9}, {"byte/s", "byte/s", 1}, {"Mbyte/s", "byte/s", 1e6}, {"byte/nsecond", "byte/s", 1e9},
		{"cycle/nsecond", "hz", 1e9}, {"Ghz", "hz", 1e9}, {"hz", "hz", 1}, {"cycle/usecond", "hz", 1e6}, {"byte/cycle", "byte/cycle", 1}, {"Kbyte/block", "byte/block", 1e3},
		{"inst/cycle", "inst/cycle", 1}, {"%", "%", 1}, {"", "", 1}, {"register/thread", "register/thread", 1}, {"Kelvin", "Kelvin", 1},
	} {
		if base, size := baseUnit(tc.unit); base != tc.base || math.Abs(size/tc.size-1) > 1e-12 {
			t.Errorf("%q is %g %q, want %g %q", tc.unit, size, base, tc.size, tc.base)
		}
	}
}

// TestNothing: an input without launches is refused with the reason.
func TestNothing(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"==PROF== Connected to process 1 (/a)\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.\n",
			"in:1: ncu was not permitted to read the counters of the GPU (ERR_NVGPUCTRPERM), so there is nothing to read; run ncu as administrator, or load the driver with NVreg_RestrictProfilingToAdminUsers=0, or start the container with --cap-add SYS_ADMIN, and profile again"},
		{"==PROF== Connected to process 1 (/a)\n==WARNING== No kernels were profiled.\n", `in:1: ncu profiled nothing and reported "No kernels were profiled."; profile again`},
		{newHeader, "in:1: the ncu table has no rows; check that --kernel-name and --launch-skip leave a launch, and profile again"},
		{"hello\n", "in:1: the input has no ncu table; use the output of ncu, with --page details or --page raw, best with --csv"},
	} {
		_, err := Read(strings.NewReader(tc.in), "in", Limits{})
		if err == nil || err.Error() != tc.want {
			t.Errorf("%q:\ngot  %v\nwant %s", tc.in, err, tc.want)
		}
	}
}

// TestBroken: the launches before the position where an input breaks off are
// kept.
func TestBroken(t *testing.T) {
	whole := newHeader + start + `"S","Duration","ns","10"` + "\n"
	c, err := Read(io.MultiReader(strings.NewReader(whole+start), iotest.ErrReader(errors.New("no more"))), "in", Limits{})
	if err != nil || c.Complete || len(c.Launches) != 1 || len(c.Issues) != 1 || c.Issues[0].Code != "input-truncated" {
		t.Errorf("got %+v, %v", c, err)
	}
	if _, err := Read(iotest.ErrReader(errors.New("no more")), "in", Limits{}); err == nil || err.Error() != "no more" {
		t.Errorf("nothing was read, and the error is %v", err)
	}
	var many strings.Builder
	many.WriteString(newHeader)
	for i := range 100_000 {
		fmt.Fprintf(&many, `"%d",%s"S","Duration","ns","10"`+"\n", i, strings.TrimPrefix(start, `"0",`))
	}
	c, err = Read(strings.NewReader(many.String()), "in", Limits{Memory: 1 << 20})
	if err != nil || c.Complete || !c.Limited() || len(c.Launches) < 1000 || len(c.Launches) > 10_000 {
		t.Fatalf("%d launches in 1 MiB, complete: %v, limited: %v, %v", len(c.Launches), c.Complete, c.Limited(), err)
	}
}

func TestNotMine(t *testing.T) {
	for _, text := range []string{"", "{\"traceEvents\":[]}", "Time (%),Total Time (ns),Instances,Avg (ns)\n", "id,name\n1,2\n", "==1234== NVPROF is profiling process 1234\n", "\x00\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\n"} {
		if Sniff([]byte(text)) {
			t.Errorf("%q is taken for output of ncu", text)
		}
	}
	if !Sniff([]byte(`"ID","Process ID","Process Name","Host Name","Kernel Name","Context","dram__byt`)) {
		t.Error("the beginning of a long header is not recognised")
	}
}

// corpus opens a real file, or skips the test.
func corpus(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(test.Corpus(t, "nsight", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestCorpus compares metrics of real files with the values that Python's csv
// module reads.
func TestCorpus(t *testing.T) {
	for _, tc := range []struct {
		name           string
		metrics, rules int
		rows           int64
		want           map[Quantity]float64
		limiters       string
	}{
		{"brycelelbach_nsightful/ncu_copy_blocked_details.csv", 72, 11, 83, map[Quantity]float64{
			Duration: 21058944, ComputeShare: 1.30, MemoryShare: 61.84, DRAMRate: 196456177859.63, L2Hits: 4.58,
			Waves: 6.4, WarpCycles: 933.13, SMFrequency: 584998877.44, Occupancy: 96.26}, "warps"},
		{"microsoft_superbenchmark/cublaslt_ncu_details.log", 50, 8, 58, map[Quantity]float64{
			Duration: 406240, ComputeShare: 23.59, MemoryShare: 21.68, DRAMShare: 0.74, Registers: 168,
			TheoreticalOccupancy: 18.75, LimitBarriers: 9, DRAMFrequency: 3995313115.40}, "registers, shared memory"},
	} {
		f := corpus(t, tc.name)
		c, err := Read(f, tc.name, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		l := &c.Launches[0]
		if len(c.Launches) != 1 || c.Rows != tc.rows || len(l.Metrics) != tc.metrics || len(l.Rules) != tc.rules || len(c.Issues) != 0 || !c.Complete {
			t.Errorf("%s: %d launches, %d rows, %d metrics, %d rules, issues %v", tc.name, len(c.Launches), c.Rows, len(l.Metrics), len(l.Rules), c.Issues)
		}
		for q, want := range tc.want {
			if got, ok := c.Value(l, q); !ok || got != want {
				t.Errorf("%s: quantity %d is %v, %v, want %v", tc.name, q, got, ok, want)
			}
		}
		if got := strings.Join(c.Limiters(l), ", "); got != tc.limiters {
			t.Errorf("%s: limited by %s, want %s", tc.name, got, tc.limiters)
		}
	}
}

// TestNeverClosed: a row with an unclosed quote loses a limited number of
// lines, and the time of reading stays linear.
func TestNeverClosed(t *testing.T) {
	const lines = 65 * 3000
	row := `"0","1","p","h","k","t","1","7","GPU Speed Of Light","Duration","nsecond","1000"` + "\n"
	start := time.Now()
	c := read(t, oldHeader+row+strings.Repeat(`"1","1","p`+"\n", lines))
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	for _, is := range c.Issues {
		if is.Code == "row-malformed" && is.Count == lines/(maxJoined+1) {
			return
		}
	}
	t.Errorf("want %d rows that are malformed: %+v", lines/(maxJoined+1), c.Issues)
}
