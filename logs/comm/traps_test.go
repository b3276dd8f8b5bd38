package comm

import (
	"fmt"
	"testing"
)

const timeout = "[rank%d]:[E521 15:06:01.833606227 ProcessGroupNCCL.cpp:683] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, OpType=%s, NumelIn=0, NumelOut=0, Timeout(ms)=600000) ran for 600041 milliseconds before timing out."

// TestGluedTimeouts: processes write to one terminal without waiting for each other, so that
// a message may begin within the line of another process.
func TestGluedTimeouts(t *testing.T) {
	first, second := fmt.Sprintf(timeout, 5, 1, 97, "ALLREDUCE"), fmt.Sprintf(timeout, 6, 2, 98, "COALESCED")
	for name, tc := range map[string]struct {
		text string
		want string // global rank, place, number and kind of each time-out
	}{
		"alone": {first + "\n" + second + "\n", "5 1 97 allreduce, 6 2 98 coalesced, "},
		// Trap: glued records (the rank is the one directly before the message).
		"behind a line of NCCL": {"[rank2]:node-a:41:52 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[" + first + "\n", "5 1 97 allreduce, "},
		// Trap: glued records (two messages of two ranks on one line).
		"two on one line": {first + second + "\n", "5 1 97 allreduce, 6 2 98 coalesced, "},
		// Trap: stacked prefixes (SLURM task and rank), and ANSI inside a record.
		"prefixes and colors": {"3: vm-07-14: \x1b[31m" + first[:60] + "\x1b[0m" + first[60:] + "\r\n", "5 1 97 allreduce, "},
		// Trap: repeated lines (also of two ranks, glued).
		"repeated": {first + second + "\n" + first + "\n" + second + second + "\n", "5 1 97 allreduce, 6 2 98 coalesced, "},
	} {
		got := ""
		for _, g := range textLog(t, tc.text).Groups {
			for _, p := range g.Pending {
				got += fmt.Sprint(g.Rank, g.Place, p.Seq, " ", p.Op, ", ")
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
