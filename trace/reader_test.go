package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/diag"
)

// say reads a trace and returns all output of the reader as text.
func say(r io.Reader, sel Select) (lines []string) {
	rd := NewReader(r, "in", sel)
	for rd.Scan() {
		switch rec := rd.Record().(type) {
		case *diag.Error:
			lines = append(lines, rec.Error())
		case *Event:
			lines = append(lines, eventText(rec))
		}
	}
	for _, is := range rd.Issues() {
		if is.Code != codeMalformed && is.Code != codeBadTime && is.Code != codeNegative && is.Code != codeNotObject && is.Code != codeNoPhase {
			lines = append(lines, fmt.Sprintf("%v: %s", is.First, is.Code))
		}
	}
	if rd.Err() != nil {
		lines = append(lines, "error: "+rd.Err().Error())
	}
	return lines
}

func eventText(e *Event) string {
	s := fmt.Sprintf("%c %s %s/%s", e.Phase(), e.Name(), e.PID(), e.TID())
	if e.HasStart() {
		s += fmt.Sprintf(" %d", e.Start())
	}
	if e.HasDur() {
		s += fmt.Sprintf("+%d", e.Dur())
	}
	return s
}

const ok1 = `{"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":1,"dur":2}`
const ok2 = `{"ph":"X","cat":"kernel","name":"k2","pid":0,"tid":7,"ts":4.5,"dur":0.25}`
const said1, said2 = "X k1 0/7 1000+2000", "X k2 0/7 4500+250"

var readerCases = []struct {
	name, in string
	want     []string
}{
	{"array form", `[` + ok1 + `,` + ok2 + `]`, []string{said1, said2}},
	{"object form, other members around",
		`{"schemaVersion":1,"x":{"traceEvents":[3]},"traceEvents":[` + ok1 + `,` + ok2 + `],"traceName":"t"}`, []string{said1, said2}},
	{"byte order mark", "\ufeff[" + ok1 + "]", []string{said1}},
	{"the open array that the format allows", `[` + ok1 + ",\n" + ok2 + ",\n", []string{said1, said2, "in@146: traceEvents[2]: events-not-closed"}},
	{"the profiler was killed between events", `{"traceEvents":[` + ok1 + `,`, []string{said1, "in@85: traceEvents[1]: input-truncated"}},
	{"the profiler was killed within an event", `{"traceEvents":[` + ok1 + `,{"ph":"X","name":"k`, []string{said1, "in@85: traceEvents[1]: input-truncated"}},
	{"the profiler was killed behind the events", `{"traceEvents":[` + ok1 + `]`, []string{said1, "in@85: input-truncated"}},
	{"bad events are skipped, not fatal",
		`[{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":-1},{"ph":"X","name":"k","ts":"soon","dur":1},{"name":"k"},{"ph":"X"},` + ok1 + `]`,
		[]string{`in@1: traceEvents[0].dur: negative duration`, `in@54: traceEvents[1].ts: bad timestamp: "soon" is not a number`,
			`in@96: traceEvents[2].ph: missing`, `in@109: traceEvents[3].ts: missing`, said1}},
	{"an end beyond the range of time", `[{"ph":"X","name":"k","ts":9223372036854775,"dur":1}]`, []string{`in@1: traceEvents[0].dur: end is out of range`}},
	{"elements that are not events", `[null,{},3,"x",[],` + ok1 + `]`,
		[]string{"in@9: traceEvents[2]: not an object", "in@11: traceEvents[3]: not an object", "in@15: traceEvents[4]: not an object", said1}},
	{"a comma too many, a comma too few", `[,` + ok1 + ok2 + `,,]`, []string{said1, said2}},
	{"quotes that were not escaped",
		`[` + ok1 + `,{"ph":"X","name":"say "hi"","ts":1,"dur":1},` + ok2 + `]`,
		[]string{said1, `X say "hi" / 1000+1000`, said2, "in@70: traceEvents[1]: quotes-repaired"}},
	{"an odd quote",
		`[` + ok1 + `,{"ph":"X","name":"a" ","ts":1,"dur":1},` + ok2 + `]`,
		[]string{said1, `X a"  / 1000+1000`, said2, "in@70: traceEvents[1]: quotes-repaired"}},
	{"a quote that cannot be repaired loses one event",
		`[` + ok1 + `,{"ph":"X",name":"a","ts":1,"dur":1},` + ok2 + `]`,
		[]string{said1, `in@80: traceEvents[1]: malformed JSON: want a quoted key, got 'n'`, said2}},
	{"brackets that are never closed lose one event",
		`[` + ok1 + `,{"ph":"X","args":{"a":[[[[}},` + ok2 + `]`,
		[]string{said1, "in@70: traceEvents[1]: malformed JSON: brackets or quotes are not closed", said2}},
	{"one event a line and no array", ok1 + "\n" + ok2 + "\n", []string{said1, said2}},
	{"a line of a log before the trace", "12:00 INFO done [1]\n{\n" + `"traceEvents":[` + ok1 + `]}`, []string{said1, "in@0: text-before-trace"}},
	{"comments", "// by a tool\n{ /* x */ \"traceEvents\":[" + ok1 + `]}`, []string{said1, "in@0: text-before-trace"}},
	{"an array closed too early", `{"traceEvents":[` + ok1 + `],` + ok2 + `],"schemaVersion":1}`, []string{said1, said2, "in@86: events-closed-early"}},
	{"a time written twice", `[{"ph":"X","name":"k","ts":"?","ts":1,"dur":2,"args":{"stream":1},"args":{}}]`, []string{"X k / 1000+2000"}},
	{"a nested object is not taken for the next event",
		`[{"ph":"X" "args":{"name":"x"},"ts":1,"dur":1},` + ok1 + `]`,
		[]string{`in@11: traceEvents[0]: malformed JSON: want a comma or }, got '"'`, said1}},
	{"nothing usable follows a malformed event", `{"traceEvents":[` + ok1 + `,{"ph":"X" oops`,
		[]string{said1, `in@95: traceEvents[1]: malformed JSON: want a comma or }, got 'o'`, "in@99: traceEvents[2]: input-truncated"}},
	{"numbers as strings, null ids", `[{"ph":"X","name":"k","pid":"2","tid":null,"ts":" 1.5 ","dur":"3"}]`, []string{"X k 2/ 1500+3000"}},
	{"escapes", `[{"ph":"X","name":"a\"\u00e9\\","cat":"x\ty","pid":"C:\\d","tid":1,"ts":1,"dur":1}]`, []string{`X a"é\ C:\d/1 1000+1000`}},
	{"no pid and tid, then others", `[{"ph":"X","cat":"kernel","name":"k","pid":0,"ts":1,"dur":2},{"ph":"X","name":"x","ts":4,"dur":1}]`,
		[]string{"X k 0/ 1000+2000", "X x / 4000+1000"}},
	{"two arrays", `{"traceEvents":[` + ok1 + `],"traceEvents":[` + ok2 + `]}`, []string{said1, said2, "in@100: traceEvents: events-repeated"}},
	{"two documents", `[` + ok1 + `] {"traceEvents":[]}`, []string{said1, "in@71: trailing-data"}},
	{"metadata broken behind the events", `{"traceEvents":[` + ok1 + `],"a" 3}`, []string{said1, "in@90: a: metadata-malformed"}},
	{"null instead of the events", `{"traceEvents":null,"a":[1,{"b":"]"}],"c":2}`, []string{`error: in@44: not a trace: the JSON object has no "traceEvents" array; use torch.profiler's export_chrome_trace`}},
	{"no trace", `{"nodes":[]}`, []string{`error: in@12: not a trace: the JSON object has no "traceEvents" array; use torch.profiler's export_chrome_trace`}},
	{"no JSON", `<html>`, []string{`error: in@0: not a trace: want a JSON object or array, got '<'`}},
	{"empty", " \n", []string{`error: in@2: the input is empty`}},
	{"cut before any event", `{"schemaVersion": 1, "deviceProp`, []string{"error: in@21: the input ends before any event"}},
	{"broken before any event", `{"schemaVersion" 1}`, []string{"error: in@17: schemaVersion: malformed JSON before any event: want a colon, got '1'"}},
}

