package nsys

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/trace"
)

// A syncRow has the values of a row of synchronizations; without event, without stream and without
// number if they are 0.
type syncRow struct {
	kind, event, stream, context, call, number int64
}

const syncPid = 1<<48 | 7<<24

func (s syncRow) line() string {
	some := func(n int64) int64 {
		if n == 0 {
			return noStream
		}
		return n
	}
	return fmt.Sprintf(`{"table":"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION","start":%d,"end":%d,"deviceId":0,"contextId":%d,"streamId":%d,"correlationId":%d,"globalPid":%d,"syncType":%d,"eventId":%d,"eventSyncId":%d}`,
		10*s.call, 10*s.call+5, s.context, some(s.stream), s.call, syncPid, s.kind, some(s.event), some(s.number))
}

func recordLine(device, context, stream, call, event, number int64) string {
	return fmt.Sprintf(`{"table":"CUPTI_ACTIVITY_KIND_CUDA_EVENT","deviceId":%d,"contextId":%d,"streamId":%d,"correlationId":%d,"globalPid":%d,"eventId":%d,"eventSyncId":%d}`,
		device, context, stream, call, syncPid, event, number)
}

// syncsOf reads an export, and returns its synchronizations as text: call, kind, device and stream;
// the stream and the call of the event that is waited for.
func syncsOf(t *testing.T, lines ...string) (out []string) {
	t.Helper()
	tr, err := ReadJSON(strings.NewReader(strings.Join(lines, "\n")), "x", trace.SelectAll(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for s := range tr.Syncs.All() {
		on := tr.Tracks[s.Track]
		out = append(out, fmt.Sprintf("%d %s %d/%d waits on %d after %d", s.Correlation, tr.Name(s.Name), on.Device, on.Stream, s.WaitsOn, s.Record))
	}
	if n := tr.Spans.Len(); n != len(out) {
		t.Errorf("%d spans, %d records", n, len(out))
	}
	return out
}

// TestSyncKinds: the numbers of syncType differ between versions; a row has the same columns.
func TestSyncKinds(t *testing.T) {
	want := []string{
		"20 Stream Wait Event 0/9 waits on 7 after 4", "21 Event Sync 0/-1 waits on 7 after 4",
		"22 Stream Sync 0/9 waits on -1 after 0", "23 Context Sync 0/-1 waits on -1 after 0",
	}
	for version, kinds := range map[string][4]int64{"2026": {2, 1, 3, 4}, "2024": {2, 1, 2, 0}, "2020": {3, 2, 4, 1}} {
		got := syncsOf(t, recordLine(0, 1, 7, 4, 5, noStream),
			syncRow{kind: kinds[0], event: 5, stream: 9, context: 1, call: 20}.line(), syncRow{kind: kinds[1], event: 5, context: 1, call: 21}.line(),
			syncRow{kind: kinds[2], stream: 9, context: 1, call: 22}.line(), syncRow{kind: kinds[3], context: 1, call: 23}.line())
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}

// TestEventRecordedAgain: a wait is for the last record of its event before it, and for none if
// that one is missing. Of an event without a record before, nothing in the capture is waited for.
func TestEventRecordedAgain(t *testing.T) {
	wait := func(call, number int64) string {
		return syncRow{kind: 2, event: 5, stream: 9, context: 1, call: call, number: number}.line()
	}
	waits := func(call, stream, record int64) string {
		return fmt.Sprintf("%d Stream Wait Event 0/9 waits on %d after %d", call, stream, record)
	}
	got := syncsOf(t,
		recordLine(0, 1, 8, 30, 5, 3), recordLine(0, 1, 7, 10, 5, 1), recordLine(0, 1, 7, 20, 5, 2), // in any order
		recordLine(0, 1, 6, 25, 4, 9), // another event
		recordLine(0, 2, 6, 26, 5, 8), // another context
		wait(5, 0), wait(11, 1), wait(29, 0), wait(31, 3),
		wait(40, 4), // the record of number 4 is not in the export
	)
	want := []string{waits(5, trace.WaitsOnNothing, 0), waits(11, 7, 10), waits(29, 7, 20), waits(31, 8, 30), waits(40, -1, 0)}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSyncDevice: rows of synchronizations have device 0; their context tells the device.
func TestSyncDevice(t *testing.T) {
	for name, knows := range map[string]string{
		"contexts": `{"table":"TARGET_INFO_CUDA_CONTEXT_INFO","processId":7,"contextId":2,"deviceId":3,"nullStreamId":7}`,
		"old":      `{"table":"TARGET_INFO_CUDA_NULL_STREAM","processId":7,"contextId":2,"deviceId":3,"streamId":7}`,
		"record":   recordLine(3, 2, 7, 4, 5, 1),
	} {
		got := syncsOf(t, knows, syncRow{kind: 4, context: 2, call: 20}.line())
		if want := []string{"20 Context Sync 3/-1 waits on -1 after 0"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestSyncEvents reads the older form of JSON.
func TestSyncEvents(t *testing.T) {
	event := func(kind, call int64, stream, rest string) string {
		return fmt.Sprintf(`{"Type":%d,"CudaEvent":{"startNs":"%d","endNs":"%d","correlationId":%d,"deviceId":0,"contextId":"1","streamId":"%s","globalPid":"%d",%s}}`,
			kind, 10*call, 10*call+2, call, stream, syncPid, rest)
	}
	got := syncsOf(t,
		event(127, 4, "43", `"cudaEventRecord":{"eventId":88,"eventSyncId":"205"}`),
		event(106, 6, "47", `"sync":{"eventId":88,"eventSyncId":"205","syncType":"SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT"}`),
		event(106, 7, "47", `"sync":{"eventId":4294967295,"syncType":"SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT"}`))
	want := []string{"6 Stream Wait Event 0/47 waits on 43 after 4", "7 Stream Sync 0/47 waits on -1 after 0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
