package eventscan

import (
	"bytes"
	"errors"
	"testing"
)

// seeds are events with common and uncommon content.
var seeds = []string{
	`{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":10,"ts":100.123,"dur":5.5,"args":{"External id":1,"Input Dims":[[1,2],["a]"]],"Fwd thread id":0}}`,
	"{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void k<1>(float*)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": 1712195495505582.988, \"dur\": 0,\n    \"args\": {\n      \"device\": 0, \"stream\": 7, \"grid\": [1, 2, 3], \"block\": [ 32,1,1 ], \"est. achieved occupancy %\": 0.5\n    }\n  }",
	`{"ph":"f","id":123,"pid":"Spans","tid":-1,"ts":1,"cat":"ac2g","name":"ac2g","bp":"e"}`,
	`{"ph":"X","name":"a\"b","pid":null,"tid":0x1,"ts":"1.5","dur":1e3,"args":{"bytes":"2560","stream":"0x0","Python parent id":null}}`,
	`{}`, `{"ph":"X",}`, `{"args":{},"args":[],"args":{"stream":1,"stream":2,}}`, `{"ts":00123456789012345.678,"dur":-1}`, `{"grid":[1,2],"block":[1,2,3,4]}`,
	`{"ph":"XY","cat":"\\","pid":12345678901234567890,"args":{"correlation":-5,"Addr":18446744073709551615,"grid":[1,-2,3]}}`,
	`{"ph":"X","args":{"Input Dims":[[1,2]],"x":"y"}}`, `{"ph":"X","args":{"Input Dims":null,"x":["y\""]}}`,
	`{"ph":"X","cat":"c","args":{"s":"[","t":"]}}","u":"12"}}`, `{"ph":"X","cat":"c","args":{"name":"[","dtype":"]}}","u":"1.5"}}`,
	`{"ph":"0","cat":0,"ts":[]}`, "{\"ph\":\"\x00\",\"cat\":\"cpu_op\",\"pid\":1}", `{"ph" : "X" , "stack":[1 2], "ts":NaN}`, `{"ts":1.2345,"dur":9007199254740993}`, `{"args":{"x":{"y":[1 2]},"Input type":null}}`,
}

// FuzzScan compares the fast functions with the reference: what Scan and
// Memo.Scan accept, Decode reads the same way, and none of them panics or reads
// past the event. The memo has read another event before, so it has shapes that
// could match wrongly.
func FuzzScan(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), []byte(seeds[(i+1)%len(seeds)]))
	}
	f.Fuzz(func(t *testing.T, event, other []byte) {
		if len(event) == 0 || event[0] != '{' {
			return
		}
		var memo Memo
		var fast, slow Fields
		same := make(same)
		picky := Memo{Wants: func(byte, []byte) FieldSet { return 0 }}
		behind := []byte(",\n{\"ph\":\"X\",\"name\":\"the next one\"}]")
		if len(other) > 0 && other[0] == '{' {
			before := append(bytes.Clone(other), behind...)
			if _, ok := memo.Scan(before, 0, &fast); ok {
				same.check(t, &fast)
			}
			picky.Scan(before, 0, &fast)
		}
		for _, tail := range [][]byte{nil, behind} {
			b := append(bytes.Clone(event), tail...)
			want, err := Decode(b, 0, &slow)
			said := text(&slow)
			for way, scan := range []func([]byte, int, *Fields) (int, bool){Scan, memo.Scan, memo.Scan} {
				got, ok := scan(b, 0, &fast)
				if ok && (err != nil || got != want || text(&fast) != said) {
					t.Fatalf("way %d reads %q to %d:%s\nDecode reads it to %d, %v:%s", way, b, got, text(&fast), want, err, said)
				}
				if ok {
					same.check(t, &fast)
				}
			}
			for range 2 {
				// A time that is not wanted may be invalid.
				if got, ok := picky.Scan(b, 0, &fast); ok && (err != nil && !errors.As(err, new(*TimeError)) || got != want) {
					t.Fatalf("what is not wanted of %q is passed to %d; Decode reads it to %d, %v", b, got, want, err)
				}
			}
		}
	})
}
