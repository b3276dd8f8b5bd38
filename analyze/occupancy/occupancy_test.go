package occupancy_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/efficiency/hardware"
	"assay/internal/test"
	"assay/summary"
	"assay/trace"
)

// A launch is one kernel of a generated trace.
type launch struct {
	name             string
	at, dur, stream  int64 // us
	grid, block      [3]int64
	registers        int64
	sharedMemory     int64
	withoutRegisters bool
}

// measured measures a trace with some kernels on a GPU.
func measured(t *testing.T, device string, list []launch) []summary.Occupancy {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{"deviceProperties":[%s],"traceEvents":[`, device)
	for i, k := range list {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":%d,"ts":%d,"dur":%d,"args":{"device":0,"stream":%d,"correlation":%d,"grid":[%d,%d,%d],"block":[%d,%d,%d]`,
			k.name, k.stream, k.at, k.dur, k.stream, i+1, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2])
		if !k.withoutRegisters {
			fmt.Fprintf(&b, `,"registers per thread":%d,"shared memory":%d`, k.registers, k.sharedMemory)
		}
		b.WriteString("}}")
	}
	b.WriteString("]}")
	tr, err := trace.Read(strings.NewReader(b.String()), "t.json", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions()).Efficiency.Occupancy
}

const (
	a100   = `{"id":0,"name":"NVIDIA A100","computeMajor":8,"computeMinor":0,"numSms":108}`
	mi300x = `{"id":0,"name":"AMD Instinct MI300X","computeMajor":9,"computeMinor":4,"numSms":304}`
)

// TestLoss: what launches save at most, by hand.
func TestLoss(t *testing.T) {
	gemm := func(blocks, dur int64) launch {
		return launch{name: "ampere_sgemm_128x64_nn", dur: dur, grid: [3]int64{blocks, 1, 1}, block: [3]int64{128, 1, 1}, registers: 128, sharedMemory: 0} // 4 blocks of an SM
	}
	other := func(blocks, dur int64) launch {
		k := gemm(blocks, dur)
		k.name = "void reduce_rows(float*)"
		return k
	}
	for _, tc := range []struct {
		name   string
		device string
		k      launch
		loss   string
		gain   int64
	}{
		{"27 of 108 SMs", a100, gemm(27, 102), summary.LossFewSMs, 75_000},
		{"every SM", a100, gemm(108, 102), "", 0},
		{"nearly every SM", a100, gemm(100, 102), "", 0},
		{"1.25 waves of 432 blocks", a100, gemm(540, 102), summary.LossTail, 37_500},
		{"2 waves", a100, gemm(864, 102), "", 0},
		{"10.1 waves", a100, gemm(4363, 102), "", 0},
		{"1.25 waves of unequal work", a100, other(540, 102), "", 0},
		{"9 us, which is latency", a100, gemm(27, 9), "", 0},
		{"27 of 108 SMs of a reduction", a100, other(27, 102), summary.LossFewSMs, 75_000},
		{"76 of 304 compute units", mi300x, launch{name: "attn_fwd", dur: 42, grid: [3]int64{76, 1, 1}, block: [3]int64{256, 1, 1}, withoutRegisters: true}, summary.LossFewSMs, 30_000},
	} {
		rows := measured(t, tc.device, []launch{tc.k})
		if len(rows) != 1 {
			t.Errorf("%s: %+v", tc.name, rows)
			continue
		}
		if r := rows[0]; r.Loss != tc.loss || r.GainNS != tc.gain {
			t.Errorf("%s: %q, %d, want %q, %d", tc.name, r.Loss, r.GainNS, tc.loss, tc.gain)
		}
	}
}

