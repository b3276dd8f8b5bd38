package check

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"assay/gate"
	"assay/internal/test/samplerun"
	"assay/summary"
)

// checked applies the gates to samplerun.Train, compared with itself with 50% more kernels.
func checked(t *testing.T, yaml string) Report {
	t.Helper()
	gates, err := gate.Parse([]byte(yaml), "gates.yaml")
	if err != nil {
		t.Fatal(err)
	}
	whole := func(s *summary.Summary) []gate.Run {
		s.Issues = nil
		for i := range s.Inputs {
			s.Inputs[i].Complete = true
		}
		return []gate.Run{{Summary: s}}
	}
	now := samplerun.Train()
	for i := range now.Kernels {
		now.Kernels[i].Count += now.Kernels[i].Count / 2
	}
	rep, err := gate.Check(gates, whole(now), whole(samplerun.Train()), gate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Report{Version: "v1.2.3", GatesFile: "ci/gates.yaml", Inconclusive: func(gate.Outcome) gate.Result { return gate.Error }, Report: rep}
}

// Of samplerun.Train: idle 1160 of 8000 ms, exposed communication 1880, and the kernels
// of every rank half as many again.
const someGates = `gpu.busy_share: ">= 80%"
comm.exposed_share: "<= 20%"
kernel.count{category=gemm}: {max_increase: 5%}
idle.share: {max: 50%, warn: "<= 10%"}
memory.peak: {max: 1GiB, if_measured: true}
kernel.count{category=no, op="a, b"}: "<= 5"
step.median: {max_increase: 5%}
`

func TestCheckText(t *testing.T) {
	var out strings.Builder
	if err := checked(t, someGates).Text(&out, 80); err != nil {
		t.Fatal(err)
	}
	const want = `Gates: fail; 2 failed, 1 not evaluated, 2 passed, 1 warning, 1 not measured; 1
  run per side
  fail  kernel.count{category=gemm} rose by 50.0%, from 800 to 1,200, over the
        limit of 5%
  fail  comm.exposed_share is 23.5% (1.88 s of 8 s), over the limit of 20%
  error kernel.count{category=no, op="a, b"} cannot be measured: no such kernel;
        there are kernels of the categories all-reduce, attention, elementwise,
        gemm, other
  warn  idle.share is 14.5% (1.16 s of 8 s), over the limit of 10%
  pass  gpu.busy_share is 85.5% (6.84 s of 8 s)
  pass  step.median is unchanged at 251.5 ms
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCheckMarkdown(t *testing.T) {
	var out strings.Builder
	if err := checked(t, someGates).Markdown(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Gates: fail\n\n**2 failed, 1 not evaluated, ",
		"| fail         | `kernel.count{category=gemm}` ",
		"|      800 |    1,200 | +50.0% |",
		"- **not measured** memory.peak not measured: ",
		"| baseline |   1 |    7 | `traces/run-7.json.gz` |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestJUnit reads what is written back, and counts.
func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	if err := checked(t, someGates).JUnit(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), " time=") {
		t.Error("a case has a time, which nothing took")
	}
	var got junitSuites
	if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var failed, errors, skipped int
	names := make(map[string]string)
	for _, c := range got.Suite.Cases {
		switch {
		case c.Failure != nil:
			failed++
			names[c.Name] = c.Failure.Type + ": " + c.Failure.Message
		case c.Error != nil:
			errors++
			names[c.Name] = c.Error.Type + ": " + c.Error.Message
		case c.Skipped != nil:
			skipped++
		}
	}
	if len(got.Suite.Cases) != 7 || got.Tests != 7 || got.Suite.Tests != 7 || failed != 2 || got.Failures != 2 || errors != 1 || got.Errors != 1 || skipped != 1 || got.Skipped != 1 {
		t.Errorf("%d cases, %d failed, %d errors, %d skipped of %+v", len(got.Suite.Cases), failed, errors, skipped, got)
	}
	for name, want := range map[string]string{
		"kernel.count{category=gemm}":          "PerformanceRegression: rose by 50.0%, from 800 to 1,200, over the limit of 5%",
		"comm.exposed_share":                   "PerformanceTarget: is 23.5% (1.88 s of 8 s), over the limit of 20%",
		`kernel.count{category=no, op="a, b"}`: "Error: cannot be measured: no such kernel; there are kernels of the categories all-reduce, attention, elementwise, gemm, other",
	} {
		if names[name] != want {
			t.Errorf("%s: %s, want %s", name, names[name], want)
		}
	}
	if got.Suite.Name != "run-0.json.gz and 7 more, baseline run-0.json.gz and 7 more" {
		t.Errorf("suite %q", got.Suite.Name)
	}
}

// TestCheckHostile: names that break Markdown, XML, JSON or commands of a
// workflow stay what they are in each.
func TestCheckHostile(t *testing.T) {
	c := checked(t, someGates)
	evil := "k\x00\x1b[31m\n::error::x%0A]]></failure><a>\xff\u202e|`,:"
	c.Outcomes[0].Result, c.Outcomes[0].Why = gate.Fail, evil
	c.GatesFile = "a,b:c%\n.yaml"
	var doc bytes.Buffer
	if err := c.JUnit(&doc); err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(&doc)
	for {
		if _, err := dec.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range c.Annotations() {
		if strings.ContainsAny(line, "\n\r\x00\x1b") || strings.Count(line, "::") < 2 || !strings.HasPrefix(line, "::") {
			t.Errorf("annotation %q", line)
		}
		if !strings.Contains(line, "file=a%2Cb%3Ac%25 .yaml,line=") {
			t.Errorf("annotation %q", line)
		}
	}
	var text strings.Builder
	if err := c.JSON(&text); err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(text.String())) || strings.ContainsAny(text.String(), "\x00\x1b\u202e") {
		t.Errorf("JSON: %s", text.String())
	}
	text.Reset()
	if err := c.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "<a>") || strings.ContainsAny(text.String(), "\x00\x1b\u202e") {
		t.Errorf("Markdown: %s", text.String())
	}
}

