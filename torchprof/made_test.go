package torchprof

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/profile"
	"assay/internal/test"
)

const made = "../testdata/torchprof"

// An average is a row as PyTorch held it before printing: see make_tables.py.
// Times are in microseconds.
type average struct {
	Name            string
	Device          bool
	Count           int64
	SelfCPU         float64 `json:"self_cpu"`
	CPUTotal        float64 `json:"cpu_total"`
	SelfDevice      float64 `json:"self_device"`
	DeviceTotal     float64 `json:"device_total"`
	CPUBytes        float64 `json:"cpu_bytes"`
	SelfCPUBytes    float64 `json:"self_cpu_bytes"`
	DeviceBytes     float64 `json:"device_bytes"`
	SelfDeviceBytes float64 `json:"self_device_bytes"`
	Flops           float64
}

// value returns the expected value of a column, in its unit.
func (a *average) value(column string) (float64, bool) {
	switch column {
	case "count":
		return float64(a.Count), true
	case "self_cpu":
		return 1000 * a.SelfCPU, true
	case "cpu_total":
		return 1000 * a.CPUTotal, true
	case "cpu_mean":
		return 1000 * a.CPUTotal / float64(a.Count), true
	case "self_device", "total":
		return 1000 * a.SelfDevice, true
	case "device_total":
		return 1000 * a.DeviceTotal, true
	case "device_mean", "mean":
		return 1000 * a.DeviceTotal / float64(a.Count), true
	case "cpu_bytes":
		return a.CPUBytes, true
	case "self_cpu_bytes":
		return a.SelfCPUBytes, true
	case "device_bytes":
		return a.DeviceBytes, true
	case "self_device_bytes":
		return a.SelfDeviceBytes, true
	case "flops":
		return a.Flops, a.Flops > 0
	}
	return 0, false
}

// slack returns the maximum rounding error of printing a value: three decimals
// of µs, ms and s, two of a power of 1024 bytes, three of a power of 1000
// operations.
func slack(unit string, v float64) float64 {
	v = math.Abs(v)
	switch {
	case unit == "nanoseconds" && v < 1e6:
		return 0.51
	case unit == "nanoseconds" && v < 1e9:
		return 500.1
	case unit == "nanoseconds":
		return 500_000.1
	case unit == "bytes" && v >= 1<<10:
		for size := float64(1 << 10); ; size *= 1024 {
			if v < 1024*size || size > 1<<29 {
				return 0.0051 * size
			}
		}
	}
	return 0
}

// TestMade compares tables printed by PyTorch with the averages from which they
// were printed.
func TestMade(t *testing.T) {
	files := test.Files(t, filepath.Join(made, "*.json"))
	if len(files) != 6 {
		t.Fatalf("%d files", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want []average
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(filepath.Join(made, name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		tables, err := Read(in, name, Limits{})
		in.Close()
		if err != nil {
			t.Fatal(err)
		}
		first := math.MaxInt
		for _, table := range tables.List {
			for _, r := range table.Rows {
				first = min(first, r.Line)
			}
		}
		stacks := strings.Contains(name, "stack")
		seen := 0
		for _, table := range tables.List {
			for i, r := range table.Rows {
				at := r.Line - first
				if stacks { // rows have lines below them
					at = i
				}
				if at >= len(want) {
					t.Fatalf("%s: row on line %d of %d rows", name, r.Line, len(want))
				}
				compareRow(t, name, table, &r, &want[at])
				seen++
			}
		}
		if seen != len(want) || tables.Records != int64(len(want)) {
			t.Errorf("%s: %d rows, want %d", name, seen, len(want))
		}
		for _, is := range tables.Issues {
			if is.Severity != 0 {
				t.Errorf("%s: %s: %s", name, is.Code, is.Help)
			}
		}
	}
}

func compareRow(t *testing.T, name string, table *profile.Table, r *profile.Row, want *average) {
	t.Helper()
	if cut, ok := strings.CutSuffix(r.Name, "..."); r.Name != want.Name && !(ok && strings.HasPrefix(want.Name, cut)) {
		t.Errorf("%s:%d: name %q, want %q", name, r.Line, r.Name, want.Name)
	}
	if (table.Of == profile.OfDeviceOp) != want.Device {
		t.Errorf("%s:%d: %q is in table %s", name, r.Line, r.Name, table.Name)
	}
	for i, h := range table.Columns {
		v, known := want.value(h.Name)
		got := r.Cells[i]
		if got.Known != known || math.Abs(float64(got.Value)-v) > slack(h.Unit, v) {
			t.Errorf("%s:%d: %s of %q is %v, want %v, %v", name, r.Line, h.Name, r.Name, got, v, known)
		}
	}
}

// TestStacks: a row has the lines of its stack, although the profiler swaps the
// columns of stacks and operations.
func TestStacks(t *testing.T) {
	tables := readFile(t, "cpu_stack_flops.txt")
	for _, r := range tables.List[0].Rows {
		if r.Name != "aten::mm" {
			continue
		}
		want := "<built-in function linear>; torch/nn/modules/linear.py(113): forward; nn.Module: Linear_0"
		if len(r.Labels) != 1 || r.Labels[0].Text != want {
			t.Errorf("labels are %v, want %q", r.Labels, want)
		}
		return
	}
	t.Error("no aten::mm")
}

func readFile(t *testing.T, name string) *profile.Tables {
	t.Helper()
	in, err := os.Open(filepath.Join(made, name))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	tables, err := Read(in, name, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return tables
}