// TestAlone: a launch beside another one saves nothing, because the other uses the rest of the GPU.
func TestAlone(t *testing.T) {
	few := launch{name: "void few(float*)", dur: 100, stream: 7, grid: [3]int64{10, 1, 1}, block: [3]int64{64, 1, 1}, registers: 32}
	second := few
	second.at = 200
	beside := launch{name: "void many(float*)", at: 50, dur: 100, stream: 8, grid: [3]int64{1000, 1, 1}, block: [3]int64{64, 1, 1}, registers: 32}
	rows := measured(t, a100, []launch{few, beside, second})
	for _, r := range rows {
		if r.Name == few.name && (r.AloneNS != 100_000 || r.TotalNS != 200_000 || r.GainNS != 98_000*98/108) {
			t.Errorf("%+v", r)
		}
	}
	if len(rows) != 2 {
		t.Errorf("%+v", rows)
	}
}

// TestUnknown: without the number of SMs there are no rows, and without registers none of grids that may count
// threads, as those of some launches on GPUs of AMD do.
func TestUnknown(t *testing.T) {
	k := launch{name: "Cijk_Alik_Bljk", dur: 50, grid: [3]int64{76800, 1, 1}, block: [3]int64{256, 1, 1}, withoutRegisters: true}
	if rows := measured(t, mi300x, []launch{k}); rows != nil {
		t.Errorf("%+v", rows)
	}
	k.grid[0], k.withoutRegisters = 1, false
	if rows := measured(t, `{"id":0,"name":"NVIDIA A100"}`, []launch{k}); rows != nil {
		t.Errorf("%+v", rows)
	}
}

// TestRecordedOccupancy compares the occupancy with the column that Kineto writes, in all captures of the corpus. Kineto
// asks for the default limit of 48 KiB of shared memory, so it writes 0 for most kernels with more.
func TestRecordedOccupancy(t *testing.T) {
	equal, exported := 0, 0
	root := test.Corpus(t)
	filepath.WalkDir(filepath.Join(root, "kineto"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".json.gz") {
			n, m := compareRecorded(t, path)
			equal, exported = equal+n, exported+m
		}
		return nil
	})
	if equal < 10_000 || exported < 400 {
		t.Errorf("%d kernels compared, and %d of exports", equal, exported)
	}
}

// compareRecorded returns the number of kernels of a file that were compared, and the number of those that differ and were compared as rows of an export too.
func compareRecorded(t *testing.T, path string) (equal, exported int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		DeviceProperties []struct {
			ComputeMajor, ComputeMinor int
			NumSms                     float64
		}
		TraceEvents []struct {
			Args struct {
				Grid, Block [3]int64
				Registers   int64  `json:"registers per thread"`
				Shared      int64  `json:"shared memory"`
				Occupancy   *int64 `json:"est. achieved occupancy %"`
			}
		}
	}
	if json.NewDecoder(z).Decode(&file) != nil || len(file.DeviceProperties) == 0 { // some files of the corpus are lists
		return 0, 0
	}
	dev := file.DeviceProperties[0]
	sm, ok := hardware.SMOf(dev.ComputeMajor, dev.ComputeMinor)
	if !ok {
		return 0, 0
	}
	var list []recorded
	seen := map[launch]bool{}
	for _, e := range file.TraceEvents {
		a := &e.Args
		if a.Occupancy == nil || a.Grid[0] == 0 || *a.Occupancy == 0 && a.Shared > 48<<10 {
			continue
		}
		threads := a.Block[0] * a.Block[1] * a.Block[2]
		blocks, _, ok := sm.Resident(threads, a.Registers, a.Shared)
		got := 100 * min(float64(a.Grid[0]*a.Grid[1]*a.Grid[2])/dev.NumSms, float64(blocks)) * float64(threads) / float64(sm.Threads)
		if !ok || math.Abs(got-float64(*a.Occupancy)) > 0.5+1e-6 { // Kineto rounds to whole percents
			t.Fatalf("%s: %+v: %.2f%%, recorded %d%%", path, a, got, *a.Occupancy)
		}
		equal++
		k := launch{grid: a.Grid, block: a.Block, registers: a.Registers, sharedMemory: a.Shared}
		if !seen[k] && len(list) < 100 && got > 0 {
			seen[k], list = true, append(list, recorded{k, *a.Occupancy})
		}
	}
	return equal, compareNsight(t, path, int64(dev.NumSms), int64(dev.ComputeMajor), int64(dev.ComputeMinor), list)
}
