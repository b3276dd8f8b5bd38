package summary

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// randomUtilization returns chunks that fit a device, or none.
func randomUtilization(rnd *rand.Rand, d *Device) *Utilization {
	if d.WindowNS == 0 || rnd.IntN(2) == 0 {
		return nil
	}
	u := &Utilization{ChunkNS: (d.WindowNS-1)/UtilizationChunks + 1}
	for left, from := d.Activity.Busy(), int64(0); from < d.WindowNS; from += u.ChunkNS {
		n := min(left, u.ChunkNS, d.WindowNS-from)
		u.BusyNS = append(u.BusyNS, n)
		left -= n
	}
	return u
}

// TestReadUtilization: chunks that do not cover the window, or do not sum to
// its busy time, are refused.
func TestReadUtilization(t *testing.T) {
	// 90 ns, of which 62 busy: 30 chunks of 3.
	read := func(utilization string) string {
		_, err := Read(strings.NewReader(`{"schema":"assay/summary/1","inputs":[{"path":"x"}],"devices":[{"window_ns":90,`+
			`"activity":[{"classes":[],"ns":28},{"classes":["copy"],"ns":60},{"classes":["comm","compute"],"ns":2}],"utilization":`+utilization+`}]}`), "s.json")
		if err != nil {
			return strings.TrimPrefix(err.Error(), "s.json: devices[0]: utilization")
		}
		return ""
	}
	chunks := func(n int, first string) string {
		return `{"chunk_ns":3,"busy_ns":[` + first + strings.Repeat(",3", n) + strings.Repeat(",0", 29-n) + `]}`
	}
	for _, tc := range []struct{ name, in, want string }{
		{"none", `null`, ""},
		{"right", chunks(20, "2"), ""},
		{"one too little", chunks(20, "1"), " sums to 61 ns, want the 62 ns in which anything ran"},
		{"more than there is", chunks(20, "4"), ": chunk 0 has 4 ns, want 0 to 3"},
		{"negative", chunks(20, "-1"), ": chunk 0 has -1 ns, want 0 to 3"},
		{"empty", `{"chunk_ns":3,"busy_ns":[]}`, ": 0 chunks of 3 ns do not cut a window of 90 ns"},
		{"too few", `{"chunk_ns":3,"busy_ns":[3,3]}`, ": 2 chunks of 3 ns do not cut a window of 90 ns"},
		{"no length", `{"chunk_ns":0,"busy_ns":[3,3]}`, ": 2 chunks of 0 ns do not cut a window of 90 ns"},
		{"too many", `{"chunk_ns":2,"busy_ns":[` + strings.Repeat("1,", 44) + `1]}`, ": 45 chunks of 2 ns do not cut a window of 90 ns"},
		// The last chunk is shorter: 80 to 90.
		{"shorter at the end", `{"chunk_ns":40,"busy_ns":[40,11,11]}`, ": chunk 2 has 11 ns, want 0 to 10"},
		{"short at the end", `{"chunk_ns":40,"busy_ns":[40,12,10]}`, ""},
	} {
		if got := read(tc.in); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestReadWaitingInputs: rows of inputs that do not exist are refused.
func TestReadWaitingInputs(t *testing.T) {
	for _, field := range []string{"copy_calls", "syncs"} {
		_, err := Read(strings.NewReader(`{"schema":"assay/summary/1","inputs":[{"path":"x"}],"`+field+`":[{"input":1}]}`), "s.json")
		if want := "s.json: " + field + "[0].input: got 1, want 0 or more and under 1, the number of inputs"; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
