package monitor

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"assay/logs"
)

// topReport is a report of top: of procps 4, or of procps 3 in a locale with decimal commas.
func topReport(old bool, idle, wait, load float64, processes ...string) string {
	out := fmt.Sprintf("top - 12:00:05 up 3 days,  1:02,  4 users,  load average: %.2f, 1.00, 0.50\nTasks: 300 total,   2 running, 298 sleeping,   0 stopped,   0 zombie\n", load)
	cpu := fmt.Sprintf("%%Cpu(s): %.1f us,  1.0 sy,  0.0 ni, %.1f id,  %.1f wa,  0.0 hi,  0.0 si,  0.0 st\n", 99-idle-wait, idle, wait)
	mem := "MiB Mem :  64000.0 total,  10000.0 free,  16000.0 used,  38000.0 buff/cache\nMiB Swap:      0.0 total,      0.0 free,      0.0 used.  40000.0 avail Mem\n"
	if old {
		cpu, out = strings.ReplaceAll(cpu, ".", ","), strings.ReplaceAll(out, ".", ",")
		mem = "KiB Mem :  8000000 total,  1000000 free,  2000000 used,  5000000 buff/ca\n"
	}
	return out + cpu + mem + "\n    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n" + strings.Join(processes, "") + "\n"
}

func process(pid int, res string, cpu float64, command string) string {
	return fmt.Sprintf("%7d me        20   0 9000000 %s  90000 R %5.1f   1.0  10:00.00 %s\n", pid, res, cpu, command)
}

func check(t *testing.T, name string, log *logs.Log, want map[string][]float64) {
	t.Helper()
	for k, values := range want {
		metric, place, _ := strings.Cut(k, " ")
		var got []float64
		for _, s := range log.Series {
			if s.Metric.Name == metric && (place == "" || s.Label("process")+s.Label("device") == place) {
				got = append(got, s.Points.Value...)
			}
		}
		ok := len(got) == len(values)
		for i := 0; ok && i < len(got); i++ {
			ok = math.Abs(got[i]-values[i]) <= 1e-9*math.Abs(values[i])
		}
		if !ok {
			t.Errorf("%s: %s is %v, want %v", name, k, got, values)
		}
	}
}

// TestTop: the first report has means since the start, and processes are read from the first
// report on in which they do something.
func TestTop(t *testing.T) {
	log := textLog(t, topReport(false, 90, 5, 2, process(7, "1.5g", 40, "python train.py"), process(9, "500", 0, "kworker"))+
		topReport(false, 50, 25, 4, process(7, "2g", 100, "python train.py"), process(11, "3m", 250, "ray::Worker"))+
		topReport(false, 70, 0, 6, process(7, "2g", 99, "python train.py"), process(11, "3m", 0, "ray::Worker")))
	check(t, "procps 4", log, map[string][]float64{
		"host.cpu_util": {0.5, 0.3}, "host.iowait": {0.25, 0}, "host.load": {2, 4, 6}, "host.memory_usage": {0.25, 0.25, 0.25},
		"host.process_cpu python train.py 7": {1, 0.99}, "host.process_cpu ray::Worker 11": {2.5, 0}, "host.process_cpu kworker 9": nil,
		"host.process_memory python train.py 7": {1.5 * (1 << 30), 2 << 30, 2 << 30}, "host.process_memory ray::Worker 11": {3 << 20, 3 << 20},
	})
	check(t, "procps 3", textLog(t, topReport(true, 90, 5, 2)+topReport(true, 25, 50, 1)), map[string][]float64{
		"host.cpu_util": {0.75}, "host.iowait": {0.5}, "host.load": {2, 1}, "host.memory_usage": {0.25, 0.25},
	})
	check(t, "one report", textLog(t, topReport(false, 90, 5, 2, process(7, "8000", 40, "python"))), map[string][]float64{
		"host.cpu_util": {0.1}, "host.process_cpu python 7": {0.4},
	})
	check(t, "procps of 2010", textLog(t, "top - 12:00:05 up 1 min,  1 user,  load average: 1.00, 1.00, 1.00\nCpu(s): 12.0%us,  3.0%sy,  0.0%ni, 80.0%id,  5.0%wa,  0.0%hi,  0.0%si,  0.0%st\nMem:   8000000k total,  4000000k used,  4000000k free,   100000k buffers\n"),
		map[string][]float64{"host.cpu_util": {0.2}, "host.iowait": {0.05}, "host.memory_usage": {0.5}})
	if log := textLog(t, "top - 5 results\n%Cpu(s): 1.0 us, 99.0 id\n  PID %CPU COMMAND\n 1 50.0 x\n"); !log.Empty() {
		t.Error("another list is taken for a recording of top")
	}
}

