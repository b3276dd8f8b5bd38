package monitor

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/logs"
)

func equal(t *testing.T, what string, got []float64, want ...float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b)+1e-12 }) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func seriesOf(t *testing.T, log *logs.Log, metric, as string) *logs.Series {
	t.Helper()
	for i := range log.Series {
		if s := &log.Series[i]; s.Metric.Name == metric && s.As == as {
			return s
		}
	}
	t.Fatalf("no %s as %s", metric, as)
	return nil
}

// TestDmon: columns are found by name, headings repeat, and a hyphen is no zero.
func TestDmon(t *testing.T) {
	// Trap: '-' is no zero.
	log := textLog(t, `# gpu   pwr gtemp mtemp    sm   mem    fb
# Idx     W     C     C     %     %    MB
    0   300    60     -    95    40  1024
    1     -    50     -     -     -  2048

# gpu    fb    sm   pwr
# Idx    MB     %     W
    0  4096    10   100
`)
	equal(t, "power", valuesOf(log, "gpu.power", "gpu=0"), 300, 100)
	equal(t, "use", valuesOf(log, "gpu.util", "gpu=0"), 0.95, 0.10)
	equal(t, "memory", valuesOf(log, "memory.used"), 1<<30, 4<<30, 2<<30)
	equal(t, "use of 1", valuesOf(log, "gpu.util", "gpu=1"))
	if s := seriesOf(t, log, "gpu.memory_temperature", "mtemp"); s.N != 0 || s.Missing != 1 || log.Clock.Known {
		t.Errorf("%+v", s)
	}
	log = textLog(t, "#Date       Time        gpu     sm\n#YYYYMMDD   HH:MM:SS    Idx      %\n 20240104   23:59:59      0     50\n 20240105   00:00:00      0     60\n")
	s := seriesOf(t, log, "gpu.util", "sm")
	if got := s.Points.Time[1] - s.Points.Time[0]; got != second || time.Unix(0, s.Points.Time[0]).UTC().Format(time.RFC3339) != "2024-01-04T23:59:59Z" {
		t.Errorf("times are %v", s.Points.Time)
	}
}

// TestPmon: a GPU without processes has no values, and commands may have spaces.
func TestPmon(t *testing.T) {
	// Trap: pmon with spaces in the command, and a GPU without processes.
	log := textLog(t, `# gpu         pid   type     sm    mem     fb    command
# Idx           #    C/G      %      %     MB    name
    0       21180     C     33      -    512    python train x
    1           -     -      -      -      -    -
`)
	equal(t, "use", valuesOf(log, "gpu.process_util", "process=python train x 21180"), 0.33)
	equal(t, "memory", valuesOf(log, "gpu.process_memory"), 512<<20)
	if len(log.Series) != 2 {
		t.Errorf("%d series", len(log.Series))
	}
}

// TestQuery: units in values, missing values of all forms, repeated headings, errors, and
// GPUs without a number in the order of a sample.
func TestQuery(t *testing.T) {
	// Trap: units and deprecated texts in the CSV of a query, and the mask of throttling.
	log := textLog(t, `timestamp, name, index, utilization.gpu [%], memory.used [MiB], power.draw [W], clocks_event_reasons.active
2026/01/16 14:44:16.500, NVIDIA H100, 0, 98 %, 1024 MiB, 655.25 W, 0x0000000000000004
2026/01/16 14:44:16.502, NVIDIA H100, 1, [Not Supported], [N/A], [Requested functionality has been deprecated], 0x0000000000000001
Unable to determine the device handle for GPU0000:41:00.0: Unknown Error
timestamp, name, index, utilization.gpu [%], memory.used [MiB], power.draw [W], clocks_event_reasons.active
2026/01/16 14:44:17.500, NVIDIA H100, 0, 12 %, 2048 MiB, 155.50 W, 0x0000000000000000
`)
	equal(t, "use", valuesOf(log, "gpu.util"), 0.98, 0.12)
	equal(t, "power", valuesOf(log, "gpu.power", "gpu=0"), 655.25, 155.5)
	equal(t, "throttled", valuesOf(log, "gpu.throttled", "gpu=0"), 1, 0)
	equal(t, "throttled 1", valuesOf(log, "gpu.throttled", "gpu=1"), 0)
	if s := seriesOf(t, log, "gpu.util", "utilization.gpu"); s.Points.Time[1]-s.Points.Time[0] != second {
		t.Errorf("%+v", s.Points)
	}
	log = textLog(t, "timestamp, utilization.gpu [%]\n2024/01/16 14:44:16.977, 1 %\n2024/01/16 14:44:16.981, 2 %\n2024/01/16 14:44:17.980, 3 %\n2024/01/16 14:44:17.985, 4 %\n")
	equal(t, "first", valuesOf(log, "gpu.util", "gpu=0"), 0.01, 0.03)
	equal(t, "second", valuesOf(log, "gpu.util", "gpu=1"), 0.02, 0.04)
}

