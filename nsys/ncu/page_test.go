package ncu

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"strings"
	"testing"
)

const detailsPage = `==PROF== Connected to process 9 (/usr/bin/app)
loss 3.5
[9] app@node1
  void add<float, 4>(const T1 *, int) (32, 2, 1)x(128, 1, 1), Context 1, Stream 7, Device 2, CC 8.9
    Section: GPU Speed Of Light Throughput
    ----------------------- ------------- ------------
    Metric Name               Metric Unit Metric Value
    ----------------------- ------------- ------------
    DRAM Throughput                     %        94.59
    Duration                      usecond     1,272.16
    Memory Throughput                   %      (!) nan
    Compute (SM) Throughput             %        28.31
    ----------------------- ------------- ------------

    OPT   Est. Local Speedup: 19.07%
          The grid is too
          small.

    Section: Launch Statistics
    ---------------------- --------------- ---------------
    Metric Name                Metric Unit    Metric Value
    ---------------------- --------------- ---------------
    Registers Per Thread   register/thread              44
    Policy                                    PolicySpread
    ---------------------- --------------- ---------------
    INF   Nothing else.

  mul(int), 2023-Mar-12 20:20:45, Context 3, Stream 13
    Section: GPU Speed Of Light Throughput
    ------------- ----------- ------------
    Metric Name   Metric Unit Metric Value
    ------------- ----------- ------------
    Duration               ms         2.50
`

// TestTextPages: heads with a shape or a date, sections with their units, conclusions with their estimates.
func TestTextPages(t *testing.T) {
	c := read(t, detailsPage)
	if len(c.Launches) != 2 || c.Rows != 7 || !c.Complete {
		t.Fatalf("%d launches of %d rows, complete: %v", len(c.Launches), c.Rows, c.Complete)
	}
	l := &c.Launches[0]
	if l.Kernel != "void add<float, 4>(const T1 *, int)" || l.Grid != (Dim{32, 2, 1}) || l.Block != (Dim{128, 1, 1}) || l.PID != 9 ||
		l.Process != "app" || l.Context != 1 || l.Stream != 7 || l.Device != 2 || l.Capability != "8.9" || l.Count != 1 {
		t.Errorf("the first launch is %+v", l)
	}
	for q, want := range map[Quantity]float64{Duration: 1272160, DRAMShare: 94.59, ComputeShare: 28.31, Registers: 44} {
		if got, ok := c.Value(l, q); !ok || math.Abs(got-want) > 1e-6 {
			t.Errorf("quantity %d is %v, %v; want %v", q, got, ok, want)
		}
	}
	if _, ok := c.Value(l, MemoryShare); ok {
		t.Error("a value that is not a number is measured")
	}
	if len(l.Rules) != 2 || l.Rules[0].Speedup != 19.07 || l.Rules[0].SpeedupKind != "local" || l.Rules[0].Text != "The grid is too small." ||
		l.Rules[0].Type != "OPT" || l.Rules[1].Type != "INF" || l.Rules[1].Name != "Launch Statistics" {
		t.Errorf("conclusions are %+v", l.Rules)
	}
	second := &c.Launches[1]
	if ns, _ := c.Value(second, Duration); second.Kernel != "mul(int)" || second.Context != 3 || second.Stream != 13 || ns != 2.5e6 {
		t.Errorf("the second launch is %+v with %v ns", second, ns)
	}
	if len(c.Issues) != 1 || c.Issues[0].Code != "values-rounded" || c.Issues[0].Count != 2 {
		t.Errorf("issues are %v", c.Issues)
	}
}

