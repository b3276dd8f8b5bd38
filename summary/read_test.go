package summary

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// TestReadRoundTrip: reading a written summary gives the same summary.
func TestReadRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		want := Merge(randomSummary(rnd), randomSummary(rnd))
		got, err := Read(strings.NewReader(text(t, want)), "s.json")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nreads as\n%s, %v", text(t, want), text(t, got), err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	const inputs = `{"schema":"assay/summary/1","inputs":[{"path":"x"}],`
	for _, tc := range []struct{ name, in, want string }{
		{"empty", ``, `s.json@0: malformed JSON: unexpected end of JSON input`},
		{"cut", `{"schema":"assay/summ`, `s.json@21: malformed JSON: unexpected end of JSON input`},
		{"a trace", `{"traceEvents":[]}`, `s.json: not an assay summary: it has no schema, want "assay/summary/1"`},
		{"a list", `[1]`, `s.json@1: want object, got array`},
		{"later", `{"schema":"assay/summary/2"}`, `s.json: schema: got "assay/summary/2", want "assay/summary/1": another version of assay wrote it, and this is assay "` + version() + `"; read it with that version or a newer one`},
		{"later, with its version", `{"schema":"assay/summary/31","assay":"v7.2.0"}`, `s.json: schema: got "assay/summary/31", want "assay/summary/1": assay "v7.2.0" wrote it, and this is assay "` + version() + `"; read it with that version or a newer one`},
		{"of another kind", `{"schema":"assay/check/1","assay":"v7.2.0"}`, `s.json: schema: got "assay/check/1", want "assay/summary/1"`},
		{"no schema", `{"schema":null}`, `s.json: not an assay summary: it has no schema, want "assay/summary/1"`},
		{"two", inputs + `"issues":[]} {}`, `s.json@66: malformed JSON: invalid character '{' after top-level value`},
		{"shape", inputs + `"kernels":[{"count":"many"}]}`, `s.json@78: kernels.count: want whole number, got string`},
		{"shape of rows", inputs + `"issues":{}}`, `s.json@62: issues: want array, got object`},
		{"shape of text", inputs + `"kernels":[{"name":5}]}`, `s.json@72: kernels.name: want string, got number`},
		{"class", inputs + `"devices":[{"activity":[{"classes":["gpu"],"ns":1}]}]}`, `s.json: activity: unknown class "gpu"`},
		{"sum", inputs + `"devices":[{"window_ns":10,"activity":[{"classes":[],"ns":9}]}]}`,
			`s.json: devices[0]: activity sums to 9 ns, window_ns is 10`},
		{"step sum", inputs + `"steps":[{"wall_ns":0},{"wall_ns":10,"activity":[{"classes":[],"ns":9}]}]}`,
			`s.json: steps[1]: activity sums to 9 ns, wall_ns is 10`},
		{"negative cell", inputs + `"devices":[{"window_ns":1,"activity":[{"classes":[],"ns":3},{"classes":["copy","comm"],"ns":-2}]}]}`,
			`s.json: devices[0]: activity: "comm+copy" has -2 ns, want 0 or more`},
		{"cells beyond int64", inputs + `"devices":[{"window_ns":9223372036854775807,"activity":[{"classes":[],"ns":9223372036854775807},{"classes":["copy"],"ns":1}]}]}`,
			`s.json: devices[0]: activity sums to 9223372036854775807 ns or more, window_ns is 9223372036854775807`},
		{"input", inputs + `"kernels":[{"input":0},{"input":1}]}`, `s.json: kernels[1].input: got 1, want 0 or more and under 1, the number of inputs`},
		{"embedded", inputs + `"efficiency":{"devices":[{"gpu_ns":"x"}]}}`, `s.json@90: efficiency.devices.gpu_ns: want whole number, got string`},
		{"type of a share", inputs + `"efficiency":{"devices":[{"mfu":"x"}]}}`, `s.json@87: efficiency.devices.mfu: want number, got string`},
		{"MFU", inputs + `"efficiency":{"devices":[{"mfu":1.5}]}}`, `s.json: efficiency.devices[0]: mfu or hfu is 1.5, want a number from 0 to 1`},
		{"recoverable", inputs + `"efficiency":{"steps":[{"gpu_ns":5,"recoverable_ns":6}]}}`, `s.json: efficiency.steps[0].recoverable_ns: got 6, want at most gpu_ns, 5`},
		{"peak", inputs + `"efficiency":{"devices":[{"peak_tflops":{"bf16":-1}}]}}`, `s.json: efficiency.devices[0]: a peak is -1, want a number from 0 to 1e+20`},
		{"rate", inputs + `"efficiency":{"rows":[{"tflops":1e300}]}}`, `s.json: efficiency.rows[0]: intensity, tflops or gbps is 1e+300, want a number from 0 to 1e+20`},
		{"bus bandwidth", inputs + `"efficiency":{"transfers":[{"busbw_gbps":-2}]}}`, `s.json: efficiency.transfers[0]: algbw_gbps, busbw_gbps or peak_gbps is -2, want a number from 0 to 1e+20`},
		{"decode", inputs + `"efficiency":{"decode":[{"share":7,"wall_ns":1,"gpu_ns":1}]}}`, `s.json: efficiency.decode[0]: share, share_gpu or share_replay is 7, want a number from 0 to 1`},
		{"decode without time", inputs + `"efficiency":{"decode":[{"share":0.5}]}}`, `s.json: efficiency.decode[0]: gbps or share is known, but wall_ns is 0 and gpu_ns 0`},
		{"nodes", inputs + `"efficiency":{"replays":[{"gpu_ns":5,"node_ns":[3,3]}]}}`, `s.json: efficiency.replays[0].node_ns: want times of 0 or more that sum to at most gpu_ns, 5`},
		{"more than the longest", inputs + `"kernels":[{"count":12,"total_ns":1000,"max_ns":80}]}`,
			`s.json: kernels[0].total_ns: got 1000 for 12 operations of at most 80 ns`},
		{"copies longer than the longest", inputs + `"copies":[{"count":2,"total_ns":7,"max_ns":3}]}`,
			`s.json: copies[0].total_ns: got 7 for 2 operations of at most 3 ns`},
		{"longer than the window", inputs + `"devices":[{"window_ns":10,"activity":[{"classes":["compute"],"ns":10}]}],"kernels":[{"count":3,"total_ns":30,"max_ns":11}]}`,
			`s.json: kernels[0].max_ns: got 11, the window of its device is 10 ns`},
		{"negative", inputs + `"spans":[{"input":-1}]}`, `s.json: spans[0].input: got -1, want 0 or more and under 1, the number of inputs`},
	} {
		s, err := Read(strings.NewReader(tc.in), "s.json")
		if err == nil || err.Error() != tc.want || s != nil {
			t.Errorf("%s: got  %v\nwant %s", tc.name, err, tc.want)
		}
	}
	broken := errors.New("disk on fire")
	if _, err := Read(iotest.ErrReader(broken), "s.json"); !errors.Is(err, broken) || err.Error() != "s.json: disk on fire" {
		t.Errorf("a read error is reported as %v", err)
	}
}

// TestReadBusyStreams: kernels may take several windows together, and one that a chosen window cuts is
// longer than it.
func TestReadBusyStreams(t *testing.T) {
	for _, in := range []string{
		`"inputs":[{"path":"x"}],"devices":[{"window_ns":10,"activity":[{"classes":["compute"],"ns":10}]}],"kernels":[{"count":3,"total_ns":30,"max_ns":10}]}`,
		`"inputs":[{"path":"x","window":{"start_ns":5,"end_ns":15}}],"devices":[{"window_ns":10,"activity":[{"classes":["compute"],"ns":10}]}],"kernels":[{"count":1,"total_ns":30,"max_ns":30}]}`,
	} {
		if _, err := Read(strings.NewReader(`{"schema":"assay/summary/1",`+in), "s.json"); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestReadUnknownField: fields may be added to the schema.
func TestReadUnknownField(t *testing.T) {
	s, err := Read(strings.NewReader(`{"schema":"assay/summary/1","inputs":[{"path":"x"}],"later-part":{"peak":1}}`), "s.json")
	if err != nil || len(s.Inputs) != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
}
