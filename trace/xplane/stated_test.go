package xplane_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/internal/profile"
	"assay/trace"
	"assay/trace/xplane"
)

// rowsOf reads a file and returns the rows of its tables of stated work.
func rowsOf(t *testing.T, file []byte) (rows []string) {
	t.Helper()
	_, tables, err := xplane.Read(bytes.NewReader(file), "x.xplane.pb", trace.Select{Kinds: trace.Every})
	if err != nil {
		t.Fatal(err)
	}
	return rowsIn(t, tables)
}

// rowsIn returns the rows of tables of stated work.
func rowsIn(t *testing.T, tables *profile.Tables) (rows []string) {
	t.Helper()
	if tables == nil {
		return nil
	}
	table := tables.List[0]
	for _, r := range table.Rows {
		text := r.Name
		for _, l := range r.Labels {
			text += " " + l.Key + "=" + l.Text
		}
		for i, h := range table.Columns {
			if c := r.Cells[i]; c.Known {
				text += fmt.Sprintf(" %s:%d", strings.ReplaceAll(h.Name, " ", "-"), c.Value)
			}
		}
		rows = append(rows, text)
	}
	if err := table.Check(); err != nil || table.Of != profile.OfOp {
		t.Error(err)
	}
	return rows
}

// TestStated: by hand. Two runs of a fusion take 1 µs each and state 4,000,000 FLOPs and 81,900 bytes: 4,000 GFLOP/s, 81.9
// GB/s, which is 10% of 819 GB/s. The start of a copy takes 10 ns for 10 MB that are in flight afterwards, so it has no rate; nor has its end. One of two runs of a copy states its bytes, so it has no rate. The loop states the
// work of its body, which counts once. Where only model FLOPs are stated, they count.
func TestStated(t *testing.T) {
	op := func(name string, from, ns int64, stats map[string]any) at {
		return at{name, from * 1000, ns * 1000, stats}
	}
	fusion := map[string]any{"hlo_category": "convolution fusion", "flops": 4_000_000, "model_flops": 3_900_000, "bytes_accessed": 81_900, "tf_op": "jit(step)/dot_general", "source": "train.py:12"}
	tpu := onPlane("/device:TPU:0").line(3, "XLA Ops", 1000,
		op("%while.1 = (f32[8]) while(...)", 0, 4000, map[string]any{"flops": 8_000_000, "bytes_accessed": 163_800}),
		op("%fusion.12 = f32[8]{0} fusion(...)", 0, 1000, fusion), op("%fusion.12 = f32[8]{0} fusion(...)", 2000, 1000, fusion),
		op("copy.1", 5000, 100, map[string]any{"bytes_accessed": 50}), op("copy.2", 5100, 100, nil),
		op("dot.3", 6000, 500, map[string]any{"model_flops": 1000}),
		op("%copy-start.1 = (f32[8]) copy-start(...)", 7000, 10, map[string]any{"hlo_category": "copy-start", "bytes_accessed": 10_000_000}),
		op("copy-done.1", 7010, 90, map[string]any{"hlo_category": "copy-done", "bytes_accessed": 10_000_000}))
	peak := message{}.num(1, tpu.stats.of("peak_hbm_bw_gigabytes_per_second")).num(4, 819)
	want := []string{
		"convolution fusion operator=jit(step)/dot_general source=train.py:12 total:2000 count:2 mean:1000 stated-FLOPs:8000000 FLOP-rate:4000 stated-bytes:163800 byte-rate:82 of-memory-peak:10",
		"dot total:500 count:1 mean:500 stated-FLOPs:1000 FLOP-rate:2", "copy total:200 count:2 mean:100 stated-bytes:50",
		"copy-done total:90 count:1 mean:90", "copy-start total:10 count:1 mean:10",
	}
	if got := rowsOf(t, space(tpu.end(peak))); !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	if got := rowsOf(t, space(onPlane("/device:TPU:0").line(3, "XLA Ops", 1000, op("copy.2", 0, 100, nil)).end())); got != nil {
		t.Errorf("nothing is stated, and there is %v", got)
	}
}

// TestStepsOfGPU: the lane of steps of a GPU gives its steps, unless the host marks some.
func TestStepsOfGPU(t *testing.T) {
	gpu := func(number int) message {
		return onPlane(fmt.Sprintf("/device:GPU:%d", number)).line(1, "Stream #7(Compute)", 1000, at{"gemm", 0, 90_000, nil}, at{"gemm", 100_000, 90_000, nil}).
			line(2, "Steps", 1000, at{"4", 0, 95_000, nil}, at{"5", 100_000, 95_000, nil}).
			line(3, "XLA Ops", 1000, at{"dot", 0, 90_000, nil}).end()
	}
	host := onPlane("/host:CPU").line(9, "python", 1000, at{"train", 0, 200_000, map[string]any{"step_num": 4}}).end()
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"two GPUs": {space(gpu(0), gpu(1)), "step 4 0+95, step 5 100+95"},
		"marked":   {space(gpu(0), host), "step 4 0+200"},
		"no work":  {space(onPlane("/device:GPU:0").line(2, "Steps", 1000, at{"4", 0, 95_000, nil}).end()), ""},
	} {
		tr := read(t, c.file)
		var got []string
		for s := range tr.Spans.All() {
			got = append(got, fmt.Sprintf("%s %d+%d", tr.Name(s.Name), s.Start-1000, s.Dur))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
		works := 0
		for range tr.Activities.All() {
			works++
		}
		if name == "two GPUs" && works != 4 {
			t.Errorf("%d operations, want 4: lanes that repeat them do not count", works)
		}
	}
}