// TestRawTextPages: tables without a section, cells that continue in the next line, and averages of summaries.
func TestRawTextPages(t *testing.T) {
	text := `  k(T1 *) (1, 1, 1)x(64, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
  --------------------------- ----------- ------------
  Metric Name                 Metric Unit Metric Value
  --------------------------- ----------- ------------
  gpu__time_duration.sum               us        42.69
  odd__name.sum.per_second                12,345,678.9
                                                   012
  sm__warps_active.avg.pct_of           %        50.25
  _peak_sustained_active                              
  --------------------------- ----------- ------------
  k(T1 *) (1, 1, 1)x(64, 1, 1), Device 0, CC 9.0, Invocations 14
    Section: GPU Speed Of Light Throughput
    ------------ ----------- -------- -------- --------
    Metric Name  Metric Unit  Minimum  Maximum  Average
    ------------ ----------- -------- -------- --------
    Duration              us     1.70     1.98     1.75
    ------------ ----------- -------- -------- --------
`
	c := read(t, text)
	if len(c.Launches) != 2 || c.Launches[1].Count != 14 {
		t.Fatalf("launches are %+v", c.Launches)
	}
	if ns, _ := c.Value(&c.Launches[1], Duration); ns != 1750 {
		t.Errorf("the average is %v ns, want 1750", ns)
	}
	if got, _ := c.Value(&c.Launches[0], Occupancy); got != 50.25 {
		t.Errorf("a name of two lines has %v, want 50.25", got)
	}
	found := false
	for _, m := range c.Launches[0].Metrics {
		found = found || c.Keys[m.Key].Name == "odd__name.sum.per_second" && m.Value == 12345678.9012
	}
	if !found {
		t.Error("a value of two lines is not put together")
	}
}

// TestNoTextPages: text that looks a little like a page has no launches.
func TestNoTextPages(t *testing.T) {
	for _, text := range []string{
		"call f (1, 2, 3)x(4, 5, 6), nothing\n  Metric Name  Metric Unit  Metric Value\n",
		"Section: Results\nDuration  us  5\n",
		"a)x(b\n)x(\n (1, 1, 1)x(1, 1, 1), Context 1\n",
	} {
		if c, err := Read(strings.NewReader(text), "in", Limits{}); err == nil {
			t.Errorf("%q has launches: %+v", text, c.Launches)
		}
	}
}

// reportPage reads a page of the report in testdata.
func reportPage(t *testing.T, name string) *Capture {
	t.Helper()
	f, err := os.Open("../../testdata/h200/ncu_reports/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := io.Reader(f)
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	b, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if !Sniff(b) {
		t.Errorf("%s is not recognized", name)
	}
	c, err := Read(bytes.NewReader(b), name, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTextAndCSV: the pages of a real report say the same as text and as CSV. The pages of details are equal; the raw
// ones are rounded as text.
func TestTextAndCSV(t *testing.T) {
	text, csv := reportPage(t, "ncu_details.txt"), reportPage(t, "ncu_details.csv.gz")
	raw := reportPage(t, "ncu_raw.csv.gz")
	if len(text.Launches) != 8 || len(csv.Launches) != 8 || len(raw.Launches) != 8 {
		t.Fatalf("%d, %d and %d launches, want 8", len(text.Launches), len(csv.Launches), len(raw.Launches))
	}
	compared := 0
	for i := range csv.Launches {
		a, b, exact := &text.Launches[i], &csv.Launches[i], &raw.Launches[i]
		if a.Kernel != b.Kernel || a.Grid != b.Grid || a.Block != b.Block || a.PID != b.PID || a.Stream != b.Stream || a.Capability != b.Capability {
			t.Errorf("launch %d is %+v as text, %+v as CSV", i, a, b)
		}
		for q := range quantities {
			x, ok1 := text.Value(a, q)
			y, ok2 := csv.Value(b, q)
			if ok1 != ok2 || x != y {
				t.Errorf("launch %d: quantity %d is %v as text, %v as CSV", i, q, x, y)
			}
			if z, ok := raw.Value(exact, q); ok && ok1 && q != None {
				compared++
				if math.Abs(x-z) > 0.006 && math.Abs(x-z) > 0.004*math.Abs(z) {
					t.Errorf("launch %d: quantity %d is %v as text, exactly %v", i, q, x, z)
				}
			}
		}
	}
	if compared < 8*10 {
		t.Errorf("only %d values are compared", compared)
	}
}