// TestDCGM: both forms of the values, in which N/A is no value.
func TestDCGM(t *testing.T) {
	// Trap: long form of DCGM, and N/A of dcgmi.
	log := textLog(t, "GPUId,TimeStampUs,Field,Values\n0,1718783836956328,power_usage_instant,71.25\n1,1718783836956329,power_usage_instant,72.5\n0,1718783837169572,current_clock_throttle_reasons,4\n0,1718783837269572,current_clock_throttle_reasons,1\n")
	equal(t, "power", valuesOf(log, "gpu.power", "gpu=1"), 72.5)
	equal(t, "throttled", valuesOf(log, "gpu.throttled"), 1, 0)
	if log.Clock.Start != 1718783836956328000 || !log.Clock.Zoned {
		t.Errorf("%+v", log.Clock)
	}
	log = textLog(t, "#Entity   GPUTL      POWER      SMOCC\nID\nGPU 1     N/A        N/A        N/A\nGPU 0     50         350.5      0.25\n")
	equal(t, "use", valuesOf(log, "gpu.util"), 0.5)
	equal(t, "occupancy", valuesOf(log, "gpu.sm_occupancy", "gpu=0"), 0.25)
}

// TestPanel: rows of the drawing, with a limit of the power, and without a value on MIG.
func TestPanel(t *testing.T) {
	// Trap: panels in a loop, and MIG in a panel.
	const panel = `Tue Oct 29 19:00:23 2024
+------------------------------------------+
| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15      CUDA Version: 12.4     |
|   0  NVIDIA L40S                    On  |   00000000:4A:00.0 Off |                    0 |
| N/A   53C    P0            305W /  350W |   11948MiB /  46068MiB |     93%      Default |
|   1  NVIDIA H100                    On  |   00000000:4B:00.0 Off |                    0 |
| N/A   41C    P0             98W /  700W |      59MiB /  81559MiB |     N/A      Default |
|    0   N/A  N/A   3794277      C   python                                      11942MiB |
`
	log := textLog(t, panel+strings.ReplaceAll(panel, "19:00:23", "19:01:23"))
	equal(t, "use", valuesOf(log, "gpu.util"), 0.93, 0.93)
	equal(t, "memory", valuesOf(log, "memory.used", "gpu=1"), 59<<20, 59<<20)
	s := seriesOf(t, log, "gpu.power", "power")
	if len(s.Points.Time) != 2 || s.Points.Time[1]-s.Points.Time[0] != 60*second {
		t.Errorf("%+v", s.Points)
	}
}

const iostatHead = "Linux 6.1 (vm) \t11/20/26 \t_x86_64_\t(2 CPU)\n\n"

func iostatReport(clock, user, device string) string {
	return clock + "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          " + user + "    5.26    5.44    0.25    0.05   64.72\n\nDevice            r/s     rkB/s  aqu-sz  %util\n" + device + "\n\n"
}

// TestIostat: the first report is left out if others follow, and kept if it is alone.
func TestIostat(t *testing.T) {
	// Trap: first iterations (the first report covers the time since boot), and the decimal comma.
	first := iostatReport("11/20/26 11:57:27\n", "24.31", "sda 10.0 2048.00 0.5 30.31")
	second := iostatReport("11/20/26 11:57:28\n", "64.00", "sda 12.0 1024.00 0.25 101.6")
	log := textLog(t, iostatHead+first+second)
	equal(t, "use", valuesOf(log, "disk.util", "device=sda"), 1.016)
	equal(t, "reads", valuesOf(log, "throughput.read_bytes"), 1<<20)
	equal(t, "user", valuesOf(log, "%user"), 64)
	if log.Clock.Start == 0 || !log.Clock.Dated {
		t.Errorf("%+v", log.Clock)
	}
	equal(t, "use", valuesOf(textLog(t, iostatHead+first), "disk.util"), 0.3031)
	// Devices alone, in the form for people, with a decimal comma, and of an old version.
	log = textLog(t, iostatHead+"     f/s f_await  aqu-sz  %util Device\n    3.33    0.07    0.19   1,5% vda\n")
	equal(t, "pretty", valuesOf(log, "disk.util", "device=vda"), 0.015)
	log = textLog(t, iostatHead+"Device:  rMB/s avgqu-sz await svctm %util\nsdb 2.00 1.50 3.5 0.1 7.00\n\nDevice:  rMB/s avgqu-sz await svctm %util\nsdb 4.00 2.50 4.5 0.1 9.00\n")
	equal(t, "old", valuesOf(log, "disk.util"), 0.09)
	equal(t, "await", valuesOf(log, "disk.await"), 4.5e6)
	equal(t, "MB", valuesOf(log, "throughput.read_bytes"), 4<<20)
}

