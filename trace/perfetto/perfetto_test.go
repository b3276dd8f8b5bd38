package perfetto

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/internal/test/pfgen"
	"assay/internal/test/tracegen"
	"assay/trace"
)

func read(t testing.TB, in []byte) (*trace.Trace, string) {
	t.Helper()
	tr, format, err := Read(bytes.NewReader(in), "in.pftrace", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return tr, format
}

// said returns what a trace says, sorted.
func said(t *trace.Trace, shift int64) (out []string) {
	say := func(words ...any) { out = append(out, strings.TrimSpace(fmt.Sprintln(words...))) }
	for a := range t.Activities.All() {
		on := t.Tracks[a.Track]
		name, _, _ := strings.Cut(t.Name(a.Name), " (")
		if a.Kind != trace.Memcpy {
			name = t.Name(a.Name)
		}
		say("work", a.Start+shift, a.Dur, name, a.Correlation, on.Device, on.Stream)
	}
	for c := range t.Calls.All() {
		say("call", c.Start+shift, c.Dur, t.Name(c.Name), c.Correlation, t.Tracks[c.Track].PID, t.Tracks[c.Track].TID)
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation || s.Kind == trace.OffCPU || t.Name(s.Category) == "test" {
			say(s.Kind, s.Start+shift, s.Dur, t.Name(s.Name), t.Tracks[s.Track].PID, t.Tracks[s.Track].TID)
		}
	}
	slices.Sort(out)
	return out
}

// TestPrograms: generated programs have the same work, calls and ranges as in Kineto, in both styles.
func TestPrograms(t *testing.T) {
	n := 0
	for _, p := range tracegen.Stories() {
		style, format := pfgen.Torch, FormatKineto
		switch {
		case strings.HasSuffix(p.Name, "_hip"):
			style, format = pfgen.Rocprofv3, FormatROCm
		case n > 12:
			continue
		}
		n++
		want, err := trace.Read(bytes.NewReader(p.Make().JSON), p.Name, trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		const shift = 1_700_000_000_000_000_000
		in := pfgen.Trace(want, style, shift)
		if !Sniff(in[:min(len(in), 4096)]) {
			t.Errorf("%s is not recognized", p.Name)
		}
		got, is := read(t, in)
		if is != format || !got.Complete || len(got.Issues) > 0 || got.Meta.BaseTime == nil || *got.Meta.BaseTime != 0 {
			t.Errorf("%s: %s, complete %t, %v, %+v", p.Name, is, got.Complete, got.Meta.BaseTime, got.Issues)
		}
		if diff := gocmp.Diff(said(want, shift), said(got, 0)); diff != "" {
			t.Errorf("%s: %.3000s", p.Name, diff)
		}
	}
}

// marked returns a slice of the category "test".
func marked(at, end int64, track uint64, name string) []pfgen.Message {
	return []pfgen.Message{pfgen.Begin(at, track, name, "test", nil), pfgen.End(end, track)}
}

var main = []pfgen.Message{pfgen.Process(1, 40, "prog"), pfgen.Thread(2, 1, 40, 41, "main")}

func expect(t *testing.T, name string, tr *trace.Trace, want ...string) {
	t.Helper()
	if got := said(tr, 0); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
}

// TestNames: a number means a text in the packets of its writer, until these begin anew.
func TestNames(t *testing.T) {
	interned := func(sequence uint64, flags uint64, name string) pfgen.Message {
		names := pfgen.Message{}.In(2, pfgen.Message{}.Num(1, 7).Text(2, name)).In(1, pfgen.Message{}.Num(1, 7).Text(2, "test"))
		return pfgen.Message{}.Num(10, sequence).Num(13, flags).In(12, names)
	}
	mark := func(sequence uint64, at int64, kind uint64) pfgen.Message {
		event := pfgen.Message{}.Num(9, kind).Num(11, 2)
		if kind == 1 {
			event = event.Num(10, 7).Num(3, 7)
		}
		return pfgen.Message{}.Num(8, uint64(at)).Num(10, sequence).Num(13, 2).In(11, event)
	}
	tr, _ := read(t, pfgen.Packets(append(main, interned(3, 1, "a"), interned(4, 1, "b"),
		mark(3, 10, 1), mark(3, 20, 2), mark(4, 30, 1), mark(4, 40, 2), interned(3, 1, "c"), mark(3, 50, 1), mark(3, 60, 2))...))
	expect(t, "names", tr, "other 10 10 a 40 41", "other 30 10 b 40 41", "other 50 10 c 40 41")
	// Packets that were lost may have had the names of those that follow, until the state begins anew.
	lost := pfgen.Message{}.Num(10, 3).Num(42, 1)
	tr, _ = read(t, pfgen.Packets(append(main, interned(3, 1, "a"), lost, mark(3, 10, 1), mark(3, 20, 2), interned(3, 1, "c"), mark(3, 50, 1), mark(3, 60, 2))...))
	expect(t, "lost", tr, "other 50 10 c 40 41")
	if len(tr.Issues) != 1 || tr.Issues[0].Code != "packets-lost" || tr.Issues[0].Count != 2 {
		t.Errorf("%+v", tr.Issues)
	}
}

// TestClocks: times are moved to the clock since the start of the machine, by the snapshot before them; those of a writer
// may count from the last one, in a unit.
func TestClocks(t *testing.T) {
	reading := func(id, at, unit uint64, incremental bool) pfgen.Message {
		m := pfgen.Message{}.Num(1, id).Num(2, at)
		if incremental {
			m = m.Num(3, 1)
		}
		if unit > 0 {
			m = m.Num(4, unit)
		}
		return m
	}
	snapshot := func(readings ...pfgen.Message) pfgen.Message {
		all := pfgen.Message{}
		for _, r := range readings {
			all = all.In(1, r)
		}
		return pfgen.Message{}.Num(10, 1).In(6, all)
	}
	on := func(clock uint64, m pfgen.Message) pfgen.Message { return m.Num(58, clock) }
	tr, _ := read(t, pfgen.Packets(append(main,
		snapshot(reading(6, 5000, 0, false), reading(1, 1_700_000_000_000_005_000, 0, false), reading(3, 1000, 0, false), reading(64, 2, 1000, true)),
		pfgen.Begin(5100, 2, "boot", "test", nil), pfgen.End(5200, 2),
		on(3, pfgen.Begin(1300, 2, "monotonic", "test", nil)), on(3, pfgen.End(1400, 2)),
		on(64, pfgen.Begin(3, 2, "delta", "test", nil)), on(64, pfgen.End(1, 2)),
		snapshot(reading(6, 90_000, 0, false), reading(3, 85_000, 0, false)),
		on(3, pfgen.Begin(86_000, 2, "later", "test", nil)), on(3, pfgen.End(86_500, 2)),
		on(70, pfgen.Begin(5, 2, "unknown", "test", nil)))...))
	expect(t, "clocks", tr, "other 5100 100 boot 40 41", "other 5300 100 monotonic 40 41", "other 8000 1000 delta 40 41", "other 91000 500 later 40 41")
	if tr.Meta.BaseTime == nil || *tr.Meta.BaseTime != 1_700_000_000_000_000_000 || tr.Complete || len(tr.Issues) != 1 || tr.Issues[0].Code != "event-damaged" {
		t.Errorf("base %v, %+v", tr.Meta.BaseTime, tr.Issues)
	}
}

// TestTies: on a queue, an operation ends before the next begins, also where the file has all begins first, and one without
// duration stays one. On a thread, the order of the file says what is within what.
func TestTies(t *testing.T) {
	gpu := []pfgen.Message{pfgen.Process(1, 3, "GPU 3"), pfgen.Thread(2, 1, 3, 9, "stream 9")}
	k := func(at int64, name string) pfgen.Message {
		return pfgen.Begin(at, 2, name, "", pfgen.Annotation("correlation", 5))
	}
	tr, _ := read(t, pfgen.Packets(append(gpu, k(10, "a"), k(20, "b"), k(20, "c"), k(30, "d"), pfgen.End(20, 2), pfgen.End(20, 2), pfgen.End(30, 2), pfgen.End(45, 2))...))
	expect(t, "queue", tr, "work 10 10 a 5 3 9", "work 20 0 b 5 3 9", "work 20 10 c 5 3 9", "work 30 15 d 5 3 9")
	tr, _ = read(t, pfgen.Packets(slices.Concat(main, marked(10, 20, 2, "outer")[:1], marked(20, 20, 2, "inner"), []pfgen.Message{pfgen.End(50, 2)})...))
	expect(t, "thread", tr, "other 10 40 outer 40 41", "other 20 0 inner 40 41")
	tr, _ = read(t, pfgen.Packets(append(main, pfgen.End(5, 2), pfgen.Begin(9, 2, "open", "test", nil))...))
	if len(tr.Issues) != 1 || tr.Issues[0].Code != "spans-not-paired" || tr.Issues[0].Count != 2 {
		t.Errorf("%+v", tr.Issues)
	}
}

// TestScheduler: a thread with slices is off the CPU between two switches, in both forms of them; other threads do not
// matter.
func TestScheduler(t *testing.T) {
	change := func(at, from, to uint64) pfgen.Message {
		return pfgen.Message{}.Num(1, at).In(4, pfgen.Message{}.Num(2, from).Num(6, to))
	}
	bundle := pfgen.Message{}.Num(1, 0).In(2, change(100, 41, 7)).In(2, change(150, 7, 8)).In(2, change(180, 8, 41)).In(2, change(300, 41, 0)).In(2, change(360, 0, 41))
	list := func(values ...uint64) (out string) {
		for _, v := range values {
			out = string(binary.AppendUvarint([]byte(out), v))
		}
		return out
	}
	compact := pfgen.Message{}.Num(1, 3).In(4, pfgen.Message{}.Text(1, list(500, 100, 50)).Text(3, list(41, 0, 41)))
	tr, _ := read(t, pfgen.Packets(append(append(main, pfgen.Message{}.In(1, bundle), pfgen.Message{}.In(1, compact)), marked(1, 900, 2, "work")...)...))
	expect(t, "scheduler", tr, "other 1 899 work 40 41", "sched 100 80 (thread not running) 40 41", "sched 300 60 (thread not running) 40 41", "sched 600 50 (thread not running) 40 41")
}

// TestRenderStages: work that the GPU data sources record has the call whose slice names it; graphics work is said to be
// left out.
func TestRenderStages(t *testing.T) {
	dims := func(x, y, z uint64) pfgen.Message { return pfgen.Message{}.Num(1, x).Num(2, y).Num(3, z) }
	stage := pfgen.Message{}.Num(1, 77).Num(2, 40).Num(11, 2).Num(13, 4).Text(17, "axpy").In(21, pfgen.Message{}.In(1, dims(8, 2, 1)).In(2, dims(256, 1, 1)))
	graphics := pfgen.Message{}.Num(1, 78).Num(2, 40).Text(17, "vertex")
	tr, _ := read(t, pfgen.Packets(append(main, pfgen.Begin(5, 2, "cudaLaunchKernel", "cuda_runtime", pfgen.Message{}.In(3000, pfgen.Message{}.Num(1, 77))), pfgen.End(9, 2),
		pfgen.Message{}.Num(8, 20).Num(10, 1).In(53, stage), pfgen.Message{}.Num(8, 90).Num(10, 1).In(53, graphics))...))
	expect(t, "stages", tr, "call 5 4 cudaLaunchKernel 77 40 41", "work 20 40 axpy 77 2 4")
	if d := tr.Detail(tr.Activities.At(0).Detail); d.Grid != [3]int64{8, 2, 1} || d.Block != [3]int64{256, 1, 1} {
		t.Errorf("%+v", d)
	}
	if len(tr.Issues) != 1 || tr.Issues[0].Code != "device-not-read" {
		t.Errorf("%+v", tr.Issues)
	}
}

// TestOverlap: rocprofv3 shortens work that overlaps, and the annotations have what was measured.
func TestOverlap(t *testing.T) {
	k := func(at, begin, end int64, name string) pfgen.Message {
		return pfgen.Begin(at, 5, name, "kernel_dispatch", append(append(pfgen.Annotation("begin_ns", begin), pfgen.Annotation("end_ns", end)...), pfgen.Annotation("agent", 4)...))
	}
	tr, format := read(t, pfgen.Packets(pfgen.Track(5, `STREAM [" 2 "] `), k(10, 10, 30, "a"), pfgen.End(25, 5), k(25, 20, 50, "b"), pfgen.End(50, 5)))
	expect(t, "overlap", tr, "work 10 20 a 0 4 2", "work 20 30 b 0 4 2")
	if format != FormatROCm {
		t.Error(format)
	}
}

// TestCompressed: packets may be compressed; those within such packets are not compressed again.
func TestCompressed(t *testing.T) {
	pack := func(in []byte) pfgen.Message {
		var out bytes.Buffer
		z := zlib.NewWriter(&out)
		z.Write(in)
		z.Close()
		return pfgen.Message{}.Text(50, out.String())
	}
	inner := pfgen.Packets(marked(10, 30, 2, "a")...)
	tr, _ := read(t, pfgen.Packets(append(main, pack(inner))...))
	expect(t, "compressed", tr, "other 10 20 a 40 41")
	tr, _ = read(t, pfgen.Packets(append(main, pack(pfgen.Packets(pack(inner))), pack(inner)[:20])...))
	if expect(t, "twice", tr); tr.Complete {
		t.Error("packets that were left out are not said to be missing")
	}
}

// TestBroken: a file that breaks off keeps what came before.
func TestBroken(t *testing.T) {
	whole := pfgen.Packets(append(main, append(marked(10, 20, 2, "a"), marked(30, 40, 2, "b")...)...)...)
	tr, _ := read(t, whole[:len(whole)-3])
	if tr.Complete || !slices.ContainsFunc(tr.Issues, func(is issue) bool { return is.Code == "input-truncated" }) {
		t.Errorf("%t, %+v", tr.Complete, tr.Issues)
	}
	for _, in := range []string{"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "\x0a", "\x0b\x01", "\x0a\x80"} {
		if _, _, err := Read(strings.NewReader(in), "in", trace.SelectAll()); err == nil || !strings.HasPrefix(err.Error(), "in: ") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestLegacy: Chrome writes whole slices with a duration in an older form.
func TestLegacy(t *testing.T) {
	event := pfgen.Message{}.Num(11, 2).Text(23, "x").Text(22, "test").In(6, pfgen.Message{}.Num(2, 'X').Num(3, 25))
	tr, _ := read(t, pfgen.Packets(append(main, pfgen.Message{}.Num(8, 1000).Num(10, 1).In(11, event))...))
	expect(t, "legacy", tr, "other 1000 25000 x 40 41")
	// Before 2020 it counted times from those of the thread. They are not at 0, so they are left out.
	tr, _ = read(t, pfgen.Packets(append(main, pfgen.Message{}.Num(10, 1).In(11, event.Num(1, 3)))...))
	if expect(t, "old", tr); tr.Complete || len(tr.Issues) != 1 || tr.Issues[0].Code != "event-damaged" {
		t.Errorf("%+v", tr.Issues)
	}
}

// TestQueues: with --group-by-queue and before ROCm 7, rocprofv3 has a track for each queue and for each thread that asks
// for copies; the two have the same numbers. A copy belongs to the GPU that it reads, or to the one that it writes.
func TestQueues(t *testing.T) {
	k := func(track uint64, at int64, name, category string, more pfgen.Message) []pfgen.Message {
		return []pfgen.Message{pfgen.Begin(at, track, name, category, more), pfgen.End(at+10, track)}
	}
	ends := func(from, to int64) pfgen.Message {
		return append(pfgen.Annotation("src_agent", from), pfgen.Annotation("dst_agent", to)...)
	}
	tr, _ := read(t, pfgen.Packets(slices.Concat([]pfgen.Message{pfgen.Track(1, "COMPUTE AGENT [4] QUEUE [1] (GPU)"), pfgen.Track(2, "COPY to AGENT [4] THREAD [1] (GPU)"),
		pfgen.Track(3, "COPY to AGENT [0] THREAD [2] (CPU)")}, k(1, 10, "gemm.kd", "kernel_dispatch", pfgen.Annotation("agent", 4)),
		k(2, 12, "MEMORY_COPY_HOST_TO_DEVICE", "memory_copy", ends(0, 5)), k(3, 30, "MEMORY_COPY_DEVICE_TO_HOST", "memory_copy", ends(4, 0)))...))
	expect(t, "queues", tr, "work 10 10 gemm 0 4 1", "work 12 10 Memcpy HtoD 0 5 1001", "work 30 10 Memcpy DtoH 0 4 1002")
}
