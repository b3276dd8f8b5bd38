package occupancy_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/nsys"
	"assay/summary"
)

// nsight measures an export of Nsight Systems with the kernels of a trace on a GPU.
func nsight(t *testing.T, sms, major, minor int64, list []launch) []summary.Occupancy {
	t.Helper()
	names := map[string]int{}
	lines := []string{fmt.Sprintf(`{"id":0,"name":"GPU","smCount":%d,"computeMajor":%d,"computeMinor":%d,"table":"TARGET_INFO_GPU"}`, sms, major, minor)}
	for i, k := range list {
		id, ok := names[k.name]
		if !ok {
			id = len(names) + 1
			names[k.name] = id
			lines = append(lines, fmt.Sprintf(`{"id":%d,"table":"StringIds","value":%q}`, id, k.name))
		}
		registers := fmt.Sprintf(`"registersPerThread":%d,"staticSharedMemory":%d,"dynamicSharedMemory":%d,`, k.registers, k.sharedMemory/3, k.sharedMemory-k.sharedMemory/3)
		if k.withoutRegisters {
			registers = ""
		}
		lines = append(lines, fmt.Sprintf(`{"start":%d,"end":%d,"deviceId":0,"streamId":%d,"correlationId":%d,"globalPid":281474993487872,"demangledName":%d,%s`+
			`"gridX":%d,"gridY":%d,"gridZ":%d,"blockX":%d,"blockY":%d,"blockZ":%d,"table":"CUPTI_ACTIVITY_KIND_KERNEL"}`, k.at*1000, (k.at+k.dur)*1000, k.stream, i+1, id, registers,
			k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2]))
	}
	slices.SortStableFunc(lines, func(a, b string) int { // texts first, as in exports
		return strings.Compare(b[strings.LastIndex(b, `"table"`):], a[strings.LastIndex(a, `"table"`):])
	})
	tr, err := nsys.ReadJSON(strings.NewReader(strings.Join(lines, "\n")), "in.jsonl", analyze.Needs(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions()).Efficiency.Occupancy
}

// TestNsight: exports have the rows of traces with the same launches. Of 128 threads with 200 registers, 65,536 / (128 × 200) make 2 blocks, 256 of 2,048
// threads; of 48 KiB of shared memory on top of 1 KiB, 3 fit into 164 KiB: 3 × 64 threads.
func TestNsight(t *testing.T) {
	list := []launch{
		{name: "row_max", at: 0, dur: 100, stream: 7, grid: [3]int64{1080, 1, 1}, block: [3]int64{128, 1, 1}, registers: 200},
		{name: "tile", at: 200, dur: 100, stream: 7, grid: [3]int64{108, 30, 1}, block: [3]int64{32, 2, 1}, registers: 32, sharedMemory: 48 << 10},
		{name: "small", at: 400, dur: 100, stream: 7, grid: [3]int64{9, 3, 2}, block: [3]int64{8, 8, 4}, registers: 16},
		{name: "unknown", at: 600, dur: 100, stream: 7, grid: [3]int64{2, 1, 1}, block: [3]int64{64, 1, 1}, withoutRegisters: true},
	}
	got, want := nsight(t, 108, 8, 0, list), measured(t, a100, list)
	text := func(rows []summary.Occupancy) (out []string) {
		for _, r := range rows {
			line := fmt.Sprint(r.Name, r.Grid, r.Block, r.Count, r.TotalNS, r.AloneNS, r.Limiter, r.Loss, r.GainNS)
			if r.Theoretical != nil {
				line += fmt.Sprint(*r.Registers, *r.SharedBytes, *r.BlocksPerSM, *r.Theoretical, *r.Achieved, *r.Waves)
			}
			out = append(out, line)
		}
		return out
	}
	if a, b := text(got), text(want); !slices.Equal(a, b) {
		t.Errorf("%q\nwant %q", a, b)
	}
	limits := map[string]string{}
	for _, r := range got {
		limits[r.Name] = r.Limiter
		if r.Theoretical != nil {
			limits[r.Name] += fmt.Sprintf(" %.4f", *r.Theoretical)
		}
	}
	if limits["row_max"] != "registers 0.1250" || limits["tile"] != "shared memory 0.0938" || !strings.HasPrefix(limits["small"], "grid") || limits["unknown"] != "" {
		t.Errorf("%q", limits)
	}
}

// A recorded launch is a kernel with the occupancy that Kineto wrote, in percent.
type recorded struct {
	launch
	percent int64
}

// compareNsight compares what an export says of launches with what Kineto wrote of them, and returns how many were compared.
func compareNsight(t *testing.T, path string, sms, major, minor int64, list []recorded) (equal int) {
	t.Helper()
	var launches []launch
	for i := range list {
		list[i].name, list[i].at, list[i].dur, list[i].stream = fmt.Sprintf("kernel_%d", i), int64(200*i), 100, 7
		launches = append(launches, list[i].launch)
	}
	if len(launches) == 0 {
		return 0
	}
	for _, r := range nsight(t, sms, major, minor, launches) {
		var n int
		if _, err := fmt.Sscanf(r.Name, "kernel_%d", &n); err != nil || r.Achieved == nil || math.Abs(100**r.Achieved-float64(list[n].percent)) > 0.5+1e-6 {
			t.Errorf("%s: %+v, recorded %+v", path, r, list[n])
			continue
		}
		equal++
	}
	return equal
}
