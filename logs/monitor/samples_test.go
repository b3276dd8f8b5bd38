package monitor

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/logs"
)

// TestSamples: the values of each sample, which were read from it by eye.
func TestSamples(t *testing.T) {
	mib := float64(1 << 20)
	for _, tc := range []struct {
		file, metric, at string
		want             []float64
	}{
		{"amd_smi_metric.csv", "gpu.util", "gpu=0", []float64{0.96, 0.98}},
		{"amd_smi_metric.csv", "gpu.util", "gpu=1", []float64{0}}, // N/A is no value
		{"amd_smi_metric.csv", "gpu.memory_util", "gpu=0", []float64{0.40, 0.44}},
		{"amd_smi_metric.csv", "gpu.power", "gpu=1", []float64{140, 142}},
		{"amd_smi_metric.csv", "gpu.temperature", "gpu=0", []float64{78, 80}},
		{"amd_smi_metric.csv", "gpu.memory_temperature", "gpu=0", []float64{61, 63}},
		{"amd_smi_metric.csv", "gpu.clock", "gpu=1", []float64{131e6, 131e6}},
		{"amd_smi_metric.csv", "memory.used", "gpu=0", []float64{98304 * mib, 98304 * mib}},
		{"amd_smi_monitor.csv", "gpu.util", "gpu=0", []float64{0.90, 0.94}},
		{"amd_smi_monitor.csv", "gpu.memory_util", "gpu=0", []float64{0.25, 0.27}},
		{"amd_smi_monitor.csv", "gpu.power", "gpu=0", []float64{600, 640}},
		{"amd_smi_monitor.csv", "gpu.memory_temperature", "gpu=0", []float64{55, 57}},
		{"amd_smi_monitor.csv", "memory.usage", "gpu=0", []float64{0.5, 0.5}},
		{"amd_smi_metric.json", "gpu.util", "", []float64{0.97}},
		{"amd_smi_metric.json", "gpu.memory_temperature", "gpu=0", []float64{60}},
		{"amd_smi_metric.json", "gpu.temperature", "", []float64{77, 35}},
		{"amd_smi_metric.json", "gpu.clock", "gpu=0", []float64{2100e6}},
		{"amd_smi_metric.json", "gpu.power", "gpu=1", nil},
		{"amd_smi_metric.json", "memory.used", "", []float64{1024 * mib}},
		{"rocm_smi.csv", "gpu.util", "", []float64{0.93, 0}},
		{"rocm_smi.csv", "gpu.temperature", "", []float64{61, 44}}, // of the junction, not of the edge
		{"rocm_smi.csv", "gpu.clock", "gpu=0", []float64{2100e6}},
		{"rocm_smi.csv", "memory.used", "gpu=1", []float64{297676800}},
		{"rocm_smi.txt", "gpu.util", "", []float64{0.93, 0}},
		{"rocm_smi.txt", "gpu.power", "", []float64{512, 131}}, // and not the limit of 750 W
		{"rocm_smi.txt", "gpu.memory_clock", "gpu=1", []float64{900e6}},
		{"rocm_smi.txt", "memory.usage", "gpu=0", []float64{0.51}},
		{"rocm_smi_5.txt", "gpu.util", "", []float64{0.45, 0}},
		{"rocm_smi_5.txt", "gpu.power", "", []float64{37}},
		{"rocm_smi_5.txt", "gpu.clock", "gpu=1", nil}, // only one of two clocks is known, and not which
		{"rocm_smi_all.txt", "gpu.temperature", "", []float64{35, 37.5}},
		{"rocm_smi_all.txt", "gpu.power", "", []float64{133, 131}},
		{"rocm_smi_all.txt", "gpu.util", "", []float64{0.12}},
		{"dcgmi_dmon.txt", "gpu.sm_active", "gpu=0", []float64{0.912, 0.908}},
		{"dcgmi_dmon.txt", "gpu.util", "gpu=1", []float64{0, 0}},
		{"dcgmi_dmon.txt", "gpu.power", "gpu=0", []float64{598.5, 612.5, 615.5}},
		{"sar_A.txt", "host.cpu_util", "cpu=all", []float64{1, 1}},
		{"sar_A.txt", "disk.await", "device=vda", []float64{120e3, 1500e3}},
		{"sar_A.txt", "host.load", "", []float64{9.23, 9.69}},
		{"sar_A.txt", "host.memory_usage", "", []float64{0.0227, 0.0233}},
		{"sar_A.txt", "host.blocked", "", []float64{0, 0}},
		{"sar_A.txt", "network.receive_bytes", "device=eth0", []float64{0, 0}},
		{"mpstat.txt", "host.iowait", "cpu=1", []float64{0, 0}},
		{"mpstat.txt", "%usr", "cpu=all", []float64{11.94, 5.05}},
		{"pidstat.txt", "host.process_cpu", "process=compile 21350", []float64{0.02, 0.01}},
	} {
		var got []float64
		for _, s := range recording(t, tc.file).Series {
			name, value, _ := strings.Cut(tc.at, "=")
			if s.Metric.Name == tc.metric && (tc.at == "" || s.Label(name) == value) {
				got = append(got, s.Points.Value...)
			}
		}
		if len(got) != len(tc.want) {
			t.Errorf("%s: %s %s is %v, want %v", tc.file, tc.metric, tc.at, got, tc.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-tc.want[i]) > 1e-9*math.Abs(tc.want[i]) {
				t.Errorf("%s: %s %s is %v, want %v", tc.file, tc.metric, tc.at, got, tc.want)
			}
		}
	}
}

// TestSarTables: tables of "sar -A" that are not read have no series, though their rows have
// as many numbers as those of tables that are.
func TestSarTables(t *testing.T) {
	log := recording(t, "sar_A.txt")
	for _, s := range log.Series {
		if s.N != 2 {
			t.Errorf("%s %v has %d values, want one of each of 2 reports", s.As, s.Labels, s.N)
		}
		if s.Producer != "sar" {
			t.Errorf("%s is of %s", s.As, s.Producer)
		}
	}
	if !log.Clock.Known || !log.Clock.Dated {
		t.Errorf("%+v", log.Clock)
	}
}

// TestImpossibleShares: a share of the CPU time that is over all of it is missing, and one
// of 101%, which is rounded, is a value.
func TestImpossibleShares(t *testing.T) {
	log := textLog(t, " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"+
		" 1  0      0      1      1      1    0    0     0     0    1    1  0  0 100  0  0\n"+
		" 1  0      0      1      1      1    0    0     0     0    1    1  0  0 93  6  0\n"+
		" 1  0      0      1      1      1    0    0     0     0    1    1  0  0 101 3035110221  0\n")
	for metric, want := range map[string][]float64{"host.iowait": {0.06}, "host.cpu_idle": {0.93, 1.01}, "host.cpu_util": {0.07, 0}} {
		got := valuesOf(log, metric)
		if len(got) != len(want) || math.Abs(got[0]-want[0]) > 1e-9 || math.Abs(got[len(got)-1]-want[len(want)-1]) > 1e-9 {
			t.Errorf("%s is %v, want %v", metric, got, want)
		}
	}
}

// recording reads a file of testdata.
func recording(t *testing.T, name string) *logs.Log {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".json") {
		if !SniffJSON(text) {
			t.Errorf("%s: not recognized", name)
		}
		log, err := ReadJSON(strings.NewReader(string(text)), name, logs.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	return textLog(t, string(text))
}
