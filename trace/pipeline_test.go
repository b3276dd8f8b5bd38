package trace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test"
)

// dump returns the whole content of a trace, one row per line.
func dump(t *Trace) string {
	var s strings.Builder
	track := func(id TrackID) string {
		k := t.Tracks[id]
		return fmt.Sprintf("%s/%s/%v:%d:%d", k.PID, k.TID, k.OnDevice, k.Device, k.Stream)
	}
	for a := range t.Activities.All() {
		d := *t.Detail(a.Detail)
		c := d.Collective
		d.Collective = Collective{In: c.In, Out: c.Out, GroupSize: c.GroupSize}
		fmt.Fprintf(&s, "%v %q %d+%d %s corr %d ext %d %v %q %q %q %q\n", a.Kind, t.Name(a.Name), a.Start, a.Dur, track(a.Track),
			a.Correlation, a.External, d, t.Name(c.Name), t.Name(c.Dtype), t.Name(c.Group), t.Name(c.Ranks))
	}
	for o := range t.Ops.All() {
		sh := t.Shape(o.Shape)
		fmt.Fprintf(&s, "op %q %d+%d %s %d %d %d %q %q %q %q %q\n", t.Name(o.Name), o.Start, o.Dur, track(o.Track), o.External, o.Sequence, o.Forward,
			t.Name(sh.Dims), t.Name(sh.Types), t.Name(sh.Strides), t.Name(sh.Concrete), t.Name(sh.Kernel))
	}
	for c := range t.Calls.All() {
		fmt.Fprintf(&s, "%v %q %d+%d %s %d %d\n", c.Kind, t.Name(c.Name), c.Start, c.Dur, track(c.Track), c.Correlation, c.External)
	}
	for c := range t.CopySizes.All() {
		fmt.Fprintf(&s, "size %d %d\n", c.Correlation, c.Bytes)
	}
	for p := range t.Python.All() {
		fmt.Fprintf(&s, "py %q %d+%d %s %d %d\n", t.Name(p.Name), p.Start, p.Dur, track(p.Track), p.ID, p.Parent)
	}
	for p := range t.Spans.All() {
		fmt.Fprintf(&s, "%v %q %q %d+%d %s %d\n", p.Kind, t.Name(p.Category), t.Name(p.Name), p.Start, p.Dur, track(p.Track), p.External)
	}
	for i := range t.Async {
		p := &t.Async[i]
		fmt.Fprintf(&s, "async %q %q %d+%d %s\n", t.Name(p.Category), t.Name(p.Name), p.Start, p.Dur, track(p.Track))
	}
	for f := range t.Flows.All() {
		fmt.Fprintf(&s, "flow %c %q %d %s %d\n", f.Phase, t.Name(f.Category), f.Start, track(f.Track), f.ID)
	}
	for e := range t.Memory.All() {
		fmt.Fprintf(&s, "mem %d %s %d %d %d %d %d %d\n", e.Start, track(e.Track), e.Address, e.Bytes, e.Allocated, e.Reserved, e.Device, e.DeviceType)
	}
	fmt.Fprintf(&s, "%d events, complete %v, meta %+v\n", t.Events, t.Complete, t.Meta.Devices)
	var tracks []string // their order is not part of the contract
	for _, k := range t.Tracks {
		tracks = append(tracks, fmt.Sprintf("track %+v\n", k))
	}
	slices.Sort(tracks)
	s.WriteString(strings.Join(tracks, ""))
	for _, is := range t.Issues {
		fmt.Fprintf(&s, "issue %+v\n", is)
	}
	return s.String()
}

// compareReads reads b with the Reader alone and with pipelines of all
// configurations, and reports whether all read the same trace: completely and
// in parts.
func compareReads(t *testing.T, name string, b []byte, chunks ...int) {
	t.Helper()
	compareSelected(t, name, b, SelectAll(), chunks...)
	compareSelected(t, name, b, Select{Kinds: Of(Kernel, Runtime, Flow)}, chunks[0])
	compareSelected(t, name, b, Select{Kinds: Of(CPUOp, OtherKind)}, chunks[0])
	compareSelected(t, name, b, Select{Kinds: Of(CPUOp, Runtime), Shapes: true}, chunks[0])
}