const dstatScreen = `You did not select any stats, using -cdngy by default.
----system---- ----total-cpu-usage---- -dsk/total- -net/eth0- ---system--
     time     |usr sys idl wai hiq siq| read  writ| recv  send| int   csw
`

// TestDstat: the table on a screen and the CSV. Letters are powers of 1024, and the first row
// has means since the start.
func TestDstat(t *testing.T) {
	screen := dstatScreen +
		"27-11 10:00:00|  9   9  82   0   0   0|  77k   12k|   0     0 | 100   200\n" +
		"27-11 10:00:01| 20   5  65  10   0   0|   2M  512B|   3k    0 |1000  2000\n" +
		"----system---- ----total-cpu-usage---- -dsk/total- -net/eth0- ---system--\n     time     |usr sys idl wai hiq siq| read  writ| recv  send| int   csw\n" +
		"27-11 10:00:02| 50   0  50   0   0   0|   0     0 | 1.5M 1024B| 1k   2k\n"
	check(t, "screen", textLog(t, screen), map[string][]float64{
		"host.cpu_util": {0.35, 0.5}, "host.iowait": {0.1, 0},
		"throughput.read_bytes total": {2 << 20, 0}, "throughput.write_bytes total": {512, 0},
		"network.receive_bytes eth0": {3 << 10, 1.5 * (1 << 20)}, "network.send_bytes eth0": {0, 1024},
	})
	table := `"Dstat 0.7.4 CSV output"
"Author:","Dag Wieers <dag@wieers.com>",,,,"URL:","http://dag.wieers.com/home-made/dstat/"
"Host:","n1",,,,"User:","me"
"Cmdline:","dstat -tcm -D sda --output x.csv",,,,"Date:","28 Feb 2026 23:59:59 UTC"

"system","total cpu usage",,,,,"dsk/sda",,"memory usage",,,
"time","usr","sys","idl","wai","stl","read","writ","used","free","buff","cach"
28-02 23:59:59,1.0,1.0,98.0,0.0,0.0,5.0,5.0,25.0,25.0,25.0,25.0
28-02 23:59:59,10.5,1.0,80.0,8.5,0.0,1048576.0,2048.0,25.0,25.0,25.0,25.0
01-03 00:00:04,100.0,0.0,0.0,0.0,0.0,0.0,0.0,50.0,10.0,20.0,20.0
`
	log := textLog(t, table)
	check(t, "CSV", log, map[string][]float64{
		"host.cpu_util": {0.2, 1}, "host.iowait": {0.085, 0}, "throughput.read_bytes sda": {1 << 20, 0}, "host.memory_usage": {0.25, 0.25, 0.5},
	})
	for _, s := range log.Series {
		if s.Metric.Name == "host.cpu_util" && s.Points.Time[1]-s.Points.Time[0] != 5*second {
			t.Errorf("times %v", s.Points.Time)
		}
	}
	if log := textLog(t, "---- -dsk/x\n a | b | c\n 1 | 2 | 3\n-----cpu-usage-----\n"); !log.Empty() {
		t.Error("another table is taken for one of dstat")
	}
}
