package proton

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
)

// packed encodes a decoded JSON value, numbers in turn as the smallest integers and as floats.
func packed(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, 0xc0)
	case bool:
		return append(out, map[bool]byte{false: 0xc2, true: 0xc3}[v])
	case string:
		if len(v) < 32 {
			return append(append(out, 0xa0|byte(len(v))), v...)
		}
		return append(append(append(out, 0xda), byte(len(v)>>8), byte(len(v))), v...)
	case float64:
		switch {
		case v != math.Trunc(v) || v > 1<<62:
			return binary.BigEndian.AppendUint64(append(out, 0xcb), math.Float64bits(v))
		case v >= 0 && v < 128:
			return append(out, byte(v))
		case v > -100 && v < 0:
			return append(out, 0xd0, byte(int8(v)))
		}
		return binary.BigEndian.AppendUint64(append(out, 0xcf), uint64(v))
	case []any:
		out = append(out, 0x90|byte(len(v)))
		for _, e := range v {
			out = packed(out, e)
		}
		return out
	}
	m := v.(map[string]any)
	out = append(out, 0x80|byte(len(m)))
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		out = packed(packed(out, k), m[k])
	}
	return out
}

// both reads a tree as JSON and packed, which must be the same.
func both(t *testing.T, text []byte) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	bin := packed(nil, v)
	want, err := ReadTree(bytes.NewReader(text), "x", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadPacked(bytes.NewReader(bin), "x", Limits{})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if !SniffPacked(bin) || SniffPacked(text) || SniffTree(bin) {
		t.Error("not told apart")
	}
	return bin
}

const small = `[{"children":[{"children":[],"frame":{"name":"k","type":"function"},"metrics":{"count":200,"device_id":"1","device_type":"CUDA","time (ns)":300000,"flops":1.5e9}}],` +
	`"frame":{"name":"ROOT","type":"function"},"metrics":{}},{"CUDA":{"1":{"arch":"90","bus_width":5120,"memory_clock_rate":2619000}}}]`

// TestPacked: a tree in MessagePack is the tree that it is in JSON, and breaks off anywhere without harm.
func TestPacked(t *testing.T) {
	bin := both(t, []byte(small))
	for n := range bin {
		if got, err := ReadPacked(bytes.NewReader(bin[:n]), "x", Limits{}); err == nil && (got.Complete || len(got.Issues) == 0) {
			t.Errorf("%d bytes: %+v", n, got)
		}
	}
	for _, other := range []string{"\x92\x83\xa5frame\x01", "\x91\x81\xa8children\x90", "plain text", "", "\x80"} {
		if SniffPacked([]byte(other)) {
			t.Errorf("%q is taken for a tree", other)
		}
	}
	deep := strings.Repeat("\x91", 1<<20)
	if _, err := ReadPacked(strings.NewReader(deep), "x", Limits{}); err == nil {
		t.Error("any depth is read")
	}
	if _, err := ReadPacked(strings.NewReader("\x92\xdb\xff\xff\xff\xff"), "x", Limits{}); err == nil {
		t.Error("any length is read")
	}
}

func TestPackedCorpus(t *testing.T) {
	for _, file := range test.Files(t, filepath.Join(test.Corpus(t, "inputs"), "proton", "*.hatchet")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		both(t, text)
	}
}

func FuzzPacked(f *testing.F) {
	var v any
	if err := json.Unmarshal([]byte(small), &v); err != nil {
		f.Fatal(err)
	}
	f.Add(packed(nil, v))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := ReadPacked(bytes.NewReader(b), "x", Limits{Nodes: 100}); (got == nil) == (err == nil) {
			t.Fatal(got, err)
		}
	})
}
