package timeline

import (
	"os/exec"
	"path/filepath"
	"testing"

	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// TestOverlapOfExport: what the recipe of nsys on NCCL reports for each device,
// communication alone and beside compute, follows from an export too. A kernel
// communicates by its name.
//
//	time       0        100       200
//	device 0   nnnnnnnnnn....nnnnn      alone 0 to 60 and 150 to 200, beside compute 60 to 100
//	                 ggggggg            60 to 130
//	device 1   ggggggggggg              0 to 110
//	              nnn                   30 to 60, all beside compute
func TestOverlapOfExport(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("no sqlite3")
	}
	path := filepath.Join(t.TempDir(), "two_devices.sqlite")
	const rows = `
		CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
		INSERT INTO StringIds VALUES (1, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'), (2, 'gemm_kernel'), (3, 'ncclKernel_Broadcast_RING_LL_Sum_int8_t');
		CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "end" INTEGER, deviceId INTEGER, streamId INTEGER,
			correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
			(1000, 1100, 0, 7, 1, 281474993487872, 1, 1), (1060, 1130, 0, 8, 2, 281474993487872, 2, 2), (1150, 1200, 0, 7, 3, 281474993487872, 3, 3),
			(1000, 1110, 1, 9, 4, 281474993487872, 2, 2), (1030, 1060, 1, 7, 5, 281474993487872, 3, 3);`
	if out, err := exec.Command("sqlite3", path, rows).CombinedOutput(); err != nil {
		t.Fatalf("sqlite3: %v: %s", err, out)
	}
	s := export{T: t, path: path}.measure()
	type times struct{ alone, beside, compute, idle int64 }
	want := map[int64]times{0: {110, 40, 70, 20}, 1: {0, 30, 110, 0}}
	for _, d := range s.Devices {
		a := d.Activity
		if got := (times{a.ExposedComm(), a.HiddenComm(), a.Compute(), a.Idle()}); got != want[d.Device] {
			t.Errorf("device %d: %+v, want %+v", d.Device, got, want[d.Device])
		}
		delete(want, d.Device)
	}
	if len(want) > 0 {
		t.Errorf("no devices %v", want)
	}
	// Of 180 of communication on both, 70 are hidden.
	c := New(tree.NewContext(s, rule.DefaultThresholds()), 0)
	if got := overlap(c); len(got) != 1 || got[0] != "compute overlaps 38.9% of the communication time (70 ns of 180 ns)" {
		t.Errorf("evidence %q", got)
	}
	if c.Total.With(summary.ClassComm) != 180 {
		t.Errorf("%d ns of communication, want 180", c.Total.With(summary.ClassComm))
	}
}
