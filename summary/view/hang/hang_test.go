package hang

import (
	"slices"
	"testing"

	"assay/summary"
)

func ptr[T any](v T) *T { return &v }

// dumpOf returns the row of one rank in a group of ranks 0 to 3.
func dumpOf(rank int, completed int64, pending ...int64) summary.Group {
	g := summary.Group{Source: "flight recorder", Group: "7", Desc: "tp", Rank: &rank, Members: []int{0, 1, 2, 3}, LastCompleted: &completed, LastEnqueued: ptr(completed)}
	for _, seq := range pending {
		g.LastEnqueued = ptr(seq)
		g.Pending = append(g.Pending, summary.PendingCall{Op: "all_reduce", Seq: seq, State: "scheduled", CreatedNS: ptr(1000 + seq*10 + int64(rank))})
	}
	return g
}

// TestHangs: a rank that did not make a call, one that did not complete what others
// completed, one without a dump, and a group in which all wait.
func TestHangs(t *testing.T) {
	for _, tc := range []struct {
		name                     string
		rows                     []summary.Group
		kind                     Kind
		seq                      int64
		waiting, absent, unknown []int
	}{
		{"absent", []summary.Group{dumpOf(0, 4, 5, 6), dumpOf(1, 4, 5), dumpOf(2, 4), dumpOf(3, 4, 5, 6)}, NotArrived, 5, []int{0, 1, 3}, []int{2}, nil},
		{"not completed", []summary.Group{dumpOf(0, 5), dumpOf(1, 4, 5), dumpOf(2, 5), dumpOf(3, 5)}, NotCompleted, 5, []int{0, 2, 3}, []int{1}, nil},
		{"no dump", []summary.Group{dumpOf(0, 4, 5), dumpOf(1, 4), dumpOf(3, 4, 5)}, NotArrived, 5, []int{0, 3}, []int{1}, []int{2}},
		{"all wait", []summary.Group{dumpOf(0, 4, 5), dumpOf(1, 4, 5), dumpOf(2, 4, 5), dumpOf(3, 4, 5)}, "", 0, nil, nil, nil},
		{"nobody waits", []summary.Group{dumpOf(0, 4), dumpOf(1, 4), dumpOf(2, 3), dumpOf(3, 4)}, "", 0, nil, nil, nil},
		{"only one dump", []summary.Group{dumpOf(0, 4, 5)}, "", 0, nil, nil, nil},
	} {
		got := In(&summary.Summary{Groups: tc.rows})
		if tc.kind == "" {
			if len(got) != 0 {
				t.Errorf("%s: %+v", tc.name, got)
			}
			continue
		}
		if len(got) != 1 {
			t.Errorf("%s: %d calls", tc.name, len(got))
			continue
		}
		h := got[0]
		if h.Kind != tc.kind || h.Seq != tc.seq || !slices.Equal(h.Waiting, tc.waiting) || !slices.Equal(h.Absent, tc.absent) || !slices.Equal(h.Unknown, tc.unknown) || h.SinceNS < 1000+tc.seq*10 || h.SinceNS > 1003+tc.seq*10 {
			t.Errorf("%s: %+v", tc.name, h)
		}
	}
}

// TestHangsOrder: a call whose absent rank waits nowhere comes before one whose absent rank
// waits in another group, although that began earlier.
func TestHangsOrder(t *testing.T) {
	blocked := []summary.Group{dumpOf(0, 4, 5), dumpOf(1, 4)}
	cause := []summary.Group{dumpOf(1, 8, 9), dumpOf(2, 8)}
	for i := range blocked {
		blocked[i].Members = []int{0, 1}
	}
	for i := range cause {
		cause[i].Group, cause[i].Members = "8", []int{1, 2}
	}
	got := In(&summary.Summary{Groups: append(blocked, cause...)})
	if len(got) != 2 || got[0].Group != "8" || !got[0].Idle || !slices.Equal(got[0].Absent, []int{2}) || got[1].Idle {
		t.Errorf("%+v", got)
	}
}

func logOf(place int, calls ...summary.GroupCall) summary.Group {
	return summary.Group{Source: "NCCL log", Group: "0xa", Place: &place, Size: 2, Calls: calls}
}

// TestUnpaired: sends without a receive are found if both members were given.
func TestUnpaired(t *testing.T) {
	send := summary.GroupCall{Op: "Send", Count: 64, Dtype: "bfloat16", Peer: ptr(0), Calls: 5}
	recv := summary.GroupCall{Op: "Recv", Count: 64, Dtype: "bfloat16", Peer: ptr(1), Calls: 3}
	other := summary.GroupCall{Op: "AllReduce", Count: 64, Dtype: "float32", Calls: 9}
	got := In(&summary.Summary{Groups: []summary.Group{logOf(0, recv, other), logOf(1, send)}})
	if len(got) != 1 || got[0].Kind != Unpaired || got[0].Calls != 2 || got[0].Op != "Send" || got[0].Waiting[0] != 1 || got[0].Absent[0] != 0 || got[0].Shape != "64 bfloat16" {
		t.Errorf("%+v", got)
	}
	send.Calls = 3
	for _, rows := range [][]summary.Group{{logOf(0, recv), logOf(1, send)}, {logOf(1, send)}, {logOf(0), logOf(0, recv), logOf(1, send)}} {
		if got := In(&summary.Summary{Groups: rows}); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	}
}

