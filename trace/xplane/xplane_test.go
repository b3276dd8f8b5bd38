package xplane_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"assay/internal/test"
	"assay/trace"
	"assay/trace/xplane"
)

// A message is a message of protocol buffers that is being written.
type message []byte

func (m message) num(field int, v int64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), uint64(v))
}

func (m message) text(field int, v string) message {
	return append(binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3|2), uint64(len(v))), v...)
}

func (m message) add(field int, sub message) message { return m.text(field, string(sub)) }

// names numbers texts, which the plane lists after its lines.
type names struct {
	numbers map[string]int64
	list    []string
}

func (n *names) of(text string) int64 {
	if n.numbers == nil {
		n.numbers = map[string]int64{}
	}
	if n.numbers[text] == 0 {
		n.list = append(n.list, text)
		n.numbers[text] = int64(len(n.list))
	}
	return n.numbers[text]
}

// A writer writes one plane.
type writer struct {
	plane         message
	events, stats names
}

func onPlane(name string) *writer { return &writer{plane: message{}.text(2, name)} }

// An at is an event: its name, its start and length in ps, and its stats, texts or numbers by name.
type at struct {
	name       string
	start, dur int64
	stats      map[string]any
}

func (w *writer) stat(name string, value any) message {
	m := message{}.num(1, w.stats.of(name))
	switch v := value.(type) {
	case string:
		return m.num(7, w.stats.of(v)) // a reference
	case int:
		return m.num(4, int64(v))
	}
	panic("a stat is a text or an int")
}

func (w *writer) line(id int64, name string, startNS int64, events ...at) *writer {
	l := message{}.num(1, id).text(2, name).num(3, startNS)
	for _, e := range events {
		m := message{}.num(1, w.events.of(e.name)).num(2, e.start).num(3, e.dur)
		for _, key := range []string{"correlation_id", "hlo_op", "annotation", "kernel_details", "memcpy_details", "step_num", "hlo_category", "flops", "model_flops", "bytes_accessed", "tf_op", "source",
			"allocator_name", "index_on_host", "addr", "allocation_bytes", "bytes_allocated", "bytes_reserved"} {
			if v := e.stats[key]; v != nil {
				m = m.add(4, w.stat(key, v))
			}
		}
		l = l.add(4, m)
	}
	w.plane = w.plane.add(3, l)
	return w
}

// end returns the plane with its tables.
func (w *writer) end(own ...message) message {
	out := w.plane
	for _, s := range own {
		out = out.add(6, s)
	}
	for i, name := range w.events.list {
		out = out.add(4, message{}.num(1, int64(i+1)).add(2, message{}.num(1, int64(i+1)).text(2, name)))
	}
	for i, name := range w.stats.list {
		out = out.add(5, message{}.num(1, int64(i+1)).add(2, message{}.num(1, int64(i+1)).text(2, name)))
	}
	return out
}

func space(planes ...message) []byte {
	var out message
	for _, p := range planes {
		out = out.add(1, p)
	}
	return out.text(4, "node7")
}

