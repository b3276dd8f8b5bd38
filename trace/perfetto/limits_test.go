package perfetto

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"

	"assay/internal/test/pfgen"
	"assay/trace"
)

// deflated returns a packet with compressed packets in it.
func deflated(packets []byte) pfgen.Message {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(packets)
	z.Close()
	return pfgen.Message{}.Text(50, out.String())
}

// codes returns the codes of the issues of a trace.
func codes(tr *trace.Trace) string {
	var all []string
	for _, is := range tr.Issues {
		all = append(all, is.Code)
	}
	return strings.Join(all, " ")
}

// TestHeld: all that packets make the reader keep counts against the limit of memory, and reading ends there with an issue.
// What is not kept does not count.
func TestHeld(t *testing.T) {
	boot := pfgen.Message{}.Num(1, 6).Num(2, 9000)
	reading := func(id, at uint64) pfgen.Message {
		return pfgen.Message{}.In(1, boot).In(1, pfgen.Message{}.Num(1, id).Num(2, at))
	}
	long := func(i int) string { return fmt.Sprint(i, strings.Repeat("x", 500)) }
	for _, kind := range []struct {
		name string
		make func(i int) pfgen.Message
		kept bool
	}{
		{"new clocks", func(i int) pfgen.Message { return pfgen.Message{}.In(6, reading(uint64(1000+i), 5)) }, true},
		{"readings of a clock", func(i int) pfgen.Message { return pfgen.Message{}.In(6, reading(3, uint64(5+i))) }, true},
		{"a clock that is set back", func(i int) pfgen.Message { return pfgen.Message{}.In(6, reading(3, uint64(1_000_000-i))) }, false},
		{"readings of nothing", func(int) pfgen.Message {
			all := pfgen.Message{}.In(1, boot)
			for range 200 {
				all = all.Text(1, "")
			}
			return pfgen.Message{}.In(6, all)
		}, false},
		{"clocks of writers", func(i int) pfgen.Message { return pfgen.Message{}.Num(10, uint64(7+i)).In(6, reading(64, 5)) }, true},
		{"writers", func(i int) pfgen.Message { return pfgen.Message{}.Num(10, uint64(7+i)) }, true},
		{"names by number", func(i int) pfgen.Message {
			return pfgen.Message{}.In(12, pfgen.Message{}.In(2, pfgen.Message{}.Num(1, uint64(1+i)).Text(2, long(i))))
		}, true},
		{"one name by many numbers, cleared", func(i int) pfgen.Message {
			return pfgen.Message{}.Num(13, 1).In(12, pfgen.Message{}.In(2, pfgen.Message{}.Num(1, uint64(1+i)).Text(2, "gemm")))
		}, false},
		{"names of slices", func(i int) pfgen.Message { return pfgen.Begin(int64(i+1), 2, long(i), "test", nil) }, true},
		{"names of instants", func(i int) pfgen.Message {
			return pfgen.Message{}.Num(8, 5).In(11, pfgen.Message{}.Num(9, typeInstant).Num(11, 2).Text(23, long(i)).Text(22, long(i)))
		}, false},
		{"threads", func(i int) pfgen.Message {
			return pfgen.Message{}.In(2, pfgen.Message{}.In(2, pfgen.Message{}.Num(1, uint64(1+i)).Num(3, 7)))
		}, true},
		{"empty parts", func(int) pfgen.Message { return pfgen.Message(strings.Repeat("\x5a\x00", 20)) }, false},
	} {
		packets := append([]pfgen.Message{}, main...)
		for i := range 20_000 {
			packets = append(packets, kind.make(i))
		}
		packets = append(packets, marked(10, 30, 2, "last")...)
		sel := trace.SelectAll()
		sel.Limits.Memory = 1 << 20
		tr, _, err := Read(bytes.NewReader(pfgen.Packets(packets...)), "in.pftrace", sel)
		if err != nil {
			t.Fatal(kind.name, err)
		}
		if limited := strings.Contains(codes(tr), "memory-limit"); limited != kind.kept || kind.kept && (tr.Complete || tr.Events > 18_000) {
			t.Errorf("%s: %d packets, complete %t, issues %s", kind.name, tr.Events, tr.Complete, codes(tr))
		}
		if !kind.kept && len(said(tr, 0)) == 0 {
			t.Errorf("%s: the slice after it is missing", kind.name)
		}
	}
}

