package report

import (
	"strings"
	"testing"

	"assay/summary"
)

// TestProfile compares the section of a profile with the comment of profileRun:
// functions by their totals, then by their own time, and the picture.
func TestProfile(t *testing.T) {
	s := profileRun()
	md := markdownOf(t, s)
	wantText(t, md, "\n## Verdict: hot function\n", "](flame.png)", "](table-functions.png)",
		"\"verify\" has 70.0% of the profile's time (700 ms of 1 s) with all it calls, over the critical limit of 50%",
		"- **evidence** calls \"parse\": 92.9% of it (650 ms)",
		"By what they cost with all that they called:", "By what they cost themselves:")
	totals, self, ok := strings.Cut(md, "By what they cost themselves:")
	if !ok {
		t.Fatal("no table by self time")
	}
	order := func(text string, names ...string) {
		t.Helper()
		last := -1
		for _, name := range names {
			at := strings.Index(text, "| `"+name+"`")
			if at <= last {
				t.Errorf("%s is at %d, the one before it at %d", name, at, last)
			}
			last = at
		}
	}
	order(totals, "main", "serve", "verify", "parse")
	order(self, "parse", "main", "verify")
	if strings.Contains(md, "caller") {
		t.Error("the calls, which are for findings, are a table of the report")
	}
	screen := text(t, Build(s, judged(s)), 80)
	wantText(t, screen, "Verdict: hot function\n", "Functions: share of 1 s time in functions\n")
	if strings.Index(screen, "main.py") > 0 || strings.Count(screen, "  function\n") != 2 {
		t.Errorf("the screen has not two tables of functions:\n%s", screen)
	}
}

// TestFlameChart: boxes are where the widths of those before them put them, and
// no name leaves its box.
func TestFlameChart(t *testing.T) {
	c, ok := flameChart(profileRun())
	if !ok {
		t.Fatal("no picture of stacks")
	}
	if want := "width: share of 1 s cpu in server.pb.gz"; !strings.Contains(c.Subtitle, want) {
		t.Errorf("%q has no %q", c.Subtitle, want)
	}
	g := c.Body.(FlameGraph)
	if len(g.Panels) != 1 || g.Panels[0].rows() != 4 || g.Panels[0].deeper() != 0 {
		t.Fatalf("panels are %+v", g.Panels)
	}
	painted, err := c.paint()
	if err != nil {
		t.Fatal(err)
	}
	const length = ChartWidth - 2*margin
	for name, box := range map[string][2]float64{"main": {0, 1}, "serve": {0, 0.9}, "verify": {0, 0.7}, "parse": {0, 0.65}, "40 more functions": {0.7, 0.9}} {
		found := false
		for _, b := range painted.boxes {
			drawn := strings.ReplaceAll(b.text, "\u00a0", " ")
			if drawn != name && !strings.HasPrefix(drawn, name+"  ") {
				continue
			}
			found = true
			if b.x0 < margin+length*box[0]-1 || b.x1 > margin+length*box[1]+1 {
				t.Errorf("%q is drawn from %.0f to %.0f, its box is %.0f to %.0f", drawn, b.x0-margin, b.x1-margin, length*box[0], length*box[1])
			}
		}
		if !found {
			t.Errorf("no box is named %q", name)
		}
	}
	if _, ok := flameChart(tablesRun()); ok {
		t.Error("tables without stacks have a picture of them")
	}
}

// TestFlamePixels looks at the picture itself: a box has its colour between its
// edges, and there is nothing to the right of what it called.
func TestFlamePixels(t *testing.T) {
	c, _ := flameChart(profileRun())
	painted, err := c.paint()
	if err != nil {
		t.Fatal(err)
	}
	const pitch = 22 // of the four rows, above a margin of 6 and of 18
	top := float64(painted.image().Bounds().Dy() - 18 - 6 - 4*pitch)
	const length = ChartWidth - 2*margin
	at := func(share float64, row int) Color {
		r, g, b, _ := painted.image().At(margin+int(length*share), int(top+pitch*float64(row)+2)).RGBA()
		return Color(r>>8<<16 | g>>8<<8 | b>>8)
	}
	for _, tt := range []struct {
		share float64
		row   int
		want  Color
	}{
		{0.99, 0, flameColor(profileRun().Flames[0].Nodes[0])}, {0.89, 1, flameColor(profileRun().Flames[0].Nodes[1])},
		{0.95, 1, colorWhite}, {0.8, 2, colorOthers}, {0.69, 2, flameColor(profileRun().Flames[0].Nodes[2])}, {0.68, 3, colorWhite},
	} {
		if got := at(tt.share, tt.row); got != tt.want {
			t.Errorf("at %.2f of row %d is %06x, want %06x", tt.share, tt.row, got, tt.want)
		}
	}
}

// TestFlameHostile: what breaks every promise is drawn without harm, and what is
// left out is said.
func TestFlameHostile(t *testing.T) {
	c, ok := flameChart(strangeFlames())
	if !ok {
		t.Fatal("no picture")
	}
	for _, want := range []string{"more levels of calls below.", "more profiles."} {
		if !strings.Contains(c.Caption, want) {
			t.Errorf("%q has no %q", c.Caption, want)
		}
	}
	if _, err := c.paint(); err != nil {
		t.Fatal(err)
	}
	if n := len(c.Body.(FlameGraph).Panels); n != mostFlames {
		t.Errorf("%d panels, want %d", n, mostFlames)
	}
	empty := &summary.Summary{Flames: []summary.Flame{{Name: "cpu", Total: 0}, {Name: "cpu", Total: 5}}}
	if c, ok := flameChart(empty); ok {
		t.Errorf("a picture of nothing: %+v", c)
	}
}

// TestFlameNames: directories and module paths are left out.
func TestFlameNames(t *testing.T) {
	for in, want := range map[string]string{
		"net/http.(*conn).serve":                         "http.(*conn).serve",
		"assay/hosttree.Walk[go.shape.struct { a/b.c }]": "hosttree.Walk[go.shape.struct { a/b.c }]",
		"/usr/lib/python3.11/asyncio/tasks.py:627 sleep": "tasks.py:627 sleep",
		"void at::native::f<a/b>(int)":                   "void at::native::f<a/b>(int)",
		"":                                               "(no name)",
	} {
		if got := flameName(summary.FlameNode{Name: in}); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
