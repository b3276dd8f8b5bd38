package xplane_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
)

// TestTPU: a loop of two steps, by hand, in ns from 1000:
//
//	Steps          [0                ][1               ]
//	XLA Modules    [jit_train        ]  [jit_train     ]
//	XLA Ops        [while            ]  [fusion][ag-done]
//	                 [fusion][copy  ]
//	               0 10    60      90 100 110  150     180
//	Async XLA Ops              [all-gather        ]
//	SparseCore 0     [lookup ]
func TestTPU(t *testing.T) {
	ns := func(from, to int64) (start, dur int64) { return from * 1000, (to - from) * 1000 }
	op := func(name, category string, from, to int64) at {
		start, dur := ns(from, to)
		stats := map[string]any{}
		if category != "" {
			stats["hlo_category"] = category
		}
		return at{name, start, dur, stats}
	}
	tpu := onPlane("/device:TPU:3").
		line(1, "Steps", 1000, op("0", "", 0, 100), op("1", "", 100, 200)).
		line(2, "XLA Modules", 1000, op("jit_train(7)", "", 0, 95), op("jit_train(7)", "", 110, 180)).
		line(3, "XLA Ops", 1000,
			op("%while.1 = (f32[8]) while(...)", "while", 0, 95), op("%fusion.12 = f32[8]{0} fusion(...)", "convolution fusion", 10, 60),
			op("copy.3", "copy", 60, 90), op("fusion.12", "convolution fusion", 110, 150), op("all-gather-done.2", "", 150, 180)).
		line(4, "Async XLA Ops", 1000, op("all-gather-start.2", "", 70, 180))
	kind := message{}.num(1, tpu.stats.of("device_type_string")).text(5, "TPU v5 lite")
	peak := message{}.num(1, tpu.stats.of("peak_hbm_bw_gigabytes_per_second")).num(4, 819)
	sparse := onPlane("/device:TPU:3 SparseCore 0").line(1, "XLA Ops", 1000, op("lookup.1", "", 10, 60))
	tr := read(t, space(tpu.end(kind, peak), sparse.end(), onPlane("/device:TPU:4").end()))
	var got []string
	for a := range tr.Activities.All() {
		on := tr.Tracks[a.Track]
		got = append(got, fmt.Sprintf("%v %s %d+%d on %d/%d", a.Kind, tr.Name(a.Name), a.Start-1000, a.Dur, on.Device, on.Stream))
	}
	want := []string{"kernel all-gather-start 70+110 on 3/1", "kernel while 0+10 on 3/0", "kernel convolution fusion 10+50 on 3/0", "kernel copy 60+30 on 3/0", "kernel while 90+5 on 3/0",
		"kernel convolution fusion 110+40 on 3/0", "kernel all-gather-done 150+30 on 3/0",
		"kernel lookup 10+50 on 3/2"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	var steps []string
	for s := range tr.Spans.All() {
		steps = append(steps, fmt.Sprintf("%v %s %d+%d", s.Kind, tr.Name(s.Name), s.Start-1000, s.Dur))
	}
	if want := []string{"user_annotation step 0 0+100", "user_annotation step 1 100+100"}; !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
	if len(tr.Meta.Devices) != 1 || tr.Meta.Devices[3] != "TPU v5 lite" || tr.Meta.Hardware[3].Bandwidth != 819e9 || tr.Meta.WithoutCalls == "" || len(tr.Issues) > 0 {
		t.Errorf("%+v, issues %v", tr.Meta, tr.Issues)
	}
}

// TestTPUNests: whatever nests, the parts of the operations of a line cover what its operations cover, once.
func TestTPUNests(t *testing.T) {
	rng := rand.New(rand.NewPCG(test.Seed(t), 7))
	for range 200 {
		var events []at
		covered := make([]bool, 200)
		var fill func(from, to int64, depth int)
		fill = func(from, to int64, depth int) {
			for at0 := from; at0 < to; {
				start := at0 + rng.Int64N(5)
				end := start + 1 + rng.Int64N(40)
				if at0 = end; end > to {
					break
				}
				events = append(events, at{fmt.Sprintf("op.%d", len(events)), start * 10_000, (end - start) * 10_000, nil})
				for i := start; i < end; i++ {
					covered[i] = true
				}
				if depth > 0 {
					fill(start, end, depth-1)
				}
			}
		}
		fill(0, 200, 3)
		tr := read(t, space(onPlane("/device:TPU:0").line(1, "XLA Ops", 0, events...).end()))
		times := make([]int, 2000)
		for a := range tr.Activities.All() {
			for i := a.Start; i < a.End(); i++ {
				times[i]++
			}
		}
		for i, n := range times {
			if n > 1 || (n == 1) != covered[i/10] {
				t.Fatalf("%d ns: %d operations, covered %t", i, n, covered[i/10])
			}
		}
	}
}

// TestAsyncCopies: copies in flight are copies, whatever their name. Other operations in flight are not.
func TestAsyncCopies(t *testing.T) {
	tr := read(t, space(onPlane("/device:TPU:0").line(1, "XLA Ops", 0, at{"dot.1", 0, 9000, nil}).
		line(2, "Async XLA Ops", 0, at{"async-copy", 0, 7000, map[string]any{"hlo_category": "copy-start"}},
			at{"async-copy", 1000, 7000, map[string]any{"hlo_category": "copy-start"}}, at{"all-reduce-start.1", 0, 5000, map[string]any{"hlo_category": "all-reduce-start"}}).end()))
	var got []string
	for a := range tr.Activities.All() {
		got = append(got, fmt.Sprint(a.Kind, " ", tr.Name(a.Name), " ", a.Dur))
	}
	if want := []string{"gpu_memcpy async-copy 7", "gpu_memcpy async-copy 7", "kernel all-reduce-start 5", "kernel dot 9"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