func TestVmstat(t *testing.T) {
	log := textLog(t, `procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 5  0      0 12294740  74180 10608504    0    0  1298  3421  360  768 30  5 64  1  0 2026-11-20 11:57:34
 6  1      0 12294740  74180 10608504    0    0     0     0  548  586 94  4  0  2  0 2026-11-20 11:57:35
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 7  0      0 12294740  74180 10608504    0    0     0     0  548  586 50  0 50  0  0 2026-11-20 11:57:36
`)
	equal(t, "use", valuesOf(log, "host.cpu_util"), 1, 0.5)
	equal(t, "waiting", valuesOf(log, "host.iowait"), 0.02, 0)
	equal(t, "queue", valuesOf(log, "host.run_queue"), 6, 7)
	if !log.Clock.Zoned {
		t.Errorf("%+v", log.Clock)
	}
}

// TestSysstat: mpstat and pidstat with and without AM and PM, averages left out, commands
// with spaces.
func TestSysstat(t *testing.T) {
	log := textLog(t, `Linux 3.10 (localhost) 	03/11/2022 	_x86_64_	(1 CPU)

11:59:58 PM  CPU    %usr   %nice    %sys %iowait   %idle
11:59:59 PM  all    0.00    0.00    0.50    0.25   99.50
12:00:01 AM  all    0.00    0.00    0.50    0.75   25.00

11:59:58 PM  CPU    intr/s
11:59:59 PM  all     55.50

Average:     CPU    %usr   %nice    %sys %iowait   %idle
Average:     all    0.00    0.00    0.50    0.25   50.00
`)
	equal(t, "use", valuesOf(log, "host.cpu_util", "cpu=all"), 0.005, 0.75)
	s := seriesOf(t, log, "host.iowait", "%iowait")
	if s.Points.Time[1]-s.Points.Time[0] != 2*second {
		t.Errorf("times are %v", s.Points.Time)
	}
	log = textLog(t, iostatHead+`11:57:33      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command
11:57:34        0     18338   46.00    2.00    0.00   52.00   48.00     1  cc1plus -O2 x
Average:        0     18338   46.00    2.00    0.00   52.00   11.00     -  cc1plus -O2 x
`)
	equal(t, "CPU", valuesOf(log, "host.process_cpu", "process=cc1plus -O2 x 18338"), 0.48)
	log = textLog(t, iostatHead+"#      Time   UID       PID    %CPU   CPU   kB_rd/s  Command\n 1646859221     0         6    7.00     0     -1.00  ksoftirqd/0\n")
	equal(t, "CPU", valuesOf(log, "host.process_cpu"), 0.07)
	equal(t, "reads", valuesOf(log, "throughput.read_bytes"))
	if log.Clock.Start != 1646859221e9 {
		t.Errorf("%+v", log.Clock)
	}
}

const page = `# HELP vllm:num_requests_running Requests
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 8.0
vllm:kv_cache_usage_perc{model_name="m",engine="0"} 0.25
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="1.0",model_name="m"} 20
vllm:time_to_first_token_seconds_bucket{le="30.0",engine="0",model_name="m"} 40
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="m"} 100
vllm:time_to_first_token_seconds_sum{engine="0",model_name="m"} 5000
vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 100
`