// TestParts: a packet with more parts than any program writes is damaged, and does not need many times its size.
func TestParts(t *testing.T) {
	tr, _ := read(t, pfgen.Packets(append(append(main, pfgen.Message(strings.Repeat("\x72\x00", 10)), pfgen.Message(strings.Repeat("\x62\x00", mostParts+1))),
		marked(10, 30, 2, "a")...)...))
	if expect(t, "parts", tr, "other 10 20 a 40 41"); codes(tr) != "event-damaged" || tr.Issues[0].Count != 1 {
		t.Errorf("%+v", tr.Issues)
	}
}

// TestManyReadings: each time is placed by the last reading before it; where a clock was set back, by the reading after that.
// Many readings and many events take no time.
func TestManyReadings(t *testing.T) {
	at := func(boot, clock uint64) pfgen.Message {
		return pfgen.Message{}.In(6, pfgen.Message{}.In(1, pfgen.Message{}.Num(1, 6).Num(2, boot)).In(1, pfgen.Message{}.Num(1, 4).Num(2, clock)))
	}
	packets := append([]pfgen.Message{}, main...)
	for i := range uint64(50_000) {
		packets = append(packets, at(1_000_000+i*20, 100+i*10)) // the clock runs at half the speed
	}
	on := func(m pfgen.Message) pfgen.Message { return m.Num(58, 4) }
	for i := range int64(20_000) {
		packets = append(packets, on(pfgen.Begin(103+i*10, 2, "s", "test", nil)), on(pfgen.End(104+i*10, 2)))
	}
	tr, _ := read(t, pfgen.Packets(packets...))
	n := int64(0)
	for s := range tr.Spans.All() {
		if s.Start != 1_000_003+n*20 || s.Dur != 1 {
			t.Fatalf("slice %d: %d, %d", n, s.Start, s.Dur)
		}
		n++
	}
	if n != 20_000 {
		t.Errorf("%d slices", n)
	}
	tr, _ = read(t, pfgen.Packets(append(main, at(1000, 500), at(2000, 100), on(pfgen.Begin(600, 2, "back", "test", nil)), on(pfgen.End(700, 2)))...))
	expect(t, "set back", tr, "other 2500 100 back 40 41")
}

// TestBombs: what all compressed packets of a file inflate to is limited, not only that of each.
func TestBombs(t *testing.T) {
	zeros := deflated(pfgen.Packets(pfgen.Message{}.Text(900, strings.Repeat("\x00", 1<<20))))
	bomb := pfgen.Packets(append(append(append(main, marked(10, 20, 2, "a")...), zeros, zeros, zeros, zeros), marked(30, 40, 2, "b")...)...)
	for _, test := range []struct {
		bomb, input int64
		want        string
		slices      []string
	}{
		{bomb: 2 << 20, want: "inflation-limit", slices: []string{"other 10 10 a 40 41"}},
		{bomb: 8 << 20, slices: []string{"other 10 10 a 40 41", "other 30 10 b 40 41"}},
		{input: 3 << 20, want: "input-limit", slices: []string{"other 10 10 a 40 41"}},
		{input: 5 << 20, bomb: 1, slices: []string{"other 10 10 a 40 41", "other 30 10 b 40 41"}},
	} {
		r := newReader("in.pftrace", trace.SelectAll())
		r.bomb, r.input = test.bomb, test.input
		tr, err := r.read(bytes.NewReader(bomb))
		if err != nil {
			t.Fatal(err)
		}
		if expect(t, test.want, tr, test.slices...); codes(tr) != test.want || tr.Complete != (test.want == "") {
			t.Errorf("limits %d, %d: complete %t, issues %q, want %q", test.bomb, test.input, tr.Complete, codes(tr), test.want)
		}
	}
}

// TestEndless: a slice of more than 100 hours has a wrong time, and only it is left out.
func TestEndless(t *testing.T) {
	const most = trace.MaxDuration
	tr, _ := read(t, pfgen.Packets(append(append(main, marked(10, 20, 2, "a")...), append(marked(30, 30+most, 2, "long"), marked(30+most, 31+2*most, 2, "endless")...)...)...))
	if expect(t, "endless", tr, "other 10 10 a 40 41", fmt.Sprintf("other 30 %d long 40 41", int64(most))); codes(tr) != "event-damaged" {
		t.Error(codes(tr))
	}
}
