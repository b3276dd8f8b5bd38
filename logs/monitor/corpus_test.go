package monitor

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"

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

// valuesOf returns the values of a metric at a place, in the base unit.
func valuesOf(log *logs.Log, metric string, labels ...string) []float64 {
	var out []float64
	for i := range log.Series {
		s := &log.Series[i]
		if s.Metric.Name != metric {
			continue
		}
		match := true
		for _, l := range labels {
			name, v, _ := strings.Cut(l, "=")
			match = match && s.Label(name) == v
		}
		if match {
			out = append(out, s.Points.Value...)
		}
	}
	return out
}

// TestIostatFiles: what is read of each device equals what another program reads of it.
func TestIostatFiles(t *testing.T) {
	dir := test.Corpus(t)
	type numbers struct {
		N                      int
		Median, Mean, Max, Sum float64
	}
	n := 0
	for file, raw := range test.Expected(t, "null") {
		if !strings.HasPrefix(file, "sysmon/") {
			continue
		}
		var want struct {
			Reports int
			All     map[string]numbers `json:"util_all"`
			Without map[string]numbers `json:"util_without_first"`
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(dir, "series", file))
		if err != nil {
			t.Fatal(err)
		}
		log := textLog(t, string(content))
		expect := want.Without
		if want.Reports == 1 {
			expect = want.All
		}
		for device, w := range expect {
			v := valuesOf(log, "disk.util", "device="+device)
			if len(v) != w.N {
				t.Errorf("%s: %s has %d values, want %d", file, device, len(v), w.N)
				continue
			}
			if w.N == 0 {
				continue
			}
			n++
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			slices.Sort(v)
			median := (v[(len(v)-1)/2] + v[len(v)/2]) / 2
			if math.Abs(sum*100-w.Sum) > 1e-3*w.Sum+1e-6 || math.Abs(median*100-w.Median) > 1e-3*w.Median+1e-6 || math.Abs(v[len(v)-1]*100-w.Max) > 1e-3*w.Max+1e-6 {
				t.Errorf("%s: %s: sum %v, median %v, want %+v", file, device, sum*100, median*100, w)
			}
		}
		if len(valuesOf(log, "host.iowait")) != max(1, want.Reports-1) {
			t.Errorf("%s: %d values of iowait", file, len(valuesOf(log, "host.iowait")))
		}
	}
	if n < 15 {
		t.Errorf("%d devices were compared", n)
	}
}

// TestFiles: every monitor among the real files has values, with times where it has them.
func TestFiles(t *testing.T) {
	dir := test.Corpus(t)
	for _, tc := range []struct {
		pattern, metric string
		least           int
		timed           bool
	}{
		{"formats/sysmon/iostat*.txt", "host.iowait", 1, false},
		{"formats/sysmon/iostat*_xt.txt", "disk.util", 1, true},
		{"formats/sysmon/iostat*_xtz_iso.txt", "disk.util", 1, true},
		{"formats/sysmon/iostat*_xh.txt", "disk.util", 1, false},
		{"formats/sysmon/mpstat*.txt", "host.cpu_util", 3, true},
		{"formats/sysmon/pidstat*.txt", "host.process_cpu", 5, true},
		{"formats/sysmon/vmstat_t.txt", "host.cpu_util", 2, true},
		{"formats/sysmon/nvidia-smi_dmon_s_m_8gpu.txt", "memory.used", 8, false},
		{"formats/sysmon/nvidia-smi_dmon_s_mutc_o_TD.txt", "gpu.util", 5, true},
		{"formats/sysmon/nvidia-smi_query*.csv", "gpu.util", 5, true},
		{"formats/sysmon/SYNTHETIC_dmon*.txt", "gpu.util", 2, false},
		{"formats/sysmon/SYNTHETIC_nvidia-smi*.csv", "gpu.util", 4, true},
		{"series/nvidia_smi/guan*/*.log", "gpu.util", 1000, true},
		{"series/nvidia_smi/utku*/*.txt", "memory.used", 4, false},
		{"series/dcgm/*/*.csv", "gpu.power", 20, true},
		{"series/sysmon/*/*mpstat*", "host.cpu_util", 2, true},
		{"series/sysmon/*/*pidstat-hl.out", "host.process_cpu", 20, true},
		{"series/sysmon/*/*pidstat-hdlr*", "host.process_memory", 10, true},
		{"series/sysmon/*/*vmstat*", "host.iowait", 20, false},
		{"series/sysmon/mario*/vmstat*", "host.iowait", 7975, true},
		{"series/gpu_metrics/*/*.metrics", "gpu.power", 1, false},
		{"series/sglang_metrics/*/*.mdx", "requests.running", 1, false},
	} {
		for _, file := range test.Files(t, filepath.Join(dir, tc.pattern)) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			log := textLog(t, string(content))
			got := valuesOf(log, tc.metric)
			if len(got) < tc.least || tc.timed && !log.Clock.Known {
				t.Errorf("%s: %d values of %s in %d series, times %v", filepath.Base(file), len(got), tc.metric, len(log.Series), log.Clock.Known)
			}
		}
	}
	files := test.Files(t, filepath.Join(dir, "series/tfevents/*/*"))
	if len(files) < 2 {
		t.Error("no event files")
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		head := make([]byte, 4096)
		n, _ := f.ReadAt(head, 0)
		if !SniffEvents(head[:n]) {
			t.Errorf("%s: Sniff says no", file)
		}
		log, err := ReadEvents(f, file, logs.Limits{})
		if err != nil {
			t.Error(err)
		}
		t.Logf("%s: %d series, %d records", filepath.Base(file), len(log.Series), log.Records)
	}
}
