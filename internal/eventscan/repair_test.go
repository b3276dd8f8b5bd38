package eventscan

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestRepair(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"ph":"X","name":"say "hi"","ts":1}`, `{"ph":"X","name":"say \"hi\"","ts":1}`},
		{`{"name": "{"device": "cpu", "dtype": "float32"}(12): run", "pid": 10}`, `{"name": "{\"device\": \"cpu\", \"dtype\": \"float32\"}(12): run", "pid": 10}`},
		{`{"name":"Library("x", "IMPL")","args":{"a":["b"c","d"],"e":"f"g"}}`, `{"name":"Library(\"x\", \"IMPL\")","args":{"a":["b\"c","d"],"e":"f\"g"}}`},
		{`{"name":"a\"b"c","ts":1}`, `{"name":"a\"b\"c","ts":1}`},
		{`{"name":"fine","ts":1}`, ""}, // nothing to repair
		{`{"name":"no end,"ts":1`, ""},
	} {
		got, ok := Repair([]byte(tt.in))
		if ok != (tt.want != "") || ok && string(got) != tt.want {
			t.Errorf("Repair(%s) = %s, %v; want %s", tt.in, got, ok, tt.want)
		}
		if ok && !json.Valid(got) {
			t.Errorf("Repair(%s) = %s, which is not JSON", tt.in, got)
		}
	}
}

// FuzzRepair: Repair terminates, adds only backslashes, and does not change
// valid JSON.
func FuzzRepair(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"name": "{"device": "cpu"}", "pid": 10}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, ok := Repair(b)
		if !ok {
			return
		}
		if strip := func(s []byte) []byte { return bytes.ReplaceAll(s, []byte{'\\'}, nil) }; !bytes.Equal(strip(out), strip(b)) {
			t.Fatalf("Repair(%q) = %q: more than backslashes differ", b, out)
		}
		if json.Valid(b) {
			t.Fatalf("Repair(%q) = %q: it was JSON", b, out)
		}
	})
}
