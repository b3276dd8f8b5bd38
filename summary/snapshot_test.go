package summary

import (
	"strings"
	"testing"
)

// TestReadSnapshots: what breaks a promise is refused with its place.
func TestReadSnapshots(t *testing.T) {
	const head = `{"schema":"assay/summary/1","inputs":[{"path":"a"}],"devices":[],"kernels":[],"issues":[],`
	for in, want := range map[string]string{
		`"snapshots":[{"reserved":10,"allocated":4,"waiting":1,"split":2,"cached":3}]}`: "",
		`"snapshots":[{"reserved":10,"allocated":4}]}`:                                  "x: snapshots[0].reserved: got 10, want 4, the sum of allocated, waiting, split and cached",
		`"snapshots":[{"reserved":0,"allocated":4,"split":-4}]}`:                        "x: snapshots[0].split: got -4, want 0 or more",
		`"snapshots":[{"input":1}]}`:                                                    "x: snapshots[0].input: got 1, want 0 or more and under 1, the number of inputs",
		`"snapshots":[{"strip":{"live":[1],"owners":[{"bytes":[]}]}}]}`:                 "x: snapshots[0].strip: owners[0].bytes: got 0, want 1, one for each bin",
		`"snapshots":[{"strip":{"live":[1],"reserved":[1,2]}}]}`:                        "x: snapshots[0].strip: reserved: got 2, want 1, one for each bin",
		`"memory_timelines":[{"strip":{"live":[1],"owners":[{"bytes":[]}]}}]}`:          "x: memory_timelines[0].strip: owners[0].bytes: got 0, want 1, one for each bin",
		`"memory_timelines":[{"input":-1}]}`:                                            "x: memory_timelines[0].input: got -1, want 0 or more and under 1, the number of inputs",
	} {
		_, err := Read(strings.NewReader(head+in), "x")
		if got := errorText(err); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestWords: every kind and class has words of its own.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range []string{KindParameters, KindOptimizer, KindActivations, KindRecomputed, KindBackward, KindKVCache, KindComm, KindData, KindOther, KindUnknown} {
		seen[KindWords(kind)] = true
	}
	for _, class := range []string{ClassSmall, ClassLarge, ClassOwn, ClassExpandable} {
		seen[ClassWords(class)] = true
	}
	if len(seen) != 14 || KindWords("new") != "new" || ClassWords("new") != "new" {
		t.Errorf("%v", seen)
	}
}
