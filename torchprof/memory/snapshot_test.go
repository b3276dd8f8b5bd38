package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"assay/internal/test"
	"assay/internal/test/snapgen"
)

func open(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func codes(m *Snapshot) (out []string) {
	for _, is := range m.Issues {
		out = append(out, is.Code)
	}
	return out
}

// TestDict reads one snapshot in every protocol. The expected values were
// derived from the script that made it.
func TestDict(t *testing.T) {
	const at = 139637976727552
	for p := range 6 {
		name := fmt.Sprintf("constructed_proto%d.pickle", p)
		m, err := ReadSnapshot(bytes.NewReader(open(t, name)), name, SnapshotLimits{})
		if err != nil || !m.Complete || len(m.Issues) != 0 || m.Records != 7 || len(m.Devices) != 1 {
			t.Errorf("%s: %v %+v", name, err, m)
			continue
		}
		d := m.Devices[0]
		s := Segment{Address: at, Size: 2 << 20, Small: true, Stack: 1, Count: 2}
		if !slices.Equal(d.Segments, []Segment{s}) {
			t.Errorf("%s: %+v", name, d.Segments)
		}
		if want := []Block{
			{Address: at, Size: 1024, Requested: 1000, State: Allocated, Stack: 1},
			{Address: at + 1024, Size: 2096128, Requested: 0, State: Inactive},
		}; !slices.Equal(d.Blocks, want) {
			t.Errorf("%s: got %+v\nwant %+v", name, d.Blocks, want)
		}
		const ms = 1700000000000000000
		if want := []Entry{
			{Action: SegmentAlloc, Address: at, Size: 2 << 20, Time: ms, Stack: 1},
			{Action: Alloc, Address: at, Size: 1024, Time: ms + 10000, Stack: 1, Label: 1},
			{Action: OutOfMemory, Address: 17179869184, Size: 85899345920, Time: ms + 20000, Stack: 1},
			{Action: Taken, Time: ms + 30000},
		}; !slices.Equal(d.Entries, want) {
			t.Errorf("%s: got %+v\nwant %+v", name, d.Entries, want)
		}
		ids := m.Stacks.IDs(1)
		if len(ids) != 2 || m.Stacks.At(ids[0]) != (Frame{File: "/w/model.py", Function: "forward", Line: 12}) || m.Stacks.At(ids[1]).File != "train.py" {
			t.Errorf("%s: stack %v", name, ids)
		}
		if m.Labels[1] != "step 1" || m.Settings.Configuration != "expandable_segments:True" || !m.Settings.Expandable || m.Settings.MaxSplit != None ||
			!slices.Equal(m.Annotations, []Annotation{{Name: "ProfilerStep#1", Time: ms + 1000}}) {
			t.Errorf("%s: %q %+v %+v", name, m.Labels, m.Settings, m.Annotations)
		}
	}
}

// TestList reads the list of PyTorch 1.12 to 2.0, whose blocks have no
// addresses and have the requested size in a history.
func TestList(t *testing.T) {
	m, err := ReadSnapshot(bytes.NewReader(open(t, "constructed_old_list_of_segments_proto4.pickle")), "x", SnapshotLimits{})
	if err != nil || !m.Complete || !slices.Equal(codes(m), []string{"memory-history-missing"}) {
		t.Fatalf("%v %+v", err, m)
	}
	const at = 139637976727552
	if want := []Block{
		{Address: at, Size: 1024, Requested: 1000, State: Allocated, Stack: 1},
		{Address: at + 1024, Size: 2096128, Requested: None, State: Inactive},
	}; !slices.Equal(m.Devices[0].Blocks, want) {
		t.Errorf("got %+v\nwant %+v", m.Devices[0].Blocks, want)
	}
}

// TestShapes reads forms that only some versions write.
func TestShapes(t *testing.T) {
	seg := func(more, blocks string) string {
		return "(dS'segments'\n(l(dS'total_size'\nI64\nsS'address'\nI4096\nsS'device'\nI3\nsS'segment_type'\nS'large'\ns" + more + "S'blocks'\n(l" + blocks + "sas"
	}
	block := func(size, state string) string { return "(dS'size'\nI" + size + "\nsS'state'\nS'" + state + "'\nsa" }
	for _, tt := range []struct{ name, in, want string }{
		{"states", seg("", block("16", "active_pending_free")+block("16", "active_awaiting_free")+block("32", "active_allocated")) + ".",
			"3 [{4096 16 -1 2 0} {4112 16 -1 2 0} {4128 32 -1 1 0}] [memory-history-missing]"},
		{"an unknown state", seg("", block("64", "dreaming")) + ".", "3 [] [segment-unlike-its-blocks memory-record-unusable memory-history-missing]"},
		{"blocks that do not add up", seg("", block("16", "inactive")) + ".", "3 [{4096 16 -1 0 0}] [segment-unlike-its-blocks memory-history-missing]"},
		{"a size below zero", seg("", block("-16", "inactive")) + ".", "3 [] [segment-unlike-its-blocks memory-record-unusable memory-history-missing]"},
		{"expandable and private", seg("S'is_expandable'\nI01\nsS'segment_pool_id'\n(I0\nI1\nts", block("64", "inactive")) + ".",
			"3 [{4096 64 -1 0 0}] [memory-history-missing] expandable private"},
		{"a segment of no device", strings.Replace(seg("", ""), "I3", "I-3", 1) + ".", "none [memory-record-unusable memory-history-missing]"},
		{"a history of what follows", "(dS'device_traces'\n(l(l" + entry("alloc", 16) + entry("snapshot", 0) + entry("free_completed", 16) + entry("free", 1) + "as.",
			"0 [] [] entries alloc snapshot free_completed free_completed"},
		{"an unknown action", "(dS'device_traces'\n(l(l" + entry("worker_moved", 16) + entry("annotate", 16) + "as.", "0 [] [memory-action-unknown] entries other other"},
		{"an entry without a size", "(dS'device_traces'\n(l(l(dS'action'\nS'alloc'\nsaI7\naas.", "none [memory-record-unusable]"},
	} {
		m, err := ReadSnapshot(strings.NewReader(tt.in), "x", SnapshotLimits{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := say(m); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func entry(action string, size int) string {
	return fmt.Sprintf("(dS'action'\nS'%s'\nsS'size'\nI%d\nsS'addr'\nI4096\nsa", action, size)
}

func say(m *Snapshot) string {
	if len(m.Devices) == 0 {
		return fmt.Sprint("none ", codes(m))
	}
	d := m.Devices[0]
	s := fmt.Sprint(d.Number, " ", d.Blocks, " ", codes(m))
	for _, seg := range d.Segments {
		if seg.Expandable {
			s += " expandable"
		}
		if seg.Private {
			s += " private"
		}
	}
	for i, e := range d.Entries {
		if i == 0 {
			s += " entries"
		}
		s += " " + e.Action.String()
	}
	return s
}

func TestNoSnapshot(t *testing.T) {
	for in, want := range map[string]string{
		"N.": "the pickle contains None", "(lI1\na.": "a list of 1 items", "(dS'a'\nI1\ns.": "a dict of 1 keys", "\x80\x04": "the pickle contains nothing",
		"(dS'entries'\nNsS'version'\nNs.": "a flight recorder's dump of NCCL", "K\x07.": "an int", "(l.": "a list of 0 items",
	} {
		m, err := ReadSnapshot(strings.NewReader(in), "x", SnapshotLimits{})
		shape := (*ShapeError)(nil)
		if m != nil || !errors.As(err, &shape) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
	if _, err := ReadSnapshot(strings.NewReader("cposix\nsystem\n."), "x", SnapshotLimits{}); err == nil || !strings.Contains(err.Error(), `x@0: `) || !strings.Contains(err.Error(), `"posix.system"`) {
		t.Error(err)
	}
}

func generated(t testing.TB, opt snapgen.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := snapgen.Play(opt).Pickle(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCut: wherever a file is truncated, the entries read are the first entries
// of the complete file.
func TestCut(t *testing.T) {
	b := generated(t, snapgen.Options{Steps: 1, Layers: 2})
	whole, err := ReadSnapshot(bytes.NewReader(b), "x", SnapshotLimits{})
	if err != nil {
		t.Fatal(err)
	}
	for n := 200; n < len(b); n += 7 {
		m, err := ReadSnapshot(bytes.NewReader(b[:n]), "x", SnapshotLimits{})
		if err != nil {
			if n > 1000 {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		if m.Complete || m.Issues[0].Code != "input-truncated" {
			t.Fatalf("cut at %d: %+v", n, m.Issues)
		}
		for _, d := range m.Devices {
			have, want := d.Entries, whole.Devices[0].Entries
			if len(have) > len(want) || !slices.EqualFunc(have, want[:len(have)], func(a, b Entry) bool {
				return a.Action == b.Action && a.Address == b.Address && a.Size == b.Size && a.Time == b.Time
			}) {
				t.Fatalf("cut at %d: entries are not those of the whole", n)
			}
		}
	}
	broken := errors.New("broken")
	m, err := ReadSnapshot(io.MultiReader(bytes.NewReader(b[:len(b)/2]), iotest.ErrReader(broken)), "x", SnapshotLimits{})
	if !errors.Is(err, broken) || m == nil || m.Complete || !strings.Contains(m.Issues[0].Help, "(broken)") {
		t.Errorf("a broken reader: %v", err)
	}
	m, err = ReadSnapshot(io.MultiReader(bytes.NewReader(b[:len(b)/2]), iotest.ErrReader(enough{})), "x", SnapshotLimits{})
	if err == nil || m == nil || m.Complete || m.Issues[0].Code != "input-limit" || m.Issues[0].Help != "enough" {
		t.Errorf("a limit: %v", err)
	}
}

// An enough is a limit that ends an input.
type enough struct{}

func (enough) Error() string  { return "enough" }
func (enough) Harmless() bool { return true }

// TestLimit: a small pickle that expands to much data, because it refers to the
// same list repeatedly, is limited in memory.
func TestLimit(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("\x80\x04}(\x8c\x0ddevice_traces](](")
	entries := strings.Repeat("h\x00", 1000)
	b.WriteString("}q\x00(\x8c\x06action\x8c\x05alloc\x8c\x04sizeK\x01u" + entries + "eq\x01" + strings.Repeat("h\x01", 100000) + "eu.")
	const limit = 8 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := ReadSnapshot(&b, "x", SnapshotLimits{Memory: limit})
	runtime.ReadMemStats(&after)
	if err != nil || m.Complete || !slices.Contains(codes(m), "memory-limit") || len(m.Devices) == 0 {
		t.Fatalf("%v %+v", err, m)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*limit {
		t.Errorf("allocated %d MiB", n>>20)
	}
	full := generated(t, snapgen.Options{Steps: 4, Layers: 40, Depth: 10})
	if m, err = ReadSnapshot(bytes.NewReader(full), "x", SnapshotLimits{Memory: 200 << 10}); err != nil || m.Complete || m.Issues[0].Code != "memory-limit" {
		t.Errorf("%v %+v", err, m)
	}
	if _, err = ReadSnapshot(bytes.NewReader(full), "x", SnapshotLimits{Memory: 100}); err == nil || !strings.Contains(err.Error(), "--max-memory") {
		t.Error(err)
	}
}

// FuzzReadSnapshot checks the guarantees of the reader for any input: it ends without a
// panic and within its limit, and indexes of the model are in range.
func FuzzReadSnapshot(f *testing.F) {
	for _, file := range test.Files(f, filepath.Join("testdata", "*.pickle")) {
		f.Add(open(f, filepath.Base(file)))
	}
	f.Add(generated(f, snapgen.Options{Steps: 1, Layers: 2, Exhaust: true, Streams: true, MaxEntries: 20}))
	f.Add([]byte("(dS'device_traces'\n(l(l" + entry("alloc", 16) + entry("oom", -1) + "as."))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := ReadSnapshot(bytes.NewReader(in), "x", SnapshotLimits{Memory: 8 << 20})
		if m == nil {
			if err == nil {
				t.Fatal("neither a snapshot nor a reason")
			}
			return
		}
		for _, d := range m.Devices {
			for _, s := range d.Segments {
				if s.First < 0 || s.Count < 0 || s.First+s.Count > len(d.Blocks) || s.Size < 0 {
					t.Fatalf("segment %+v of %d blocks", s, len(d.Blocks))
				}
			}
			for _, e := range d.Entries {
				if int(e.Stack) >= m.Stacks.Len() || int(e.Label) >= len(m.Labels) {
					t.Fatalf("entry %+v", e)
				}
			}
		}
		if !m.Complete && len(m.Issues) == 0 {
			t.Fatal("incomplete, and nothing says so")
		}
	})
}

// BenchmarkRead reads a snapshot of about 8 MB.
func BenchmarkRead(b *testing.B) {
	text := generated(b, snapgen.Options{Steps: 200, Layers: 40, Depth: 24})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if m, err := ReadSnapshot(bytes.NewReader(text), "x", SnapshotLimits{}); err != nil || len(m.Issues) != 0 {
			b.Fatal(err, m.Issues)
		}
	}
}

// TestLargeRecord: a dict with many members is not a record, because all
// records of a pickle may be this one dict, and each would walk it.
func TestLargeRecord(t *testing.T) {
	text := func(s string) string { return "\x8c" + string(rune(len(s))) + s }
	const members, records = 60_000, 200_000
	var large bytes.Buffer
	large.WriteString("}(" + text("action") + text("alloc") + text("size") + "K\x05" + text("total_size") + "K\x05" + text("time_us") + "K\x05" + text("stage") + text("END"))
	for i := range members {
		large.Write([]byte{'M', byte(i), byte(i >> 8), 'N'})
	}
	large.WriteString("uq\x01")
	list := "](" + strings.Repeat("h\x01", records) + "e"
	for name, in := range map[string]string{
		"segments": text("segments") + list,
		"traces":   text("segments") + "]" + text("device_traces") + "](" + list + "e",
	} {
		start := time.Now()
		m, err := ReadSnapshot(strings.NewReader("\x80\x04}("+text("x")+large.String()+in+"u."), "x", SnapshotLimits{})
		if err != nil {
			t.Fatal(name, err)
		}
		if is := m.Issues[0]; is.Code != "memory-record-unusable" || is.Count != records {
			t.Errorf("%s: %+v", name, is)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	marks, err := ReadSnapshot(strings.NewReader("\x80\x04}("+text("x")+large.String()+text("segments")+"]"+text("external_annotations")+list+"u."), "x", SnapshotLimits{})
	if err != nil || len(marks.Annotations) != 0 {
		t.Errorf("%v, %d annotations", err, len(marks.Annotations))
	}
}

// TestDamaged: a snapshot with a bad byte has what is before it, in the order of
// the whole; one byte at the end costs nothing.
func TestDamaged(t *testing.T) {
	for p := range 6 {
		name := fmt.Sprintf("constructed_proto%d.pickle", p)
		whole := open(t, name)
		want, err := ReadSnapshot(bytes.NewReader(whole), name, SnapshotLimits{})
		if err != nil {
			t.Fatal(err)
		}
		bad := slices.Clone(whole)
		bad[len(bad)-1] = 0xff
		m, err := ReadSnapshot(bytes.NewReader(bad), name, SnapshotLimits{})
		if err != nil || m.Complete || m.Records != want.Records || !slices.Equal(m.Devices[0].Blocks, want.Devices[0].Blocks) || !slices.Equal(m.Devices[0].Entries, want.Devices[0].Entries) {
			t.Errorf("%s: %v, %+v", name, err, m)
			continue
		}
		if is := m.Issues[0]; is.Code != "input-damaged" || is.First.Offset != int64(len(bad)-1) {
			t.Errorf("%s: %+v", name, is)
		}
		read, tried := 0, 0
		for at := range bad {
			if at%3 != p%3 && !test.Long() {
				continue // a third of the bytes, others in the next file
			}
			tried++
			bad := slices.Clone(whole)
			bad[at] = 0xff
			m, err := ReadSnapshot(bytes.NewReader(bad), name, SnapshotLimits{})
			if err != nil {
				continue // no segment and no entry was before it
			}
			read++
			if len(m.Devices) > 0 && len(m.Devices[0].Entries) > len(want.Devices[0].Entries) {
				t.Errorf("%s, byte %d: %d entries", name, at, len(m.Devices[0].Entries))
			}
		}
		if read < tried/2 {
			t.Errorf("%s: read with %d of %d bytes damaged", name, read, tried)
		}
	}
}

// TestBehind checks the issue for data after a snapshot, and its position.
func TestBehind(t *testing.T) {
	const name = "constructed_proto4.pickle"
	whole := open(t, name)
	for tail, want := range map[string]string{
		"":                       "",
		"\x00\x00\x00\x00":       "info trailing-data",
		"\n":                     "info trailing-data",
		string(whole):            "data-loss trailing-data",
		"\x80\x02}q\x00U\x01aK.": "data-loss trailing-data",
	} {
		m, err := ReadSnapshot(strings.NewReader(string(whole)+tail), name, SnapshotLimits{})
		if err != nil || !m.Complete || m.Records != 7 {
			t.Errorf("%q: %v, %+v", tail, err, m)
			continue
		}
		got := ""
		for _, is := range m.Issues {
			got += is.Severity.String() + " " + is.Code
			if is.First.Offset != int64(len(whole)) {
				t.Errorf("%q: at %d, want %d", tail, is.First.Offset, len(whole))
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", tail, got, want)
		}
	}
}
