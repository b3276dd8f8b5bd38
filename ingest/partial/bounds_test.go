package partial

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/summary"
)

// ranksOf measures texts of traces, each as the file of a rank.
func ranksOf(t *testing.T, texts ...string) (all []Part) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		path := filepath.Join(dir, fmt.Sprintf("rank%d.json", i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, measuredFile(t, path))
	}
	return all
}

// kernels is a trace with kernels at some times, in µs.
func kernels(spans ...string) string {
	var events []string
	for i, s := range spans {
		start, dur, _ := strings.Cut(s, "+")
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%s,"dur":%s,"args":{"device":0,"stream":7}}`, i, start, dur))
	}
	return `{"schemaVersion":1,"traceEvents":[` + strings.Join(events, ",") + `]}`
}

// apart is a trace of two calls and their kernels, on clocks that are 54 years apart: neither is far from the
// rest, and the delays of the launches are longer than any sum of times in a summary.
func apart() string {
	var events []string
	for i := range 2 {
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":5,"args":{"correlation":%d}}`, 10*i, i+1),
			fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":17000000000000%02d,"dur":5,"args":{"device":0,"stream":7,"correlation":%d}}`, i, 10*i, i+1))
	}
	return `{"schemaVersion":1,"traceEvents":[` + strings.Join(events, ",") + `]}`
}

// again writes a summary as a report does, and reads it.
func again(t *testing.T, s *summary.Summary) *summary.Summary {
	t.Helper()
	var job summary.Job
	for i := range s.Inputs {
		job.Inputs, job.Full = append(job.Inputs, i), append(job.Full, i)
	}
	var once, twice bytes.Buffer
	if err := summary.Write(&once, s.RollUp([]summary.Job{job}), ""); err != nil {
		t.Fatal(err)
	}
	read, err := summary.Read(bytes.NewReader(once.Bytes()), "summary.json")
	if err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	if err := summary.Write(&twice, read, ""); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(once.Bytes(), twice.Bytes()) {
		t.Errorf("%s\nreads as\n%s", once.Bytes(), twice.Bytes())
	}
	return read
}

func hasIssue(s *summary.Summary, code string) bool {
	return slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Code == code })
}

// TestWildWindows: a time of 0 beside those of the clock makes a window of 50 years on every rank.
// All that ran stays, and the run can be written and read.
func TestWildWindows(t *testing.T) {
	var texts []string
	for range 40 {
		texts = append(texts, kernels("0+1", "1700000000000000+5", "1700000000000010+5"))
	}
	s := again(t, Join(ranksOf(t, texts...)))
	if len(s.Devices) != 40 || len(s.Kernels) != 3*40 || !hasIssue(s, summary.ClocksImplausible) || hasIssue(s, codeBounds) {
		t.Fatalf("%d devices, %d rows of kernels, issues %+v", len(s.Devices), len(s.Kernels), s.Issues)
	}
	for _, d := range s.Devices {
		if d.Activity.Busy() != 11_000 || d.WindowNS != 100*3600e9 {
			t.Errorf("busy for %d of %d ns, want 11000 of 100 h", d.Activity.Busy(), d.WindowNS)
		}
	}
}

// TestImplausibleNumbers: the rows of an input whose numbers are too large for a summary are left out, and an
// issue says which number it was. The rows of other inputs stay.
func TestImplausibleNumbers(t *testing.T) {
	good := kernels("0+5", "10+5")
	s := again(t, Join(ranksOf(t, good, apart(), kernels("0+5", "20+5"))))
	if len(s.Inputs) != 3 || len(s.Devices) != 2 || len(s.Kernels) != 4 {
		t.Errorf("%d inputs, %d devices, %d rows of kernels, want 3, 2, 4", len(s.Inputs), len(s.Devices), len(s.Kernels))
	}
	at := slices.IndexFunc(s.Issues, func(is summary.Issue) bool { return is.Code == codeBounds })
	if at < 0 || s.Issues[at].Count != 1 || !strings.Contains(s.Issues[at].First, "rank1.json: ") {
		t.Errorf("issues are %+v, want one about a number of rank1.json", s.Issues)
	}
}

// TestDamagedNumbers: whatever numbers a capture has, its summary can be written and read.
func TestDamagedNumbers(t *testing.T) {
	g := new(graphTrace)
	g.capture(captured32, layer(32))
	g.replay(decoded32, "", layer(0), 0)
	g.eager()
	whole := g.text()
	wild := []string{"0", "-1", "1", "1e6", "1e13", "1.7e15", "9223372036854775.807", "-9223372036854775.808", "9223372036854775807", "4611686018427387904", "1e300"}
	rnd := rand.New(rand.NewPCG(3, 9))
	left := 0
	for range 150 {
		var texts []string
		for range 1 + rnd.IntN(2) {
			fields := strings.FieldsFunc(whole, func(r rune) bool { return r == ':' })
			for range 1 + rnd.IntN(4) {
				i := 1 + rnd.IntN(len(fields)-1)
				end := strings.IndexAny(fields[i], ",}]")
				if _, err := strconv.ParseFloat(fields[i][:max(0, end)], 64); err == nil {
					fields[i] = wild[rnd.IntN(len(wild))] + fields[i][end:]
				}
			}
			texts = append(texts, strings.Join(fields, ":"))
		}
		s := again(t, Join(ranksOf(t, texts...)))
		if hasIssue(s, codeBounds) {
			left++
		}
	}
	if left == 0 {
		t.Error("no damage made numbers that are left out")
	}
}

// TestBoundsSay: the issue says which number of which file does not fit, and the size of the file stays known.
func TestBoundsSay(t *testing.T) {
	p := ranksOf(t, apart())[0]
	issues := p.Summary.Issues
	i := slices.IndexFunc(issues, func(is summary.Issue) bool { return is.Code == codeBounds })
	if i < 0 || !strings.Contains(issues[i].Help, "rank0.json") || !strings.Contains(issues[i].Help, "_ns") {
		t.Errorf("%+v", issues)
	}
	if in := p.Summary.Inputs[0]; in.Bytes == 0 || in.Events != 4 {
		t.Errorf("%+v", in)
	}
	for _, is := range ranksOf(t, kernels("1000+10", "2000+4e9"))[0].Summary.Issues {
		if is.Code == codeBounds {
			t.Errorf("a plausible time: %+v", is)
		}
	}
}
