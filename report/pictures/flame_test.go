package pictures

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/report/plot"
	"assay/summary"
)

// TestFlameChart: boxes are where the widths of those before them put them, and
// no name leaves its box.
func TestFlameChart(t *testing.T) {
	c, ok := flame(samplerun.Profile())
	if !ok {
		t.Fatal("no picture of stacks")
	}
	if want := "width: % of 1 s cpu in server.pb.gz"; !strings.Contains(c.Subtitle, want) {
		t.Errorf("%q has no %q", c.Subtitle, want)
	}
	g := c.Body.(plot.FlameGraph)
	if len(g.Panels) != 1 || g.Panels[0].Rows() != 4 || g.Panels[0].Deeper() != 0 {
		t.Fatalf("panels are %+v", g.Panels)
	}
	painted, err := c.Paint()
	if err != nil {
		t.Fatal(err)
	}
	const length = plot.Width - 2*plot.Margin
	for name, box := range map[string][2]float64{"main": {0, 1}, "serve": {0, 0.9}, "verify": {0, 0.7}, "parse": {0, 0.65}, "40 more functions": {0.7, 0.9}} {
		found := false
		for _, b := range painted.Boxes {
			drawn := strings.ReplaceAll(b.Text, "\u00a0", " ")
			if drawn != name && !strings.HasPrefix(drawn, name+"  ") {
				continue
			}
			found = true
			if b.X0 < plot.Margin+length*box[0]-1 || b.X1 > plot.Margin+length*box[1]+1 {
				t.Errorf("%q is drawn from %.0f to %.0f, its box is %.0f to %.0f", drawn, b.X0-plot.Margin, b.X1-plot.Margin, length*box[0], length*box[1])
			}
		}
		if !found {
			t.Errorf("no box is named %q", name)
		}
	}
	if _, ok := flame(samplerun.Tables()); ok {
		t.Error("tables without stacks have a picture of them")
	}
}

// TestFlamePixels looks at the picture itself: a box has its colour between its
// edges, and there is nothing to the right of what it called.
func TestFlamePixels(t *testing.T) {
	c, _ := flame(samplerun.Profile())
	painted, err := c.Paint()
	if err != nil {
		t.Fatal(err)
	}
	const pitch = 22 // of the four rows, above a margin of 6 and of 18
	top := float64(painted.Image().Bounds().Dy() - 18 - 6 - 4*pitch)
	const length = plot.Width - 2*plot.Margin
	at := func(share float64, row int) plot.Color {
		r, g, b, _ := painted.Image().At(plot.Margin+int(length*share), int(top+pitch*float64(row)+2)).RGBA()
		return plot.Color(r>>8<<16 | g>>8<<8 | b>>8)
	}
	for _, tt := range []struct {
		share float64
		row   int
		want  plot.Color
	}{
		{0.99, 0, flameColor(samplerun.Profile().Flames[0].Nodes[0])}, {0.89, 1, flameColor(samplerun.Profile().Flames[0].Nodes[1])},
		{0.95, 1, plot.ColorWhite}, {0.8, 2, colorOthers}, {0.69, 2, flameColor(samplerun.Profile().Flames[0].Nodes[2])}, {0.68, 3, plot.ColorWhite},
	} {
		if got := at(tt.share, tt.row); got != tt.want {
			t.Errorf("at %.2f of row %d is %06x, want %06x", tt.share, tt.row, got, tt.want)
		}
	}
}

// TestFlameHostile: damaged data is drawn without a panic, and the caption counts what is
// left out.
func TestFlameHostile(t *testing.T) {
	c, ok := flame(samplerun.StrangeFlames())
	if !ok {
		t.Fatal("no picture")
	}
	for _, want := range []string{"more levels of calls.", "more profiles."} {
		if !strings.Contains(c.Caption, want) {
			t.Errorf("%q has no %q", c.Caption, want)
		}
	}
	if _, err := c.Paint(); err != nil {
		t.Fatal(err)
	}
	if n := len(c.Body.(plot.FlameGraph).Panels); n != mostFlames {
		t.Errorf("%d panels, want %d", n, mostFlames)
	}
	empty := &summary.Summary{Flames: []summary.Flame{{Name: "cpu", Total: 0}, {Name: "cpu", Total: 5}}}
	if c, ok := flame(empty); ok {
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
