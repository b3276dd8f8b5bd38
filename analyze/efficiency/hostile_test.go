package efficiency_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"assay/analyze/efficiency/hardware"
	"assay/summary"
)

// TestUntimed: work without a duration counts as calls and is in no sum. One product of
// 2·4096³ FLOPs in 200 µs is 687 TFLOP/s, whatever others are recorded without their time.
func TestUntimed(t *testing.T) {
	s := new(script)
	s.mm(10, 100, 200)
	for i := range 11 {
		s.mm(400+10*i, 1000+10*i, 0)
	}
	e := s.measure(t, hardware.ModelFLOPs{}).Efficiency
	if len(e.Rows) != 1 {
		t.Fatalf("%d rows, want 1", len(e.Rows))
	}
	r := &e.Rows[0]
	if r.Count != 12 || r.Untimed != 11 || r.GPUNS != 200_000 || r.FLOPs == nil || *r.FLOPs != product || !near(r.TFLOPS, product/200e6) {
		t.Errorf("the row is %+v", *r)
	}
	if r.RooflineNS == nil || *r.RooflineNS != 138_911 || e.Devices[0].MatrixFLOPs != product || e.Devices[0].RecoverableNS != 61_089 {
		t.Errorf("the row is %+v, the sums %+v", *r, e.Devices[0].EfficiencySums)
	}

	s = new(script)
	s.mm(10, 100, 0)
	e = s.measure(t, hardware.ModelFLOPs{}).Efficiency
	if r := &e.Rows[0]; r.FLOPs != nil || r.TFLOPS != nil || r.RooflineNS != nil || r.Unknown != "no duration" || e.Devices[0].MatrixFLOPs != 0 {
		t.Errorf("without any duration: %+v", *r)
	}
}

// TestLarge: sums that do not fit are not known. Each product has 2·10^18 FLOPs, so four fit
// into 63 bits and five do not.
func TestLarge(t *testing.T) {
	for n, want := range map[int]bool{4: true, 5: false} {
		s := new(script)
		for i := range n {
			at := 10 + 100*i
			s.host("cpu_op", "aten::mm", at, 4, `"Input Dims":[[1000000,1000000],[1000000,1000000]],"Input type":["c10::Half","c10::Half"]`)
			s.kernel("gemm", at+1, at+5, 50, 7)
		}
		e := s.measure(t, hardware.ModelFLOPs{}).Efficiency
		r := &e.Rows[0]
		if (r.FLOPs != nil) != want || want && *r.FLOPs != 8e18 || !want && r.Unknown != "too large a number" {
			t.Errorf("%d products: %+v", n, *r)
		}
		if d := &e.Devices[0]; d.MFU != nil || d.HFU != nil {
			t.Errorf("%d products: MFU %v, HFU %v", n, d.MFU, d.HFU)
		}
	}
}

// TestBadCall: a call whose arguments do not fit has a row of its own, and the other keeps its
// FLOPs: 2·8·64·56·56·64·9.
func TestBadCall(t *testing.T) {
	s := new(script)
	for i, stride := range []string{"[1, 1]", "[0, 0]"} {
		at := 10 + 300*i
		s.host("cpu_op", "aten::convolution", at, 4, `"Input Dims":[[8,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]],`+
			`"Input type":["c10::BFloat16","c10::BFloat16","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"],`+
			`"Concrete Inputs":["","","","`+stride+`","[1, 1]","[1, 1]","False","[0, 0]","1"]`)
		s.kernel("conv", at+1, at+5, 100, 7)
	}
	e := s.measure(t, hardware.ModelFLOPs{}).Efficiency
	known, unknown := 0, 0
	for i := range e.Rows {
		switch r := &e.Rows[i]; {
		case r.FLOPs != nil && *r.FLOPs == 1_849_688_064 && r.GPUNS == 100_000 && r.Count == 1:
			known++
		case r.FLOPs == nil && r.Unknown == "unexpected arguments":
			unknown++
		}
	}
	if d := &e.Devices[0]; known != 1 || unknown != 1 || d.FLOPsKnownNS != 100_000 || d.MatrixFLOPs != 1_849_688_064 {
		t.Errorf("%d and %d of the rows %+v; sums %+v", known, unknown, e.Rows, d.EfficiencySums)
	}
}

// TestHostile: the JSON of inputs that no profiler writes is valid, has finite numbers that are
// not negative, and is not much longer than the input.
func TestHostile(t *testing.T) {
	for name, dims := range map[string]string{
		"nested":    strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"objects":   strings.Repeat(`{"a":[`, 3000) + strings.Repeat("]}", 3000),
		"long list": "[[" + strings.Repeat("1,", 5000) + "1],[1,1]]",
		"huge":      "[[1e999,4],[4,4]]",
		"large":     "[[999999999999999999,999999999999999999],[999999999999999999,999999999999999999]]",
		"negative":  "[[-4,4],[4,4]]",
		"fraction":  "[[1.5,4],[4,4]]",
		"no list":   `"[[4,4],[4,4]]"`,
		"null":      "null",
	} {
		s := new(script)
		for i := range 5 {
			at := 10 + 100*i
			s.host("cpu_op", "aten::mm", at, 4, `"Input Dims":`+dims+`,"Input type":["c10::Half","c10::Half"]`)
			s.kernel("gemm", at+1, at+5, 50, 7)
			s.id++
			s.event("gpu_memcpy", "Memcpy DtoD (Device -> Device)", at+60, 10, `0,"tid":8`, `"device":0,"stream":8,"bytes":9000000000000000000`)
		}
		var out bytes.Buffer
		if err := summary.Write(&out, s.measure(t, hardware.ModelFLOPs{}), ""); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if limit := 30_000 + 20*len(dims); out.Len() > limit {
			t.Errorf("%s: %d bytes of JSON, want at most %d", name, out.Len(), limit)
		}
		var all struct {
			Efficiency map[string]any `json:"efficiency"`
		}
		if err := json.Unmarshal(out.Bytes(), &all); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, list := range []string{"devices", "transfers", "steps"} {
			finite(t, name, all.Efficiency[list])
		}
		finite(t, name, all.Efficiency["total"])
	}
}

// finite checks that all numbers of a value are plausible: no wrapped or saturated sums.
func finite(t *testing.T, name string, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			finite(t, name, item)
		}
	case map[string]any:
		for key, item := range v {
			finite(t, name+" "+key, item)
		}
	case float64:
		if v < 0 || v >= math.MaxInt64 || math.IsInf(v, 0) {
			t.Errorf("%s: %v", name, v)
		}
	}
}