// TestTimedOut: time-outs of several ranks in one call are one row.
func TestTimedOut(t *testing.T) {
	row := func(rank int, ran int64) summary.Group {
		return summary.Group{Source: "watchdog", Group: "0", Rank: &rank, Pending: []summary.PendingCall{{Op: "allreduce", Seq: 9, State: "timeout", RanNS: ran}}}
	}
	got := In(&summary.Summary{Groups: []summary.Group{row(1, 600), row(2, 700), row(1, 650)}})
	if len(got) != 1 || got[0].Kind != TimedOut || !slices.Equal(got[0].Waiting, []int{1, 2}) || got[0].RanNS != 700 {
		t.Errorf("%+v", got)
	}
}

// TestLogsEndApart: many calls without a counterpart are no hang, because a log may be cut. A few are, also late in a
// long run, and so are those of a rank that made none.
func TestLogsEndApart(t *testing.T) {
	sends := func(n int64) summary.GroupCall {
		return summary.GroupCall{Op: "Send", Count: 64, Dtype: "bfloat16", Peer: ptr(0), Calls: n}
	}
	receives := func(n int64) summary.GroupCall {
		return summary.GroupCall{Op: "Recv", Count: 64, Dtype: "bfloat16", Peer: ptr(1), Calls: n}
	}
	for _, tc := range []struct {
		sent, received int64
		hangs          int
	}{
		{100, 99, 1}, {100, 60, 0}, {60, 100, 0}, {9, 1, 1}, {10, 1, 0}, {4000, 3950, 1}, {20, 0, 1}, {100, 100, 0},
	} {
		calls := []summary.GroupCall{receives(tc.received)}
		if tc.received == 0 {
			calls = nil
		}
		first, second := logOf(0, calls...), logOf(1, sends(tc.sent))
		second.Input = 1
		s := &summary.Summary{Groups: []summary.Group{first, second}}
		if got := In(s); len(got) != tc.hangs {
			t.Errorf("%d sends, %d receives: %+v", tc.sent, tc.received, got)
		}
		want := -1
		if tc.hangs == 0 && tc.sent > tc.received {
			want = 0
		} else if tc.sent < tc.received {
			want = 1
		}
		if got := LogsEndApart(s); got != want {
			t.Errorf("%d sends, %d receives: input %d, want %d", tc.sent, tc.received, got, want)
		}
	}
}

// TestCallsOfOneNumber: of calls that differ between ranks, that of the first rank is named,
// whatever order they are found in. A negative number is no call.
func TestCallsOfOneNumber(t *testing.T) {
	for range 20 {
		rows := []summary.Group{dumpOf(3, 4), dumpOf(2, 4, 5), dumpOf(1, 4, 5), dumpOf(0, 4, 5)}
		for i, op := range []string{"", "broadcast", "all_gather", "all_reduce"} {
			for k := range rows[i].Pending {
				rows[i].Pending[k].Op, rows[i].Pending[k].CreatedNS = op, nil
			}
		}
		if got := In(&summary.Summary{Groups: rows}); len(got) != 1 || got[0].Op != "all_reduce" {
			t.Fatalf("%+v", got)
		}
	}
	if got := In(&summary.Summary{Groups: []summary.Group{dumpOf(0, 4, -5), dumpOf(1, 4)}}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestRanksOfJob: the places of a small communicator become ranks of the job if all processes have
// the same largest communicator, and stay places if they do not.
func TestRanksOfJob(t *testing.T) {
	send := summary.GroupCall{Op: "Send", Count: 8, Dtype: "float32", Peer: ptr(0), Calls: 1}
	row := func(input, place, size int, name string, calls ...summary.GroupCall) summary.Group {
		return summary.Group{Input: input, Source: "NCCL log", Group: name, Place: &place, Size: size, Calls: calls}
	}
	s := &summary.Summary{}
	for rank := range 4 {
		s.Inputs = append(s.Inputs, summary.Input{Rank: rank, RankFrom: "nccl"})
		s.Groups = append(s.Groups, row(rank, rank, 4, "world"))
	}
	s.Groups = append(s.Groups, row(1, 0, 2, "odd"), row(3, 1, 2, "odd", send))
	got := In(s)
	if len(got) != 1 || got[0].Places || !slices.Equal(got[0].Waiting, []int{3}) || !slices.Equal(got[0].Absent, []int{1}) {
		t.Errorf("%+v", got)
	}
	for i := range 2 {
		s.Groups[i].Group = "other"
	}
	if got = In(s); len(got) != 1 || !got[0].Places || !slices.Equal(got[0].Waiting, []int{1}) || !slices.Equal(got[0].Absent, []int{0}) {
		t.Errorf("two largest communicators: %+v", got)
	}
}
