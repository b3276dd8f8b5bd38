package flops

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/profile"
	"assay/internal/test"
	"assay/internal/textscan"
)

// read finds the pages of a text.
func read(t testing.TB, text string, limits Limits) *profile.Tables {
	t.Helper()
	f := NewFinder("run.log", limits)
	if _, err := textscan.Scan(strings.NewReader(text), f); err != nil {
		t.Fatal(err)
	}
	return f.Tables()
}

// rows prints a table without unknown cells.
func rows(table *profile.Table) (out string) {
	for _, r := range table.Rows {
		out += r.Name
		for _, c := range r.Cells {
			if c.Known {
				out += fmt.Sprint(" ", c.Value)
			} else {
				out += " -"
			}
		}
		out += "\n"
	}
	return out
}

// page is a page in the form of 2024, behind the prefix of a launcher. Times: 2 layers of 20 ms each, 1/4 of them in mlp.
const printed = `[rank0]: -------------------------- DeepSpeed Flops Profiler --------------------------
[rank0]: Profile Summary at step 7:
[rank0]: fwd MACs per GPU:                                             500 GMACs
[rank0]: fwd latency:                                                  50 ms
[rank0]: fwd FLOPS per GPU = fwd flops per GPU / fwd latency:          20 TFLOPS
[rank0]: bwd latency:                                                  100.5 ms
[rank0]: step latency:                                                 500 us
[rank0]: iter latency:                                                 151 ms
[rank0]: FLOPS per GPU = 3 * fwd flops per GPU / iter latency:         19.87 TFLOPS
another process prints this: 5.0 ms
[rank0]: GPT(
[rank0]:   1.2 M = 100% Params, 500 GMACs = 100% MACs, 40 ms = 100% latency, 25 TFLOPS
[rank0]:   (h): ModuleList(
[rank0]:     (0): Block(
[rank0]:       600 k = 50% Params, 250 GMACs = 50% MACs, 20 ms = 50% latency, 25 TFLOPS
[rank0]:       (mlp): Linear(400 k = 33% Params, 100 GMACs = 20% MACs, 5 ms = 12.5% latency, 40 TFLOPS, in_features=8, out_features=8)
[rank0]:     )
[rank0]:     (1): Block(
[rank0]:       600 k = 50% Params, 250 GMACs = 50% MACs, 20 ms = 50% latency, 25 TFLOPS
[rank0]:       (mlp): Linear(400 k = 33% Params, 100 GMACs = 20% MACs, 15 ms = 37.5% latency, 13.333 TFLOPS, in_features=8, out_features=8)
[rank0]:       (drop): Dropout(0 = 0% Params, 0 MACs = 0% MACs, 1.77 Gs = 100% latency, 0 FLOPS, p=0.1)
[rank0]:     )
[rank0]:   )
[rank0]: )
[rank0]: ------------------------------------------------------------------------------
step 8: (mlp): Linear(400 k = 33% Params, 100 GMACs = 20% MACs, 5 ms = 12.5% latency, 40 TFLOPS)
`

// TestPage: repeated layers are one row, with their sums; FLOP/s are FLOPs over time; a time without a usable unit is
// unknown.
func TestPage(t *testing.T) {
	got := read(t, "starting\n"+printed, Limits{})
	if len(got.List) != 2 || len(got.Issues) > 0 {
		t.Fatalf("%+v", got)
	}
	if want := "forward 50000000 20000\nbackward 100500000 -\nweights update 500000 -\niteration 151000000 19870\n"; rows(got.List[0]) != want {
		t.Errorf("%s\nwant %s", rows(got.List[0]), want)
	}
	const want = "GPT 40000000 1 40000000 25000 500000000000 1200000\n" +
		"GPT / h:ModuleList / *:Block 40000000 2 20000000 25000 500000000000 1200000\n" +
		"GPT / h:ModuleList / *:Block / mlp:Linear 20000000 2 10000000 20000 200000000000 800000\n" +
		"GPT / h:ModuleList / *:Block / drop:Dropout - 1 - - - -\n"
	if rows(got.List[1]) != want || got.List[1].Run != "step 7" {
		t.Errorf("%s\nwant %s", rows(got.List[1]), want)
	}
}

// TestDamaged: a page without an end, or without a tree, says so, and the next page is another one.
func TestDamaged(t *testing.T) {
	lines := strings.SplitAfter(printed, "\n")
	for n := 3; n < len(lines)-3; n++ {
		got := read(t, strings.Join(lines[:n], "")+printed, Limits{})
		last := got.List[len(got.List)-1]
		if last.Rows[0].Cells[0] != profile.Known(40e6) || n > 5 && (len(got.List) < 3 || len(got.Issues) != 1 || got.Issues[0].Code != "table-unfinished") {
			t.Errorf("%d lines: %+v", n, got)
		}
	}
	if got := read(t, printed, Limits{Rows: 2}); len(got.List[1].Rows) != 2 || len(got.Issues) != 1 || got.Issues[0].Code != "table-rows-pooled" {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"DeepSpeed Flops Profiler Enabled: True\n", "---- DeepSpeed Flops Profiler ----\nfwd latency: 5 ms\n", "---------------------------------------------\nfwd latency: 5 ms\n"} {
		if got := read(t, text, Limits{}); len(got.List) > 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestCorpus: the numbers of a real log.
func TestCorpus(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(test.Corpus(t, "inputs"), "deepspeed_flops", "argonne_mlprof_2023.log"))
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, string(text), Limits{})
	if len(got.List) != 2 || rows(got.List[0]) != "forward 7480000 754\nbackward 10570000 1070\nweights update 694140 -\niteration 18750000 903\n" || len(got.List[1].Rows) != 9 {
		t.Errorf("%+v", got)
	}
}

func Fuzz(f *testing.F) {
	f.Add(printed)
	f.Fuzz(func(t *testing.T, text string) {
		for _, table := range read(t, text, Limits{Rows: 20}).List {
			if table.Check() != nil {
				t.Fatal(table.Check())
			}
			for _, r := range table.Rows {
				for _, c := range r.Cells {
					if c.Value < 0 {
						t.Fatalf("%+v", r)
					}
				}
			}
		}
	})
}