func read(t *testing.T, file []byte) *trace.Trace {
	t.Helper()
	tr, _, err := xplane.Read(bytes.NewReader(file), "x.xplane.pb", trace.Select{Kinds: trace.Every})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// describe prints the rows of a trace.
func describe(tr *trace.Trace) string {
	var out []string
	for a := range tr.Activities.All() {
		d, on := tr.Detail(a.Detail), tr.Tracks[a.Track]
		out = append(out, fmt.Sprintf("%v %s %d+%d on %d/%d by %d grid %v block %v regs %d shared %d bytes %d",
			a.Kind, tr.Name(a.Name), a.Start, a.Dur, on.Device, on.Stream, a.Correlation, d.Grid, d.Block, d.Registers, d.SharedMemory, d.Bytes))
	}
	for c := range tr.Calls.All() {
		out = append(out, fmt.Sprintf("call %s %d+%d by %d on %s", tr.Name(c.Name), c.Start, c.Dur, c.Correlation, tr.Tracks[c.Track].Thread))
	}
	for o := range tr.Ops.All() {
		out = append(out, fmt.Sprintf("op %s %d+%d for %d", tr.Name(o.Name), o.Start, o.Dur, o.External))
	}
	for s := range tr.Spans.All() {
		out = append(out, fmt.Sprintf("%v %s %d+%d", s.Kind, tr.Name(s.Name), s.Start, s.Dur))
	}
	return strings.Join(out, "\n")
}

// example is a file with two GPUs, one of which is idle, and lines that repeat the work.
func example() []byte {
	host := onPlane("/host:CPU").line(-7, "Host Threads/41", 1000,
		at{"fusion", 500, 2_000_499, map[string]any{"correlation_id": 9}},
		at{"cuMemcpyHtoDAsync_v2", 4_000_000, 1_000_000, map[string]any{"correlation_id": 10}},
		at{"train", 0, 90_000_000, map[string]any{"step_num": 3}},
		at{"$loop.py:12 run", 0, 99_000_000, nil})
	one := onPlane("/device:GPU:1").line(13, "Stream #13(Compute)", 1000,
		at{"fusion", 10_000_000, 30_000_000, map[string]any{"correlation_id": 9, "hlo_op": "call.2::fusion.7",
			"kernel_details": "regs:16 static_shared:100 dynamic_shared:28 grid:4,2,1 block:128,1,1 occ_pct:50"}}).
		line(14, "Stream #14(MemcpyH2D)", 1000,
			at{"MemcpyH2D", 50_000_000, 4_000_000, map[string]any{"correlation_id": 10, "memcpy_details": "kind_src:pinned size:4096 dest:1 async:1"}}).
		line(99, "XLA Ops", 1000, at{"fusion.7", 10_000_000, 30_000_000, nil})
	vendor := message{}.num(1, one.stats.of("device_vendor")).text(5, "Nvidia")
	cores := message{}.num(1, one.stats.of("core_count")).num(4, 132)
	return space(host.end(), one.end(vendor, cores), onPlane("/device:GPU:0").end(), onPlane("/host:metadata").line(1, "x", 0, at{"jit_f(1)", 0, 5, nil}).end())
}

func TestRead(t *testing.T) {
	tr := read(t, example())
	want := `kernel fusion 11000+30000 on 1/13 by 9 grid [4 2 1] block [128 1 1] regs 16 shared 128 bytes -1
gpu_memcpy MemcpyH2D 51000+4000 on 1/14 by 10 grid [0 0 0] block [0 0 0] regs -1 shared -1 bytes 4096
call launch 1001+2000 by 9 on Host Threads/41
call cuMemcpyHtoDAsync_v2 5000+1000 by 10 on Host Threads/41
op fusion.7 1001+2000 for 9
user_annotation step 3 1000+90000
other $loop.py:12 run 1000+99000`
	if got := describe(tr); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !tr.Complete || tr.Events != 6 || len(tr.Issues) > 0 || tr.Meta.Tool != trace.ToolXLA || tr.Meta.Host != "node7" || tr.Meta.Hardware[1].SMs != 132 || len(tr.Meta.Hardware) != 1 {
		t.Errorf("complete %v, %d events, issues %v, meta %+v", tr.Complete, tr.Events, tr.Issues, tr.Meta)
	}
}

// TestRounding: both ends are rounded, so that neighbours in picoseconds stay neighbours.
func TestRounding(t *testing.T) {
	var events []at
	for i := range int64(20) {
		events = append(events, at{"k", i * 1700, 1700, nil})
	}
	tr := read(t, space(onPlane("/device:GPU:0").line(1, "Stream #1(Compute)", 5, events...).end()))
	end, total := int64(5), int64(0)
	for a := range tr.Activities.All() {
		if a.Start != end {
			t.Errorf("an operation starts at %d, the one before ends at %d", a.Start, end)
		}
		end, total = a.End(), total+a.Dur
	}
	if total != 34 {
		t.Errorf("20 × 1.7 ns take %d ns", total)
	}
}

// TestBroken: what comes before the damage is read, and the damage is named.
func TestBroken(t *testing.T) {
	whole := example()
	tr := read(t, whole)
	for cut := len(whole) - 8; cut > 0; cut -= 7 {
		part, _, err := xplane.Read(bytes.NewReader(whole[:cut]), "x.xplane.pb", trace.Select{Kinds: trace.Every})
		if err != nil {
			if cut > 40 {
				t.Errorf("cut at %d of %d: %v", cut, len(whole), err)
			}
			continue
		}
		if part.Complete || len(part.Issues) == 0 {
			t.Fatalf("cut at %d: complete %v, issues %v", cut, part.Complete, part.Issues)
		}
		if part.Activities.Len() > tr.Activities.Len() {
			t.Errorf("cut at %d: %d operations", cut, part.Activities.Len())
		}
	}
	for name, file := range map[string]string{"a text": "hello", "a huge plane": "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f/host:CPU", "another type": "\x08\x01"} {
		if _, _, err := xplane.Read(strings.NewReader(file), "x", trace.Select{Kinds: trace.Every}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := strings.ToValidUTF8(string(whole), "\uFFFD") // an example of bytes that a text tool replaced
	for name, tc := range map[string]struct {
		file string
		says bool
	}{"converted": {"\n\uFFFD\uFFFD\x06\x12\x0a/host:CPU" + strings.Repeat("\uFFFD", 9) + text, true}, "a text": {"hello", false}} {
		if _, _, err := xplane.Read(strings.NewReader(tc.file), "x", trace.Select{Kinds: trace.Every}); err == nil || strings.Contains(err.Error(), "converted as text") != tc.says {
			t.Errorf("%s: %v", name, err)
		}
	}
	wild := read(t, space(onPlane("/device:GPU:0").line(1, "Stream #1", 0, at{"k", 1 << 62, 5, nil}, at{"k", 0, -5, nil}, at{"k", 7000, 1000, nil}).end()))
	if wild.Activities.Len() != 1 || wild.Complete || wild.Issues[0].Count != 2 {
		t.Errorf("impossible times: %d operations, %v", wild.Activities.Len(), wild.Issues)
	}
}

// TestRepeatedPlanes: the numbers of two hosts collide, so the planes of the second are left out, and an issue says so.
func TestRepeatedPlanes(t *testing.T) {
	once, twice := read(t, example()), read(t, append(example(), example()...))
	if got, want := describe(twice), describe(once); got != want {
		t.Errorf("twice:\n%s\nonce:\n%s", got, want)
	}
	if twice.Complete || len(twice.Issues) != 1 || twice.Issues[0].Code != "plane-repeated" || twice.Issues[0].Count != 3 {
		t.Errorf("complete %v, issues %v", twice.Complete, twice.Issues)
	}
}

// TestWrongTypes: a number where a text belongs is damage.
func TestWrongTypes(t *testing.T) {
	event := message{}.num(1, 1).text(2, "x").num(3, 5)
	tr := read(t, space(message{}.text(2, "/device:GPU:0").add(3, message{}.text(2, "Stream #1").add(4, event)).num(4, 7)))
	if tr.Activities.Len() != 0 || tr.Complete || tr.Issues[0].Count != 2 {
		t.Errorf("%d operations, complete %v, issues %v", tr.Activities.Len(), tr.Complete, tr.Issues)
	}
}

// TestSharedProperties: what events have in common is read once, whatever its size.
func TestSharedProperties(t *testing.T) {
	const n = 20_000
	w := onPlane("/device:GPU:0")
	events := make([]at, n)
	for i := range events {
		events[i] = at{"k", int64(i) * 2000, 1000, nil}
	}
	w.line(1, "Stream #1", 0, events...)
	kind := message{}.num(1, 1).text(2, "k")
	for range n {
		kind = kind.add(5, w.stat("kernel_details", "grid:7,1,1"))
	}
	plane := w.end()
	plane = plane.add(4, message{}.num(1, 1).add(2, kind))
	start := time.Now()
	tr := read(t, space(plane))
	if took := time.Since(start); tr.Activities.Len() != n || took > 10*time.Second {
		t.Errorf("%d operations in %v", tr.Activities.Len(), took)
	}
	for a := range tr.Activities.All() {
		if d := tr.Detail(a.Detail); d.Grid != [3]int64{7, 1, 1} {
			t.Fatalf("the grid is %v", d.Grid)
		}
	}
}

// TestOtherDevices: work of other devices is not taken for that of GPUs, and an issue says so.
func TestOtherDevices(t *testing.T) {
	tr := read(t, space(onPlane("/device:CUSTOM:0").line(1, "XLA Ops", 0, at{"fusion", 0, 5000, nil}).end()))
	if tr.Activities.Len() != 0 || len(tr.Issues) != 1 || tr.Issues[0].Code != "device-not-read" {
		t.Errorf("%d operations, issues %v", tr.Activities.Len(), tr.Issues)
	}
}

func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		string(example()[:64]): true, "\x0a\xb0\x09\x12\x09/host:CPU": true, "\x0a\x08\x08\x01\x12\x04/dev": false,
		"\x0a\x04\x50\x01\x58\x02": false, "": false, "/host:CPU": false,
	} {
		if got := xplane.Sniff([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

// TestCorpus compares sums with those that a script and another tool computed.
func TestCorpus(t *testing.T) {
	folder := test.Corpus(t, "inputs", "xplane")
	for _, tt := range []struct {
		file               string
		kernels, copies    int
		kernelNS, launched int64
	}{
		{"aoberai_tf25_20210617_181207.xplane.pb", 152, 24, 1_208_891, 176},
		{"tracelens_jax_conv_legacy_mi300.xplane.pb", 25, 53, 3_586_493, 78},
	} {
		f, err := os.Open(folder + "/" + tt.file)
		if err != nil {
			t.Fatal(err)
		}
		tr, _, err := xplane.Read(f, tt.file, trace.Select{Kinds: trace.Every})
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		kernels, copies, ns, launched := 0, 0, int64(0), int64(0)
		calls := map[trace.ID]bool{}
		for c := range tr.Calls.All() {
			calls[c.Correlation] = true
		}
		for a := range tr.Activities.All() {
			if a.Kind == trace.Kernel {
				kernels, ns = kernels+1, ns+a.Dur
			} else {
				copies++
			}
			if calls[a.Correlation] {
				launched++
			}
		}
		if kernels != tt.kernels || copies != tt.copies || ns != tt.kernelNS || launched != tt.launched || !tr.Complete {
			t.Errorf("%s: %d kernels of %d ns, %d copies, %d launched, want %+v", tt.file, kernels, ns, copies, launched, tt)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(example())
	f.Add(example()[:200])
	f.Fuzz(func(t *testing.T, file []byte) {
		tr, _, err := xplane.Read(bytes.NewReader(file), "x", trace.Select{Kinds: trace.Every})
		if err != nil {
			return
		}
		for a := range tr.Activities.All() {
			if a.Dur < 0 || int(a.Track) >= len(tr.Tracks) {
				t.Errorf("%+v", a)
			}
		}
	})
}
