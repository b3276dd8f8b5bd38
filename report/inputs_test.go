package report

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

func TestDeviceLabels(t *testing.T) {
	two := func(a, b summary.Device) string {
		s := &summary.Summary{Inputs: make([]summary.Input, 2), Devices: []summary.Device{a, b}}
		for i := range s.Inputs {
			s.Inputs[i].RankFrom = "assumed"
		}
		return strings.Join(view.DeviceLabels(s), ", ")
	}
	for _, tc := range []struct {
		a, b summary.Device
		want string
	}{
		{summary.Device{Input: 0}, summary.Device{Input: 1}, "#1 rank 0 GPU 0, #2 rank 0 GPU 0"},
		{summary.Device{Input: 0}, summary.Device{Input: 1, Rank: 1}, "rank 0 GPU 0, rank 1 GPU 0"},
		{summary.Device{Input: 0}, summary.Device{Input: 0, Device: 1}, "GPU 0, GPU 1"},
	} {
		if got := two(tc.a, tc.b); got != tc.want {
			t.Errorf("%+v and %+v are labelled %s, want %s", tc.a, tc.b, got, tc.want)
		}
	}
	// One pair with equal labels numbers all.
	s := samplerun.Twins(2)
	s.Inputs = append(s.Inputs, summary.Input{Path: "x"})
	s.Devices = append(s.Devices, summary.Device{Input: 2, Rank: 5})
	if got := view.DeviceLabels(s)[2]; got != "#3 rank 5 GPU 0" {
		t.Errorf("the third device is labelled %q", got)
	}
}

// TestTwins: where labels have numbers, every rendering tells what they are.
func TestTwins(t *testing.T) {
	s := samplerun.Twins(3)
	d := Build(s, judged(s))
	out := text(t, d, 80)
	for _, want := range []string{
		"\n  #2 run-1/a-rather-long-name-of-a-trace-rank0.json.gz\n", "\n  #3 rank 0 GPU 0  ",
		"first at run-0/a-rather-long-name-of-a-trace-rank0.json.gz@81920:",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the text has no %q:\n%s", want, out)
		}
	}
	md := render(t, d.Markdown)
	for _, heading := range []string{"GPU time breakdown", "Streams"} {
		found := false
		for _, row := range tableOf(t, md, heading) {
			found = found || row[0] == `\#3 rank 0 GPU 0`
		}
		if !found {
			t.Errorf("%s: no device is called #3 rank 0 GPU 0", heading)
		}
	}
	if row := tableOf(t, md, "Capture quality")[3]; row[0] != `\#3` || row[1] != "`run-2/a-rather-long-name-of-a-trace-rank0.json.gz`" {
		t.Errorf("the third input is %v", row)
	}
	if !strings.Contains(md, "Paths are relative to /data/captures/.") {
		t.Error("the directory of all inputs is not named")
	}
	for _, c := range d.Charts()[:2] {
		if !strings.Contains(c.Caption, "#3 run-2/") {
			t.Errorf("%s: the caption is %q", c.Name, c.Caption)
		}
	}
	// Of many inputs the text names those whose devices it shows.
	s = samplerun.Twins(20)
	out = text(t, Build(s, judged(s)), 80)
	if !strings.Contains(out, "\n  #17 run-16/") || strings.Contains(out, "#16 run") || !strings.Contains(out, "16 more inputs") {
		t.Errorf("the text names other inputs:\n%s", out)
	}
}

