package perfetto

import (
	"bytes"
	"testing"

	"assay/internal/diag"
	"assay/internal/test"
	"assay/internal/test/pfgen"
	"assay/trace"
)

type issue = diag.Issue

// FuzzRead: any file gives an error or a consistent trace.
func FuzzRead(f *testing.F) {
	f.Add(pfgen.Packets(pfgen.Process(1, 3, "GPU 3"), pfgen.Thread(2, 1, 3, 9, "stream 9"), pfgen.Begin(10, 2, "k", "kernel", pfgen.Annotation("correlation", 5)), pfgen.End(20, 2)))
	f.Add(pfgen.Packets(pfgen.Message{}.Num(8, 5).Num(10, 2).Num(13, 1).In(12, pfgen.Message{}.In(2, pfgen.Message{}.Num(1, 7).Text(2, "n"))).In(11, pfgen.Message{}.Num(9, 1).Num(10, 7)),
		pfgen.Message{}.In(6, pfgen.Message{}.In(1, pfgen.Message{}.Num(1, 6).Num(2, 5)).In(1, pfgen.Message{}.Num(1, 64).Num(2, 1).Num(3, 1).Num(4, 1000))),
		pfgen.Message{}.In(1, pfgen.Message{}.Num(1, 0).In(2, pfgen.Message{}.Num(1, 9).In(4, pfgen.Message{}.Num(2, 3).Num(6, 4))))))
	f.Fuzz(func(t *testing.T, in []byte) {
		Sniff(in)
		sel := trace.SelectAll()
		sel.Limits = trace.LimitsOf(64 << 20)
		tr, _, err := Read(bytes.NewReader(in), "in", sel)
		if (tr == nil) == (err == nil) {
			t.Fatal(tr, err)
		}
		if tr == nil {
			return
		}
		for a := range tr.Activities.All() {
			if a.Dur < 0 || !tr.Tracks[a.Track].OnDevice {
				t.Errorf("work %+v", a)
			}
		}
		for s := range tr.Spans.All() {
			if s.Dur < 0 || tr.Tracks[s.Track].OnDevice {
				t.Errorf("span %+v", s)
			}
		}
		for _, is := range tr.Issues {
			if is.Count < 1 || is.Code == "" || is.Help == "" {
				t.Errorf("issue %+v", is)
			}
		}
	})
}

// TestCorpus compares files with what their authors say of them.
func TestCorpus(t *testing.T) {
	for _, tc := range []struct {
		file, format             string
		kernels, kernelNS        int64
		copies, copyBytes, calls int64
		slices, linked, named    int64
	}{
		{"SYNTHETIC_torch_style.pftrace", FormatKineto, 60, 1893305, 0, 0, 60, 3, 60, 0},
		{"SYNTHETIC_rocprofv3_style.pftrace", FormatROCm, 180, 4139616, 20, 2363392, 200, 0, 200, 0},
		{"atrium_rust_tracing.pftrace", Format, 0, 0, 0, 0, 0, 20010, 0, 1988161000},
		{"julia_empty_session.pftrace", Format, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		in := test.Unpacked(t, test.Corpus(t, "inputs", "pftrace", tc.file))
		tr, format := read(t, in)
		got := tc
		got.format, got.kernels, got.kernelNS, got.copies, got.copyBytes, got.calls, got.slices, got.linked, got.named = format, 0, 0, 0, 0, int64(tr.Calls.Len()), int64(tr.Spans.Len()), 0, 0
		ids := map[trace.ID]bool{}
		for c := range tr.Calls.All() {
			ids[c.Correlation] = true
		}
		for a := range tr.Activities.All() {
			if a.Kind == trace.Memcpy {
				got.copies++
				got.copyBytes += tr.Detail(a.Detail).Bytes
			} else {
				got.kernels++
				got.kernelNS += a.Dur
			}
			if ids[a.Correlation] {
				got.linked++
			}
		}
		for s := range tr.Spans.All() {
			if tr.Name(s.Name) == "callback" {
				got.named += s.Dur
			}
		}
		if got != tc || !tr.Complete {
			t.Errorf("%+v, want %+v, complete %t, %+v", got, tc, tr.Complete, tr.Issues)
		}
	}
}