func TestReader(t *testing.T) {
	for _, tt := range readerCases {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, say(strings.NewReader(tt.in), SelectAll())); diff != "" {
				t.Errorf("want(-) got(+):\n%s\ninput: %s", diff, tt.in)
			}
		})
	}
}

// TestReaderSplits reads every case one byte at a time: the result does not
// depend on how the input arrives.
func TestReaderSplits(t *testing.T) {
	for _, tt := range readerCases {
		got := say(iotest.OneByteReader(strings.NewReader(tt.in)), SelectAll())
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: want(-) got(+):\n%s", tt.name, diff)
		}
	}
}

// TestReaderBreaks: an input that fails keeps the data before the failure and
// has an issue.
func TestReaderBreaks(t *testing.T) {
	broken := iotest.ErrReader(errors.New("disk error"))
	in := io.MultiReader(strings.NewReader(`{"traceEvents":[`+ok1+`,{"ph":`), broken)
	tr, err := Read(in, "in", SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	if tr.Activities.Len() != 1 || tr.Complete {
		t.Errorf("%d activities, complete %v; want 1, false", tr.Activities.Len(), tr.Complete)
	}
	if len(tr.Issues) != 1 || tr.Issues[0].Code != "input-truncated" || !strings.Contains(tr.Issues[0].Help, "disk error") {
		t.Errorf("issues: %+v", tr.Issues)
	}
	_, err = Read(broken, "in", SelectAll())
	if err == nil || err.Error() != "in@0: cannot read: disk error" {
		t.Errorf("broken from the start: %v", err)
	}
}

func TestSelect(t *testing.T) {
	const in = `[{"ph":"X","cat":"python_function","name":"f","ts":1,"dur":1},{"ph":"M","name":"process_name","pid":1},` + ok1 +
		`,{"ph":"X","cat":"cpu_op","name":"bad","ts":"?","dur":1}]`
	got := say(strings.NewReader(in), Select{Kinds: Of(Kernel)})
	if want := []string{"M process_name 1/", said1}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzReader checks the guarantees for any input: reading ends, does not panic,
// and gives no negative duration and no time out of range, and the result does
// not depend on how the input arrives.
func FuzzReader(f *testing.F) {
	for _, tt := range readerCases {
		f.Add([]byte(tt.in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rd := NewReader(bytes.NewReader(b), "in", SelectAll())
		for rd.Scan() {
			if e, ok := rd.Record().(*Event); ok && e.HasDur() && (e.Dur() < 0 || e.Start()+e.Dur() < e.Start()) {
				t.Fatalf("%s of %q", eventText(e), b)
			}
		}
		whole := say(bytes.NewReader(b), SelectAll())
		split := say(iotest.HalfReader(bytes.NewReader(b)), SelectAll())
		if !slices.Equal(whole, split) {
			t.Fatalf("%q read at once: %q; in halves: %q", b, whole, split)
		}
	})
}
