package summary

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// TestSumTooLarge: 1,000 ranks that run 20 s at 500 TFLOP/s do 10^19 FLOPs, more than 2^63. Their
// sum is null, MFU is the mean of theirs, and what is written is read again.
func TestSumTooLarge(t *testing.T) {
	share := 0.5
	for ranks, want := range map[int]string{900: "9000000000000000000", 1000: "null"} {
		s := newSummary()
		for rank := range ranks {
			s.Efficiency.Devices = append(s.Efficiency.Devices, EfficiencyDevice{Rank: rank,
				EfficiencySums: EfficiencySums{MatrixFLOPs: 1e16, ModelFLOPs: 1e16, WallNS: 20e9, MFU: &share, HFU: &share}})
		}
		s.Efficiency.Transfers = []EfficiencyTransfer{{Bytes: math.MaxInt64}, {Bytes: 5}}
		var out bytes.Buffer
		if err := Write(&out, s, ""); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Efficiency struct {
				Total     map[string]json.RawMessage `json:"total"`
				Transfers []map[string]any           `json:"transfers"`
			} `json:"efficiency"`
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		total := got.Efficiency.Total
		if string(total["matrix_flops"]) != want || string(total["model_flops"]) != want || string(total["mfu"]) != "0.5" {
			t.Errorf("%d ranks: %s", ranks, total)
		}
		if list := got.Efficiency.Transfers; list[0]["bytes"] != nil || list[1]["bytes"] != 5.0 {
			t.Errorf("%v", list)
		}
		if strings.Contains(out.String(), "9223372036854775807") {
			t.Error("a sum stopped at the limit is written as a number")
		}
		var again Efficiency
		text, err := json.Marshal(s.Efficiency)
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || again.Transfers[0].Bytes.Fits() || again.Transfers[1].Bytes != 5 {
			t.Errorf("%v, %v", again.Transfers, err)
		}
	}
}