// TestPrometheus: the order of labels does not matter, and a quantile above the last limit
// is told as such.
func TestPrometheus(t *testing.T) {
	log := textLog(t, page)
	equal(t, "running", valuesOf(log, "requests.running", "engine=0"), 8)
	equal(t, "cache", valuesOf(log, "kv_cache.usage"), 0.25)
	if len(log.Benchmarks) != 1 {
		t.Fatalf("%+v", log.Benchmarks)
	}
	b := &log.Benchmarks[0]
	if v, ok := b.Figure("serving.ttft", "mean"); !ok || v != 50e9 {
		t.Errorf("the mean is %v", v)
	}
	if v, ok := b.Figure("serving.ttft", "p50 over"); !ok || v != 30e9 {
		t.Errorf("%+v", b.Metrics)
	}
	log = textLog(t, page+strings.ReplaceAll(strings.ReplaceAll(page, " 8.0", " 9.0"), "_bucket{engine=\"0\",le=\"1.0\",model_name=\"m\"} 20", "_bucket{engine=\"0\",le=\"1.0\",model_name=\"m\"} 100"))
	equal(t, "two scrapes", valuesOf(log, "requests.running"), 8, 9)
	if v, ok := log.Benchmarks[0].Figure("serving.ttft", "p50 at most"); !ok || v != 1e9 {
		t.Errorf("%+v", log.Benchmarks[0].Metrics)
	}
}

func record(content []byte) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(content)))
	out = binary.LittleEndian.AppendUint32(out, crc(out))
	out = append(out, content...)
	return binary.LittleEndian.AppendUint32(out, crc(content))
}

// scalar makes an event with a value.
func scalar(at float64, step byte, tag string, v float32) []byte {
	value := append([]byte{0x0a, byte(len(tag))}, tag...)
	value = binary.LittleEndian.AppendUint32(append(value, 0x15), math.Float32bits(v))
	summary := append([]byte{0x0a, byte(len(value))}, value...)
	event := binary.LittleEndian.AppendUint64([]byte{0x09}, math.Float64bits(at))
	event = append(event, 0x10, step)
	return append(append(event, 0x2a, byte(len(summary))), summary...)
}

func events() []byte {
	version := append(binary.LittleEndian.AppendUint64([]byte{0x09}, math.Float64bits(1.5e9)), append([]byte{0x1a, 13}, "brain.Event:2"...)...)
	out := record(version)
	for i, v := range []float32{4, 2, 1} {
		out = append(out, record(scalar(1.5e9+float64(i), byte(i+1), "train/loss", v))...)
	}
	return out
}

func TestEvents(t *testing.T) {
	text := events()
	if !SniffEvents(text) || SniffEvents([]byte("hello, this is a text of some length")) {
		t.Error("Sniff is wrong")
	}
	log, err := ReadEvents(bytes.NewReader(text), "x", logs.Limits{})
	if err != nil || !log.Complete {
		t.Fatalf("%v, %+v", err, log.Issues)
	}
	s := seriesOf(t, log, "train.loss", "train/loss")
	equal(t, "loss", s.Points.Value, 4, 2, 1)
	if !slices.Equal(s.Points.Step, []int64{1, 2, 3}) || s.Points.Time[2] != 1_500_000_002e9 {
		t.Errorf("%+v", s.Points)
	}
	for _, damaged := range [][]byte{text[:len(text)-3], append(slices.Clone(text), "garbage garbage"...)} {
		log, err := ReadEvents(bytes.NewReader(damaged), "x", logs.Limits{})
		if err != nil || log.Complete || len(log.Issues) != 1 || len(valuesOf(log, "train.loss")) < 2 {
			t.Errorf("%v, %+v", err, log)
		}
	}
}

// TestJSON: outputs of rocm-smi and iostat, with the names of several versions.
func TestJSON(t *testing.T) {
	// Trap: keys of the JSON of rocm-smi change with versions.
	rocm := `{"card0": {"GPU use (%)": "50", "Average Graphics Package Power (W)": "300.5", "sclk clock speed:": "(1402Mhz)", "Temperature (Sensor junction) (C)": "61.0", "VRAM Total Used Memory (B)": "1024"}, "system": {"Driver version": "6.2"}}
{"card0": {"GPU use (%)": "N/A", "Current Socket Graphics Package Power (W)": "400"}}`
	log, err := ReadJSON(strings.NewReader(rocm), "x", logs.Limits{})
	if err != nil || !SniffJSON([]byte(rocm)) {
		t.Fatal(err)
	}
	equal(t, "use", valuesOf(log, "gpu.util", "gpu=0"), 0.5)
	equal(t, "power", valuesOf(log, "gpu.power"), 300.5, 400)
	equal(t, "clock", valuesOf(log, "gpu.clock"), 1.402e9)
	stat := `{"sysstat": {"hosts": [{"statistics": [{"avg-cpu": {"user": 1, "iowait": 2}, "disk": [{"disk_device": "vda", "util": 3, "rkB/s": 1}]},
 {"avg-cpu": {"user": 1, "iowait": 4}, "disk": [{"disk_device": "vda", "util": 5, "rkB/s": 2}]}]}]}}`
	log, err = ReadJSON(strings.NewReader(stat), "x", logs.Limits{})
	if err != nil || !SniffJSON([]byte(stat)) {
		t.Fatal(err)
	}
	equal(t, "use", valuesOf(log, "disk.util", "device=vda"), 0.05)
	equal(t, "waiting", valuesOf(log, "host.iowait"), 0.04)
	if log, _ := ReadJSON(strings.NewReader(stat[:100]), "x", logs.Limits{}); log.Complete {
		t.Error("cut JSON is complete")
	}
}

