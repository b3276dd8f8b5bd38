package page_test

import (
	"strconv"
	"strings"
	"testing"

	"assay/internal/test/browser"
	"assay/summary"
)

// withPath adds a critical path to the first GPU: 3 ms of the CPU, 2 ms of a kernel on its first stream that could have been launched
// 1 ms later, and after a withheld step 4 ms of communication that 7 pieces are joined to.
func withPath(s *summary.Summary) {
	d := &s.Details[0]
	n := int32(len(d.Names))
	d.Names = append(d.Names, "aten::tokenize", "flash_attention_bwd", "AllGather_of_weights")
	stream := d.Lanes[0].Stream
	const ms = 1_000_000
	d.Path = &summary.DetailPath{Steps: 3, Withheld: 1, Reason: "several clocks <b>disagree</b>", ShortNS: 5000, Pieces: []summary.PathPiece{
		{AtNS: 0, NS: 3 * ms, Class: "host_op", Name: n, Host: true, Cause: "program"},
		{AtNS: 3 * ms, NS: 2 * ms, Class: "compute", Name: n + 1, Device: d.Device, Stream: stream, Cause: "stream", Next: "launch", SlackNS: ms},
		{AtNS: 8 * ms, NS: 4 * ms, Class: "comm", Name: n + 2, Device: d.Device, Stream: stream, Count: 7, Cause: "event", Inferred: true},
	}}
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

// tipAt returns the tooltip at a time of the window, so many pixels below the top of the row of the path.
func (p shownPage) tipAt(ns, below int64) (text string) {
	p.t.Helper()
	p.Eval(`(() => { const c = document.querySelector('canvas.timeline'), box = c.getBoundingClientRect(), m = /^#t=(-?\d+),(-?\d+)/.exec(location.hash);
		const [from, to] = m ? [+m[1], +m[2]] : [0, 1];
		const x = box.left + 132 + (`+num(ns)+` - from) / (to - from) * (box.width - 132), y = box.top + +c.dataset.pathTop + `+num(below)+`;
		c.dispatchEvent(new PointerEvent('pointermove', { clientX: x, clientY: y, bubbles: true }));
		const tip = document.querySelector('.tip'); return tip.style.display === 'block' ? tip.innerText : ''; })()`, &text)
	return text
}

// TestPath: the line is drawn, its hover names what is there, and it can be hidden.
func TestPath(t *testing.T) {
	s := train(t)
	withPath(s)
	b := browser.Start(t)
	p := show(t, b, htmlOf(t, s), wide, "#t=0,13000000&d=0")
	p.quiet()
	drawn := func() (n string) {
		p.Wait("document.querySelector('canvas.timeline').dataset.path") // it is painted
		p.Eval("(c => c.dataset.path)(document.querySelector('canvas.timeline'))", &n)
		return n
	}
	if n := drawn(); n != "3" {
		t.Errorf("%s stretches are drawn, want 3", n)
	}
	for _, c := range []struct {
		ns   int64
		want string
	}{
		{1_500_000, "Critical path: operators on the CPU, aten::tokenize"}, {1_500_000, "it waited for: thread free"},
		{4_000_000, "Critical path: compute, flash_attention_bwd"}, {4_000_000, "2.000 ms"}, {4_000_000, "launch could have come 1.000 ms later"},
		{9_000_000, "Critical path: communication, AllGather_of_weights"}, {9_000_000, "the longest of 7 pieces that are joined"},
		{9_000_000, "it waited for: event (inferred)"}, {6_500_000, ""},
	} {
		if got := p.tipAt(c.ns, 5); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("at %d: %q, want %q", c.ns, got, c.want)
		}
	}
	var text string
	p.Eval("document.getElementById('timeline').innerText", &text)
	for _, want := range []string{"Hide critical path", "The critical path of 1 of 3 steps is withheld: several clocks <b>disagree</b>.", "pieces under 5 µs are joined"} {
		if !strings.Contains(text, want) {
			t.Errorf("the timeline does not say %q", want)
		}
	}
	p.Key("c")
	p.Wait("document.querySelector('canvas.timeline').dataset.path === '0'") // in the next frame
	p.Eval("document.getElementById('timeline').innerText", &text)
	if n := drawn(); n != "0" || !strings.Contains(text, "Show critical path") {
		t.Errorf("hidden, %s stretches are drawn", n)
	}
	p.Close()

	s.Details[0].Path.Pieces = nil // all of it is withheld
	p = show(t, b, htmlOf(t, s), wide, "")
	p.quiet()
	p.Eval("document.getElementById('timeline').innerText", &text)
	if n := drawn(); n != "0" || strings.Contains(text, "critical path") {
		t.Errorf("a path that is withheld has %s stretches: %s", n, text)
	}
}