func compareSelected(t *testing.T, name string, b []byte, sel Select, chunks ...int) {
	t.Helper()
	want, wantErr := read(NewReader(bytes.NewReader(b), "in", sel), nil)
	for _, chunk := range chunks {
		for _, workers := range []int{1, 3} {
			got, err := read(NewReader(bytes.NewReader(b), "in", sel), newPipeline(workers, chunk))
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%s, %d workers, chunks of %d: error %v, want %v", name, workers, chunk, err, wantErr)
			}
			if err != nil {
				continue
			}
			if w, g := dump(want), dump(got); w != g {
				t.Fatalf("%s, %d workers, chunks of %d: want(-) got(+)\n%.3000s", name, workers, chunk, cmp.Diff(strings.Split(w, "\n"), strings.Split(g, "\n")))
			}
		}
	}
}

func corpusFiles(tb testing.TB, patterns ...string) (files []string) {
	tb.Helper()
	dir := test.Corpus(tb)
	for _, p := range patterns {
		files = append(files, test.Files(tb, filepath.Join(dir, p))...)
	}
	return files
}

func unzipped(tb testing.TB, file string) []byte {
	tb.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	if z, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
		if plain, err := io.ReadAll(z); err == nil {
			return plain
		}
	}
	return b
}

// TestPipelineOnCorpus compares the pipeline with the Reader, row by row, on
// real and on broken traces.
func TestPipelineOnCorpus(t *testing.T) {
	for i, file := range corpusFiles(t, "formats/kineto/*", "formats/malformed/*", "formats/chrome_other/*", "formats/perfetto_json_cases/*", "formats/tf_jax/*", "formats/torch_legacy_trace/*") {
		if i%test.Every(4) != 0 {
			continue
		}
		b := unzipped(t, file)
		if len(b) > 4<<20 && testing.Short() {
			continue
		}
		chunks := []int{64 << 10, 1 << 20}
		if len(b) < 100<<10 {
			chunks = []int{100, 1000, 10000}
		}
		compareReads(t, filepath.Base(file), b, chunks...)
	}
}

// TestPipelineOnCases does the same with the cases of the Reader's own test.
func TestPipelineOnCases(t *testing.T) {
	for _, tt := range readerCases {
		compareReads(t, tt.name, []byte(tt.in), 1, 40, 100, 1000)
	}
}

// TestPipelineOnDamage damages a trace at many random positions.
func TestPipelineOnDamage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var clean bytes.Buffer
	clean.WriteString(`{"schemaVersion":1,"traceEvents":[`)
	for i := range 300 {
		fmt.Fprintf(&clean, "%s\n  {\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":7,\"ts\":%d.5,\"dur\":1,\"args\":{\"stream\":7,\"list\":[{\"name\":1},{\"name\":\"[{\"}]}}",
			[]string{"", ","}[min(i, 1)], i%7, i)
	}
	clean.WriteString("\n], \"traceName\": \"x\"}")
	compareReads(t, "clean", clean.Bytes(), 50, 300, 2000)
	for range 300 / test.Every(4) {
		b := bytes.Clone(clean.Bytes())
		for range 1 + rnd.IntN(4) {
			i := rnd.IntN(len(b))
			switch rnd.IntN(3) {
			case 0:
				b[i] = "\"{}[],:\\x0"[rnd.IntN(10)]
			case 1:
				b = append(b[:i], b[min(len(b), i+rnd.IntN(30)):]...)
			case 2:
				b = b[:max(len(b)*3/4, i)]
			}
		}
		compareReads(t, fmt.Sprintf("%q", b[:min(len(b), 200)]), b, 50, 2000)
	}
}

// FuzzRead compares the pipeline with the Reader on any input.
func FuzzRead(f *testing.F) {
	for _, tt := range readerCases {
		f.Add([]byte(tt.in))
	}
	f.Fuzz(func(t *testing.T, b []byte) { compareReads(t, "fuzz", b, 30, 200) })
}

func BenchmarkRead(b *testing.B) {
	for _, file := range corpusFiles(b, "kineto/hta/trace_diff/control/*.gz", "kineto/tracelens/mi300/resnet*.gz", "kineto/tracelens/inference/vllm*/capture_traces/*.gz") {
		data := unzipped(b, file)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%.8s/%d", filepath.Base(file), workers), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				var events, columns int64
				for b.Loop() {
					t, err := read(NewReader(bytes.NewReader(data), "", SelectAll()), newPipeline(workers, chunkSize))
					if err != nil || len(t.Issues) > 0 {
						b.Fatal(err, t.Issues)
					}
					events, columns = t.Events, columnBytes(t)
				}
				b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
				b.ReportMetric(float64(columns)/float64(events), "columnB/event")
			})
		}
	}
}