// TestInconclusive: one gate in each form that it can count as.
func TestInconclusive(t *testing.T) {
	c := checked(t, "step.median: {max_increase: 5%}\n")
	c.Outcomes[0].Result, c.Outcomes[0].Why = gate.Inconclusive, "may be noise"
	for as, want := range map[gate.Result]string{
		gate.Fail: "::error <failure", gate.Error: "::error <error", gate.Warn: "::warning <skipped", gate.Pass: " <skipped",
	} {
		c.Inconclusive = func(gate.Outcome) gate.Result { return as }
		var doc strings.Builder
		if err := c.JUnit(&doc); err != nil {
			t.Fatal(err)
		}
		mark, _, _ := strings.Cut(strings.Join(c.Annotations(), ""), " ")
		if _, child, _ := strings.Cut(want, " "); !strings.HasPrefix(want, mark+" ") || !strings.Contains(doc.String(), child+" ") {
			t.Errorf("as %s: annotation %q in\n%s\nwant %s", as, mark, doc.String(), want)
		}
	}
}

func TestEscapeCommands(t *testing.T) {
	const in = "100%, a:b\r\nc%0A"
	if got, want := escapeData(in), "100%25, a:b%0D%0Ac%250A"; got != want {
		t.Errorf("data %q, want %q", got, want)
	}
	if got, want := escapeProperty(in), "100%25%2C a%3Ab%0D%0Ac%250A"; got != want {
		t.Errorf("property %q, want %q", got, want)
	}
}

// manyGates fail, all of them.
func manyGates(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "kernel.count{rank=0, kernel=*%s}: <= 1\n", strings.Repeat("*", i))
	}
	return b.String()
}