// TestOtherText: lines of programs are no tables of monitors.
func TestOtherText(t *testing.T) {
	for _, text := range []string{"", "hello\n", "Device not found\n1 2 3\n", "# gpu\n0 1\n", "utilization.gpu is high, and memory.used too\n1, 2\n", "avg-cpu:\nx\n", "sglang: started\n", "Linux is a kernel (2 CPU)\n10:00:00 all 5\n"} {
		if log := textLog(t, text); !log.Empty() {
			t.Errorf("%q: %+v", text, log.Series)
		}
	}
}

// TestWide: a line of a million columns is none of a table, and series are bounded.
func TestWide(t *testing.T) {
	wide := "# gpu " + strings.Repeat("sm ", 1<<20) + "\n0 " + strings.Repeat("1 ", 1<<20) + "\n"
	if log := textLog(t, wide); len(log.Series) != 0 {
		t.Errorf("%d series", len(log.Series))
	}
	var b strings.Builder
	b.WriteString("# gpu pid type sm command\n# Idx # C/G % name\n")
	for i := range 20_000 {
		b.WriteString("0 " + strings.Repeat("9", 1+i%5) + " C 5 p" + strings.Repeat("x", i%200) + string(rune('a'+i%26)) + "\n")
	}
	f := NewFinder("x", logs.Limits{Series: 100})
	for i, line := range strings.Split(b.String(), "\n") {
		f.Line(i+1, line)
	}
	if log := f.Log(); len(log.Series) != 100 || len(log.Issues) != 1 {
		t.Errorf("%d series, %+v", len(log.Series), log.Issues)
	}
}

func FuzzFinder(f *testing.F) {
	f.Add([]byte(page))
	f.Add([]byte(iostatHead + iostatReport("11/20/26 11:57:27\n", "24.31", "sda 10.0 2048.00 0.5 30.31")))
	f.Add([]byte("# gpu   pwr\n# Idx W\n0 3\n#Entity GPUTL\nGPU 0 5\nGPUId,TimeStampUs,Field,Values\n0,1,power_usage,3\n"))
	f.Add([]byte(topReport(false, 90, 5, 2, process(7, "1.5g", 40, "python")) + dstatScreen + "1|1 1 1 1 1 1|1 1|1 1|1 1\n"))
	f.Add([]byte(smiText(1, 2, smi{"00000000:41:00.0", 9, 5, 8, 1, true})))
	f.Add([]byte("timestamp, utilization.gpu [%]\n2024/01/16 14:44:16.977, 1 %\n"))
	f.Add([]byte("| NVIDIA-SMI |\n|   0  NVIDIA L40S | \n| N/A   53C    P0 305W / 350W | 1MiB / 4MiB | 93% |\n r b swpd free buff cache si so bi bo in cs us sy id wa st\n1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, s := range textLog(t, string(text)).Series {
			if s.N > 0 && !(s.Min <= s.Max) {
				t.Errorf("%+v", s)
			}
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add(events())
	f.Fuzz(func(t *testing.T, text []byte) {
		SniffEvents(text)
		ReadEvents(bytes.NewReader(text), "x", logs.Limits{Memory: 16 << 20})
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"card0": {"GPU use (%)": "50"}}{"sysstat": {"hosts": [{"statistics": [{"disk": [{"disk_device": "vda", "util": 3}]}]}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		SniffJSON(text)
		ReadJSON(bytes.NewReader(text), "x", logs.Limits{Memory: 16 << 20})
	})
}
