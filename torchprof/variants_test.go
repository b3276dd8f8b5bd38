package torchprof

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/profile"
)

// plain returns the lines of a table printed by PyTorch.
func plain(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(made, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func read(t *testing.T, text string) *profile.Tables {
	t.Helper()
	tables, err := Read(strings.NewReader(text), "in", Limits{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return tables
}

// bare returns the tables without the values that depend on the text around
// them.
func bare(tables *profile.Tables) (out []profile.Table) {
	for _, t := range tables.List {
		c := *t
		c.Line, c.Title, c.Rows = 0, "", nil
		for _, r := range t.Rows {
			r.Line = 0
			c.Rows = append(c.Rows, r)
		}
		out = append(out, c)
	}
	return out
}

// each returns the lines, changed.
func each(lines []string, f func(i int, line string) string) string {
	var out []string
	for i, line := range lines {
		out = append(out, f(i, line))
	}
	return strings.Join(out, "\n") + "\n"
}

// variants are forms in which a table gets into a file. None changes its
// content.
var variants = map[string]func(lines []string) string{
	"as it is": func(l []string) string { return each(l, func(_ int, s string) string { return s }) },
	"without the spaces at the end": func(l []string) string {
		return each(l, func(_ int, s string) string { return strings.TrimRight(s, " ") })
	},
	"from Windows": func(l []string) string {
		return "\ufeff" + each(l, func(_ int, s string) string { return s + "\r" })
	},
	"indented": func(l []string) string { return each(l, func(_ int, s string) string { return "    " + s }) },
	"a comment": func(l []string) string {
		return each(l, func(_ int, s string) string { return strings.TrimRight("#    "+s, " ") })
	},
	"Ray": func(l []string) string {
		return each(l, func(_ int, s string) string { return "\x1b[36m(WorkerDict pid=4242, ip=10.0.0.1)\x1b[0m " + s })
	},
	"torchrun": func(l []string) string { return each(l, func(_ int, s string) string { return "[default3]:" + s }) },
	"rank":     func(l []string) string { return each(l, func(_ int, s string) string { return "[rank12]: " + s }) },
	"times of one length": func(l []string) string {
		return each(l, func(i int, s string) string {
			return fmt.Sprintf("2025-01-22 15:37:%02d,%03d - INFO - root - %s", i%60, i, s)
		})
	},
	"times of any length": func(l []string) string {
		return each(l, func(i int, s string) string {
			return fmt.Sprintf("2025-01-22T15:37:32.%dZ stdout F %s", []int{5, 123456789, 12, 1234}[i%4], s)
		})
	},
	"glog": func(l []string) string {
		return each(l, func(i int, s string) string {
			return fmt.Sprintf("I0122 15:37:%02d.%06d 7176 profile.py:31] %s", i%60, i, s)
		})
	},
	"SGLang": func(l []string) string {
		return each(l, func(i int, s string) string { return fmt.Sprintf("[2025-01-22 15:37:%02d TP%d] %s", i%60, 3, s) })
	},
	"vLLM": func(l []string) string {
		return each(l, func(i int, s string) string {
			return fmt.Sprintf("\x1b[1;36m(EngineCore_0 pid=77)\x1b[0;0m INFO 01-22 15:37:%02d [gpu_worker.py:512] %s", i%60, s)
		})
	},
	"a prefix before the first line only": func(l []string) string {
		return "2025-01-22 15:37:32,001 INFO trainer.py:77 " + each(l, func(_ int, s string) string { return s })
	},
	"behind a progress bar": func(l []string) string {
		return " 10%|█         | 1/10 [00:01<00:09]\r 20%|██        | 2/10\r" + each(l, func(_ int, s string) string { return s })
	},
	"blank lines between": func(l []string) string { return each(l, func(_ int, s string) string { return s + "\n" }) },
	"lines of others between": func(l []string) string {
		return each(l, func(i int, s string) string {
			return s + fmt.Sprintf("\nINFO 01-22 15:37:33 loss 2.31 step %d\n[rank1]:[W122 15:37:34.1 x.cpp:1] Warning: slow", i)
		})
	},
	"cut behind the table": func(l []string) string {
		return each(l, func(_ int, s string) string { return s }) + "Traceback (most recent call last):\n  File \"train.py\", line 3\n"
	},
}

// TestVariants: every variant of a table gives the same result.
func TestVariants(t *testing.T) {
	for _, name := range []string{"cpu.txt", "cpu_memory_flops.txt", "cpu_shapes.txt", "cuda.txt", "SYNTHETIC_2.7_cuda_mem_Kb.txt", "SYNTHETIC_NaN_percent.txt",
		"SYNTHETIC_2.9_time_unit_ms_overload.txt", "SYNTHETIC_2.9_shapes_stack_flops_column_swap.txt"} {
		lines := plain(t, name)
		want := bare(readFile(t, name))
		for variant, change := range variants {
			got := read(t, change(lines))
			if diff := cmp.Diff(want, bare(got)); diff != "" {
				t.Errorf("%s, %s: want(-) got(+)\n%s", name, variant, diff)
			}
			for _, is := range got.Issues {
				if is.Severity != 0 {
					t.Errorf("%s, %s: %s: %s", name, variant, is.Code, is.Help)
				}
			}
		}
	}
}

// TestStackVariants: stacks continue below their rows after prefixes, too.
func TestStackVariants(t *testing.T) {
	lines := plain(t, "cpu_stack_flops.txt")
	want := bare(readFile(t, "cpu_stack_flops.txt"))
	for _, variant := range []string{"without the spaces at the end", "from Windows", "indented", "a comment", "Ray", "rank", "vLLM", "times of any length"} {
		if diff := cmp.Diff(want, bare(read(t, variants[variant](lines)))); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", variant, diff)
		}
	}
}

// TestSideBySide: ranks that write at the same time each have their table, and
// lines without a prefix belong to neither.
func TestSideBySide(t *testing.T) {
	lines := plain(t, "cuda.txt")
	var text strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&text, "(Worker pid=1) %s\n", line)
		if i > 2 {
			fmt.Fprintf(&text, "(Worker pid=11) %s\nstep %d\n", lines[i-3], i)
		}
	}
	for _, line := range lines[len(lines)-3:] {
		fmt.Fprintf(&text, "(Worker pid=11) %s\n", line)
	}
	want := bare(readFile(t, "cuda.txt"))
	got := read(t, text.String())
	if diff := cmp.Diff(append(want, want...), bare(got)); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	if first, last := got.List[0], got.List[3]; first.Line != 1 || last.Line != 5 || first.Title != "(Worker pid=1): operators" || last.Title != "(Worker pid=11): kernels and copies on CUDA" {
		t.Errorf("tables are %q on line %d and %q on line %d", first.Title, first.Line, last.Title, last.Line)
	}
	if len(got.Issues) != 1 || got.Issues[0].Code != "names-cut" {
		t.Errorf("issues are %v", got.Issues)
	}
}

// TestSeveral: consecutive tables are read, although the end of the first is
// missing.
func TestSeveral(t *testing.T) {
	one, two := plain(t, "cpu_few.txt"), plain(t, "cuda.txt")
	for name, lines := range map[string][]string{
		"whole":          append(append([]string{}, one...), two...),
		"without totals": append(append([]string{}, one[:len(one)-1]...), two...),
		"without an end": append(append([]string{}, one[:len(one)-2]...), two...),
	} {
		got := read(t, strings.Join(lines, "\n"))
		var rows []int
		for _, table := range got.List {
			rows = append(rows, len(table.Rows))
		}
		if diff := cmp.Diff([]int{4, 6, 4}, rows); diff != "" {
			t.Errorf("%s: rows: want(-) got(+)\n%s", name, diff)
		}
		if got.List[0].Title != "Rank 0, after warm-up: operators" || got.List[1].Title != "" {
			t.Errorf("%s: titles are %q and %q", name, got.List[0].Title, got.List[1].Title)
		}
	}
}

// TestBesideUnprefixed: a table without a prefix may be read at the same time
// as one with a prefix.
func TestBesideUnprefixed(t *testing.T) {
	one, two := plain(t, "cpu_few.txt")[2:], plain(t, "cuda.txt")
	var text strings.Builder
	for i := range max(len(one), len(two)) {
		if i < len(one) {
			text.WriteString(one[i] + "\n")
		}
		if i < len(two) {
			text.WriteString("[rank1]:" + two[i] + "\n")
		}
	}
	want := append(bare(readFile(t, "cpu_few.txt")), bare(readFile(t, "cuda.txt"))...)
	if diff := cmp.Diff(want, bare(read(t, text.String()))); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
}
