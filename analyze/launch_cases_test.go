package analyze_test

import (
	"fmt"
	"slices"
	"testing"

	"assay/summary"
)

// hostRow, callRow and workRow are events of an operator, a call and a kernel;
// times are in us.
func hostRow(name string, process, start, dur int) string {
	return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":%d,"tid":1,"ts":%d,"dur":%d}`, name, process, start, dur)
}

func callRow(correlation, process, start, dur int) string {
	return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":%d,"tid":1,"ts":%d,"dur":%d,"args":{"correlation":%d}}`, process, start, dur, correlation)
}

func workRow(name string, correlation, stream, start, dur int) string {
	return fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":%d,"ts":%d,"dur":%d,"args":{"device":0,"stream":%[2]d,"correlation":%[5]d}}`, name, stream, start, dur, correlation)
}

// TestSharedCorrelation: where two processes use a correlation, the call that
// began last before the work launched it, whatever comes first in the file.
//
//	time      0         10        20        30
//	aten::a   [ccc      ]
//	first           kk
//	aten::b                       [ccc      ]
//	second                              kk
func TestSharedCorrelation(t *testing.T) {
	a := []string{hostRow("aten::a", 1, 0, 10), callRow(5, 1, 0, 3), workRow("first", 5, 7, 6, 2)}
	b := []string{hostRow("aten::b", 2, 20, 10), callRow(5, 2, 20, 3), workRow("second", 5, 7, 26, 2)}
	for _, events := range [][]string{slices.Concat(a, b), slices.Concat(b, a)} {
		s := measured(t, list(events...))
		got := make(map[string]string)
		for _, k := range s.Kernels {
			got[k.Name] = k.Op
		}
		if got["first"] != "aten::a" || got["second"] != "aten::b" || issue(s, "correlation-ambiguous").Count != 2 {
			t.Errorf("%v, %+v", got, s.Issues)
		}
	}
}

// TestGapEndsWithTwo: of two pieces of work that end a gap together the one
// whose call began first says who was late.
//
//	time      0    5    10   15   20   25
//	work      wwwww               ww
//	                              ww
//	call 2               cc
//	call 3                   cc
func TestGapEndsWithTwo(t *testing.T) {
	for _, streams := range [][2]int{{7, 8}, {8, 7}} {
		s := measured(t, list(callRow(1, 1, -5, 2), workRow("w", 1, 7, 0, 5),
			callRow(2, 1, 11, 2), callRow(3, 1, 15, 2), workRow("w", 2, streams[0], 20, 2), workRow("w", 3, streams[1], 20, 2)))
		got := make(map[string]int64)
		for _, r := range s.Idle {
			got[r.Owner] += r.NS
		}
		if got[summary.OwnerHost] != 6000 || got[summary.OwnerLaunch] != 9000 || len(got) != 2 {
			t.Errorf("%v, want 6 us of the host and 9 of launching", got)
		}
	}
}
