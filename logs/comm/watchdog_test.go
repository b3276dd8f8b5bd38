package comm

import (
	"fmt"
	"strings"
	"testing"

	"assay/logs"
)

// TestWatchdogExceptionOnly: a process of which only the exception was logged waits for the call whose number the
// exception names. Its operation is that of the others, unless others of another kind have the number.
func TestWatchdogExceptionOnly(t *testing.T) {
	timeout := func(rank, seq int, op string) string {
		return fmt.Sprintf("node7 | [rank%d]:[E402 ProcessGroupNCCL.cpp:607] [Rank %[1]d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, OpType=%s, NumelIn=64, NumelOut=512, Timeout(ms)=1800000) ran for 1800021 milliseconds before timing out.", rank, seq, op)
	}
	exception := func(group string, rank, seq int) string {
		return fmt.Sprintf("node7 | [rank%[1]d]:[E402 ProcessGroupNCCL.cpp:1664] [PG %[2]s Rank %[1]d] Exception (either an error or timeout) detected by watchdog at work: %[3]d, last enqueued NCCL work: 45, last completed NCCL work: 41.", rank, group, seq)
	}
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"rank 9 has the exception only", []string{timeout(8, 42, "_ALLGATHER_BASE"), exception("3", 8, 42), exception("3", 9, 42)},
			"3 rank 8 _allgather_base 42 of 41..45; 3 rank 9 _allgather_base 42 of 41..45; "},
		{"the exceptions come first", []string{exception("3", 9, 42), timeout(8, 42, "_ALLGATHER_BASE")},
			"3 rank 9 _allgather_base 42 of 41..45;  rank 8 _allgather_base 42 of -1..-1; "},
		{"two operations with the number", []string{timeout(8, 42, "BROADCAST"), timeout(6, 42, "ALLREDUCE"), exception("0", 9, 42)},
			" rank 8 broadcast 42 of -1..-1;  rank 6 allreduce 42 of -1..-1; 0 rank 9 collective 42 of 41..45; "},
		{"rank 6 has the call of the known group", []string{timeout(8, 42, "BROADCAST"), exception("5", 8, 42), timeout(6, 42, "BROADCAST"), timeout(7, 43, "BROADCAST")},
			"5 rank 8 broadcast 42 of 41..45; 5 rank 6 broadcast 42 of -1..-1;  rank 7 broadcast 43 of -1..-1; "},
		{"two groups have the call", []string{timeout(8, 42, "BROADCAST"), exception("5", 8, 42), timeout(4, 42, "BROADCAST"), exception("2", 4, 42), timeout(6, 42, "BROADCAST")},
			"5 rank 8 broadcast 42 of 41..45; 2 rank 4 broadcast 42 of 41..45;  rank 6 broadcast 42 of -1..-1; "},
	} {
		f := NewFinder("train.log", logs.Limits{})
		for i, line := range tt.lines {
			if f.Hint([]byte(line)) {
				f.Line(i+1, line)
			}
		}
		var b strings.Builder
		for _, g := range f.Log().Groups {
			fmt.Fprintf(&b, "%s rank %d %s %d of %d..%d; ", g.Name, g.Rank, g.Pending[0].Op, g.Pending[0].Seq, g.LastCompleted, g.LastEnqueued)
		}
		if b.String() != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, b.String(), tt.want)
		}
	}
}

// TestRaised: an exception of a rank that no watchdog waits on is noted, if the watchdog of another rank ended a call.
func TestRaised(t *testing.T) {
	const timeout = "[rank3]:[E402 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught collective operation timeout: " +
		"WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600021 milliseconds before timing out."
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"after the time-out", []string{timeout, "[rank5]: Traceback (most recent call last):", `[rank5]:     raise KeyError("x")`, "[rank5]: KeyError: 'image_3'"},
			"t.log:4: rank 5, KeyError"},
		{"before it, behind a prefix", []string{"node2 | [rank0]: torch.cuda.OutOfMemoryError: CUDA out of memory.", "node2 | " + timeout}, "t.log:1: rank 0, OutOfMemoryError"},
		{"without a message", []string{"[rank1]: AssertionError", timeout}, "t.log:1: rank 1, AssertionError"},
		{"of a rank that waits itself", []string{timeout, "[rank3]: ValueError: 3"}, ""},
		{"no time-out", []string{"[rank5]: KeyError: 'image_3'"}, ""},
		{"the consequence of another failure", []string{timeout, "[rank5]: torch.distributed.DistBackendError: [5] is setting up NCCL communicator",
			"[rank6]: RuntimeError: Connection reset by peer"}, ""},
		{"a line of source", []string{timeout, "[rank5]:     ValueError: str"}, ""},
		{"no rank", []string{timeout, "KeyError: 'image_3'"}, ""},
	} {
		f := NewFinder("t.log", logs.Limits{})
		for i, line := range tt.lines {
			if f.Hint([]byte(line)) {
				f.Line(i+1, line)
			}
		}
		got := ""
		for _, is := range f.Log().Issues {
			if is.Code == "rank-raised" {
				got = is.First.String()
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
