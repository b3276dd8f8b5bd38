package analyze

import (
	"fmt"
	"strings"
	"testing"

	"assay/summary"
	"assay/trace"
)

// TestStreamWaits counts calls whose event is not known: all without records; with
// some, those whose record lacks the event, not those without one, which wait for nothing.
func TestStreamWaits(t *testing.T) {
	call := func(name string, id int) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":%q,"pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, name, id, id)
	}
	record := func(id int, on string) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":9,"ts":%d,"dur":0,"args":{"device":0,"stream":9,"correlation":%d,"wait_on_stream":%s}}`, id, id, on)
	}
	waits := []string{call("cudaStreamWaitEvent", 1), call("cuStreamWaitEvent", 2), call("cudaStreamWaitEvent", 3), call("cudaLaunchKernel", 4)}
	for _, tt := range []struct {
		events       []string
		all, unknown int64
	}{
		{waits, 3, 3},
		{append(waits, record(1, "7"), record(3, "7")), 3, 0},
		{append(waits, record(1, "7"), record(3, "-1")), 3, 1},
		{append(waits, record(1, "4294967295")), 3, 1},
		{[]string{call("hipStreamWaitEvent", 1), call("cudaLaunchKernel", 4)}, 0, 0},
	} {
		tr, err := trace.Read(strings.NewReader(`{"traceEvents":[`+strings.Join(tt.events, ",")+`]}`), "x", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		var in summary.Input
		if streamWaits(tr, &in); in.StreamWaits != tt.all || in.StreamWaitsUnknown != tt.unknown {
			t.Errorf("%v: %d, %d unknown; want %d, %d", tt.events, in.StreamWaits, in.StreamWaitsUnknown, tt.all, tt.unknown)
		}
	}
}
