package layers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/summary"
)

// of a layer with experts: the attention, with routing, and the experts. Both begin on a stream when what they need is done.
const (
	mixing  = "4 %[1]d rms_norm_kernel\n10 %[1]d gemm_qkv\n20 %[1]d flash_fwd_kernel\n6 %[1]d gemm_proj\n4 %[1]d rms_norm_kernel\n3 %[1]d gemm_gate\n2 %[1]d topkGating_moe_kernel\n"
	routing = "30 %[1]d fused_moe_kernel\n3 %[1]d silu_and_mul_kernel\n25 %[1]d fused_moe_kernel\n"
)

// TestMicroBatchesOfStreams: two micro-batches take turns on two streams, each while tokens of the other are sent. A layer of the first is 56 µs of
// attention, 56 of the other's, 61 of experts and 50 in which the results are sent, 223 µs in all; one of the second is 56, 61, 61 and 50. If nothing
// overlaps, each is 65 + 65 + 71 or 65 + 71 + 71 µs less the last gap.
func TestMicroBatchesOfStreams(t *testing.T) {
	for _, c := range []struct {
		sent    string // µs of dispatch and combine
		overlap bool
		lengths [2]int64
		comm    int64
	}{{"50 50", true, [2]int64{223_000, 228_000}, 600_000}, {"8 9", false, [2]int64{200_000, 206_000}, 102_000}} {
		dispatch, combine, _ := strings.Cut(c.sent, " ")
		var p capture
		for step := range 3 {
			from := p.at
			p.step("", "")
			p.kernels("3 7 embedding_kernel\n3 8 embedding_kernel\n")
			for range 6 {
				for _, part := range []struct{ kernels, sends string }{{mixing, dispatch + " 9 deep_ep::internode_ll::dispatch\n"}, {routing, combine + " 9 deep_ep::internode_ll::combine\n"}} {
					for stream := 7; stream <= 8; stream++ {
						p.kernels(fmt.Sprintf(part.kernels, stream))
						at := p.at
						if p.kernels(part.sends); c.overlap {
							p.at = at
						}
					}
				}
			}
			p.at += 60_000
			p.kernels("4 7 rms_norm_kernel\n40 7 gemm_head\n9 7 argmax_kernel\n4 8 rms_norm_kernel\n40 8 gemm_head\n9 8 argmax_kernel\n")
			p.add(`{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,"ts":%d,"dur":%d}`, step+1, from/1000, (p.at-from)/1000)
			p.at += 20_000
		}
		rows := measure(p.read(t)).Layers
		slices.SortStableFunc(rows, func(a, b summary.Layer) int { return int(a.StartNS - b.StartNS) })
		if len(rows) != 6 {
			t.Fatalf("%s: %d rows, want two in each of three steps", c.sent, len(rows))
		}
		for i, r := range rows {
			want := summary.LayerParts{Attention: 6 * 36_000, MoE: 6 * 63_000, Norm: 6 * 8_000, Communication: c.comm}
			if r.Count != 6 || r.Kind != "moe-layer" || r.MedianNS != c.lengths[i%2] || r.Parts != want {
				t.Errorf("%s: micro-batch %d: %d of %s, %d ns, %+v", c.sent, i%2, r.Count, r.Kind, r.MedianNS, r.Parts)
			}
		}
	}
}

// TestMicroBatchesOfOneStream: if both take turns on one stream, no order of kernels is that of a layer.
func TestMicroBatchesOfOneStream(t *testing.T) {
	var p capture
	for step := range 3 {
		attention, experts := fmt.Sprintf(mixing, 7), fmt.Sprintf(routing, 7)
		p.step(fmt.Sprintf("ProfilerStep#%d", step+1), embedding+strings.Repeat(attention+attention+experts+experts, 6)+sampling)
	}
	s := measure(p.read(t))
	if len(s.Layers) > 0 || s.Issue("layers-interleaved") == nil {
		t.Errorf("%+v, %+v", s.Layers, s.Issues)
	}
}
