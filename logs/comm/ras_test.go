package comm

import (
	"fmt"
	"strings"
	"testing"

	"assay/logs"
)

// TestRAS: of the 4 ranks of a communicator, those that are not listed are on the side without a list.
func TestRAS(t *testing.T) {
	report := func(lines ...string) string {
		return "NCCL version 2.24.3 compiled with CUDA 12.4\n\nWarnings\n========\n\n#1-0 (0badcafe) MISMATCH\n" + strings.Join(lines, "\n") + "\n"
	}
	const differ = "  Communicator ranks have different AllReduce operation counts"
	for _, tt := range []struct{ name, text, want string }{
		{"rank 2 is behind", report(differ, "  1 rank has launched up to operation 7", "  Rank 2 -- GPU 2 managed by process 9 on node a", "  3 ranks have launched up to operation 8"),
			"2 at 7; 0 at 8 in AllReduce; 1 at 8 in AllReduce; 3 at 8 in AllReduce; "},
		{"both sides are listed", report(differ, "  1 ranks have launched up to operation 70", "  Rank 1 -- GPU 1 managed by process 9 on node a", "  1 ranks have launched up to operation 71", "  Rank 0 -- GPU 0 managed by process 8 on node a"),
			"1 at 70; 0 at 71 in AllReduce; "},
		{"a list that is cut", report(differ, "  2 ranks have launched up to operation 7", "  Rank 2 -- GPU 2 managed by process 9 on node a", "  3 ranks have launched up to operation 8"), ""},
		{"all ranks are equal", report(differ, "  4 ranks have launched up to operation 7"), ""},
		{"no mismatch", report("  Rank 1 -- GPU 1 managed by process 9 on node a"), ""},
	} {
		f := NewFinder("ras.txt", logs.Limits{})
		for i, line := range strings.Split(tt.text, "\n") {
			if f.Open() || f.Hint([]byte(line)) {
				f.Line(i+1, line)
			}
		}
		got := ""
		for _, g := range f.Log().Groups {
			got += fmt.Sprintf("%d at %d", g.Rank, g.LastEnqueued)
			for _, p := range g.Pending {
				got += " in " + p.Op
			}
			got += "; "
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