func TestShortPaths(t *testing.T) {
	for _, tc := range []struct{ in, want, dir string }{
		{"/a/b/x.json /a/c/y.json", "b/x.json c/y.json", "/a/"},
		{"/a/bx/1 /a/by/2", "bx/1 by/2", "/a/"},
		{"x y", "x y", ""},
		{"/x /y", "/x /y", ""},
		{"a/x.json", "a/x.json", ""},
		{`C:\t\1.json C:\t\2.json`, "1.json 2.json", `C:\t\`},
		{"d/x d/x", "x x", "d/"},
		{"run-10/x run-1/x", "run-10/x run-1/x", ""},
	} {
		s := &summary.Summary{}
		for _, p := range strings.Fields(tc.in) {
			s.Inputs = append(s.Inputs, summary.Input{Path: p})
		}
		paths, dir := view.ShortPaths(s)
		if got := strings.Join(paths, " "); got != tc.want || dir != tc.dir {
			t.Errorf("%s: got %s below %q, want %s below %q", tc.in, got, dir, tc.want, tc.dir)
		}
	}
}

func TestSpanText(t *testing.T) {
	for _, tc := range []struct {
		window int64
		spans  []int64
		want   string
	}{
		{11_200, []int64{34_500_000}, "GPU window 11.2 µs, capture 34.5 ms"},
		{100, []int64{200}, ""}, // not over twice
		{100, []int64{201}, "GPU window 100 ns, capture 201 ns"},
		{100, []int64{0}, ""},
		{100, []int64{500, 300}, "sums over the inputs: GPU windows 200 ns, captures 800 ns"},
		{100, []int64{500, 0}, ""},
	} {
		s := &summary.Summary{}
		for i, span := range tc.spans {
			s.Inputs = append(s.Inputs, summary.Input{SpanNS: span})
			// Two GPUs; the window of one is inside the other.
			s.Devices = append(s.Devices, summary.Device{Input: i, StartNS: 50, WindowNS: tc.window},
				summary.Device{Input: i, Device: 1, StartNS: 60, WindowNS: tc.window / 2})
		}
		if got := spanText((&section.Context{Summary: s})); got != tc.want {
			t.Errorf("%d of %v: got %q, want %q", tc.window, tc.spans, got, tc.want)
		}
	}
	if got := spanText((&section.Context{Summary: &summary.Summary{Inputs: []summary.Input{{SpanNS: 5}}}})); got != "" {
		t.Errorf("a capture without GPU events has %q", got)
	}
}

// TestGroupingLine checks what the screen says of how several inputs belong together.
func TestGroupingLine(t *testing.T) {
	in := func(path, digest string, rank int) summary.Input {
		return summary.Input{Path: path, Format: "kineto", SHA256: digest, Rank: rank, RankFrom: "name"}
	}
	for _, tc := range []struct {
		inputs []summary.Input
		want   string
	}{
		{[]summary.Input{in("a/r0.json", "1", 0)}, ""},
		{[]summary.Input{in("a/r0.json", "1", 0), in("a/r1.json", "2", 1)}, "Ranks from file names"},
		{[]summary.Input{in("a/r0.json", "1", 0), in("b/r0.json", "2", 0)}, "Ranks from file names; 2 runs (one per directory)"},
		{[]summary.Input{in("a/r0.json", "", 0), in("b/r0.json", "", 0)}, "Ranks from file names; up to 2 runs (one per directory)"},
		{[]summary.Input{in("a/r0.json", "1", 0), in("b/r0.json", "1", 0)}, "Ranks from file names; 1 input with the content of another one, included in all totals"},
	} {
		s := &summary.Summary{Inputs: tc.inputs}
		if got := groupingLine(s); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
		screen := text(t, Overview(s, judge.Result{}), 200)
		if tc.want != "" && !strings.Contains(screen, "\n  "+tc.want+"\n") {
			t.Errorf("the screen does not have %q:\n%s", tc.want, screen)
		}
	}
}

// TestLogKeyIsWhole: a trace beside logs has its number in the list of inputs too. Of many
// inputs, the list has those with logged values.
func TestLogKeyIsWhole(t *testing.T) {
	of := func(n int) (marks []string) {
		s := &summary.Summary{Series: []summary.Series{{Input: 1}}}
		for i := range n {
			s.Inputs = append(s.Inputs, summary.Input{Path: "run/" + strings.Repeat("x", i+1)})
		}
		list, _ := logKey(s)
		for _, it := range list {
			marks = append(marks, it.Mark)
		}
		return marks
	}
	if got := strings.Join(of(3), ", "); got != "input 1, input 2, input 3" {
		t.Errorf("of three inputs: %s", got)
	}
	if got := strings.Join(of(20), ", "); got != "input 2" {
		t.Errorf("of twenty inputs: %s", got)
	}
}