// TestAnnotations: never more lines than GitHub shows, worst first, and the last
// says how many there are more.
func TestAnnotations(t *testing.T) {
	got := checked(t, someGates).Annotations()
	if len(got) != 4 || got[0] != "::error file=ci/gates.yaml,line=3,title=kernel.count{category=gemm}%3A fail::kernel.count{category=gemm} rose by 50.0%25, from 800 to 1,200, over the limit of 5%25" {
		t.Errorf("%q", got)
	}
	if !strings.HasPrefix(got[3], "::warning file=ci/gates.yaml,line=4,title=idle.share%3A warn::") {
		t.Errorf("%q", got[3])
	}
	for n, want := range map[int]int{9: 9, 10: 10, 11: 10, 40: 10} {
		lines := checked(t, manyGates(n)).Annotations()
		if len(lines) != want {
			t.Errorf("%d annotations of %d failures, want %d", len(lines), n, want)
		}
		if n > 10 && !strings.Contains(lines[9], fmt.Sprintf("::%d more gates did not pass", n-9)) {
			t.Errorf("%d failures: the last annotation is %q", n, lines[9])
		}
	}
}

// TestCheckStepSummary: the text never exceeds its limit, and it counts what it omits.
func TestCheckStepSummary(t *testing.T) {
	c := checked(t, manyGates(300))
	whole := len(c.StepSummary(1 << 20))
	for _, limit := range []int{whole, whole - 1, 20_000, 5_000, 1_000, 300, 40, 10, 0} {
		text := c.StepSummary(limit)
		if len(text) > limit {
			t.Errorf("%d bytes, over the limit of %d", len(text), limit)
		}
		if limit >= 40 && !strings.HasPrefix(text, "# Gates: fail\n") {
			t.Errorf("%d bytes: no verdict in %q", limit, text)
		}
		if limit >= 300 && limit < whole && !strings.Contains(text, " more ") {
			t.Errorf("%d bytes: what was left out is not said", limit)
		}
	}
}

// TestBenchmark reads the list as github-action-benchmark does: names, units and
// finite numbers, each kind in a list of its own.
func TestBenchmark(t *testing.T) {
	c := checked(t, someGates)
	for higher, want := range map[bool]string{
		false: "comm.exposed_share 23.5 %, kernel.count{category=gemm} 1200 count, idle.share 14.5 %, step.median 2.515e+08 ns",
		true:  "gpu.busy_share 85.5 %",
	} {
		var out bytes.Buffer
		if err := c.Benchmark(&out, higher); err != nil {
			t.Fatal(err)
		}
		var list []struct {
			Name, Unit string
			Value      float64
		}
		if err := json.Unmarshal(out.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range list {
			got = append(got, fmt.Sprintf("%s %.6g %s", b.Name, b.Value, b.Unit))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	if got, want := reach([]float64{90, 100, 110}), "± 10.0%"; got != want {
		t.Errorf("reach %s, want %s", got, want)
	}
}

// TestCheckJSON: what was not measured is null, never 0.
func TestCheckJSON(t *testing.T) {
	var out bytes.Buffer
	if err := checked(t, someGates).JSON(&out); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema, Version, Result string
		Gates                   []struct {
			Gate, Result    string
			Value, Baseline map[string]any
			Change          *float64
		}
		Runs, Baseline []struct{ Inputs []struct{ SHA256 string } }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != CheckSchema || got.Version != "v1.2.3" || got.Result != "fail" || len(got.Runs) != 1 || len(got.Baseline) != 1 || len(got.Runs[0].Inputs) != 8 {
		t.Errorf("%+v", got)
	}
	for _, g := range got.Gates {
		measured := g.Result != "error" && g.Result != "skipped"
		if (g.Value != nil) != measured || (g.Baseline != nil) != measured || (g.Change != nil) != measured {
			t.Errorf("%s is %s and has value %v, baseline %v, change %v", g.Gate, g.Result, g.Value, g.Baseline, g.Change)
		}
	}
	if v := got.Gates[0].Value; v["numerator"] != 6840.0*1e6 || v["denominator"] != 8000.0*1e6 {
		t.Errorf("busy share %v, want 6.84 s of 8 s", v)
	}
}
