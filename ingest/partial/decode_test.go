package partial

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/summary"
)

// A server decodes 4 requests with 100 tokens in the cache: 2 layers of 2 key heads of 16.
const (
	decoded4 = "execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk100sqsq4sqsk100)"

	bf16   = `"c10::BFloat16"`
	bf16x4 = bf16 + "," + bf16 + "," + bf16 + "," + bf16
)

// decoder returns the operators of two layers. The cache has elements of a type.
func decoder(cache string) (out []node) {
	for range 2 {
		out = append(out,
			node{kernel: "gemm_a", op: "aten::mm", dims: "[[4,64],[64,128]]", ns: 3000},
			node{kernel: "reshape_and_cache_flash_kernel", op: "_C_cache_ops::reshape_and_cache_flash", dims: "[[4,2,16],[4,2,16],[50,8,2,16],[50,8,2,16],[4]]",
				types: "[" + bf16 + "," + bf16 + "," + cache + "," + cache + `,"long int"]`, ns: 1000},
			node{kernel: "kernel_unified_attention_2d", op: "vllm::unified_attention_with_output", dims: "[[4,4,16],[4,2,16],[4,2,16],[4,4,16]]", types: "[" + bf16x4 + "]", ns: 2000},
			node{kernel: "gemm_b", op: "aten::mm", dims: "[[4,64],[64,64]]", ns: 2000},
		)
	}
	return out
}

// head is the product with the vocabulary, which no graph has.
var head = node{kernel: "gemm_head", op: "aten::mm", dims: "[[4,64],[64,1000]]", ns: 4000}

// forward launches operators without a graph.
func (g *graphTrace) forward(nodes ...node) {
	for _, n := range nodes {
		g.ns += 1000
		if n.op != "" {
			g.operator(&n, 900)
		}
		g.call("hipLaunchKernel", "")
		g.run(n.kernel, n.ns, 0)
	}
}

// decodes records one decode step below an annotation: a graph, if there is one, and what
// runs outside of it.
func decodes(note string, graph []node, eager ...node) *graphTrace {
	g := new(graphTrace)
	start := g.ns
	if graph != nil {
		g.replay("", "", graph, 0)
	}
	g.forward(eager...)
	g.event("user_annotation", note, start, g.ns-start+1000, false, "")
	return g
}

// decodeOf joins traces that have one decode step.
func decodeOf(t *testing.T, traces ...*graphTrace) summary.EfficiencyDecode {
	t.Helper()
	s := joined(t, traces...)
	checkParts(t, s)
	if len(s.Efficiency.Decode) != 1 {
		t.Fatalf("%+v: want one decode step", s.Efficiency.Decode)
	}
	return s.Efficiency.Decode[0]
}

func captureOf(note string, nodes []node) *graphTrace {
	g := new(graphTrace)
	g.capture(note, nodes)
	return g
}

// TestDecode: the bytes of a step are those of its products' second operands, of the keys and
// values of 100 tokens, and of those of 4, in two layers, whether graphs replay them or not.
func TestDecode(t *testing.T) {
	const (
		layers  = 2 * 2 * (64*128 + 64*64)
		outside = 2 * 64 * 1000
		token   = 2 * 2 * (2 * 16) * 2 // layers, keys and values, heads of 16, bytes
	)
	for _, c := range []struct {
		name                   string
		traces                 []*graphTrace
		weights, read, written int64
		gpu                    int64
		replayed, ceiling      bool
	}{
		{"graph and head", []*graphTrace{captureOf("capture_4_FULL", decoder(bf16)), decodes(decoded4, decoder(""), head)}, layers + outside, 100 * token, 4 * token, 20_000, false, true},
		{"graph", []*graphTrace{captureOf("capture_4_FULL", decoder(bf16)), decodes(decoded4, decoder(""))}, layers, 100 * token, 4 * token, 16_000, true, true},
		{"no graph", []*graphTrace{decodes(decoded4, nil, append(decoder(bf16), head)...)}, layers + outside, 100 * token, 4 * token, 20_000, false, true},
		{"cache of one byte", []*graphTrace{decodes(decoded4, nil, decoder(`"c10::Float8_e4m3fnuz"`)...)}, layers, 50 * token, 2 * token, 16_000, false, true},
		{"several tokens", []*graphTrace{decodes("execute_8_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq8sk100sqsq16sqsk200)", nil, decoder(bf16)...)}, layers, 100 * token, 8 * token, 16_000, false, false},
	} {
		d := decodeOf(t, c.traces...)
		if d.Unknown != "" || d.WeightBytes == nil || *d.WeightBytes != c.weights || *d.KVReadBytes != c.read || *d.KVWrittenBytes != c.written || d.GPUNS != c.gpu || d.Layers != 2 || d.Batch != 4 || d.Parts != nil {
			t.Errorf("%s: %+v", c.name, d)
			continue
		}
		bytes := float64(c.weights + c.read + c.written)
		equal := func(what string, got *float64, want float64, known bool) {
			if (got != nil) != known || known && math.Abs(*got/want-1) > 1e-9 {
				t.Errorf("%s: %s is %v, want %v, known: %v", c.name, what, got, want, known)
			}
		}
		equal("GB/s", d.GBPS, bytes/float64(d.WallNS), true)
		equal("share", d.Share, bytes/float64(d.WallNS)/5325, true)
		equal("share of GPU time", d.ShareGPU, bytes/float64(c.gpu)/5325, true)
		equal("share of replays", d.ShareReplay, bytes/float64(c.gpu)/5325, c.replayed) // nodes follow each other
		equal("ceiling", d.CeilingTokensPerS, 4*5325e9/bytes, c.ceiling)
		if d.WallNS < c.gpu {
			t.Errorf("%s: the step takes %d ns, its work %d", c.name, d.WallNS, c.gpu)
		}
	}
}

// TestDecodeUnknown: if a part of the bytes is not known, the step has no share, and says why.
func TestDecodeUnknown(t *testing.T) {
	without := func(op string, only int) []node {
		return slices.DeleteFunc(decoder(bf16), func(n node) bool {
			if strings.Contains(n.op, op) {
				only--
				return only >= 0
			}
			return false
		})
	}
	with := func(n node) []node { return append(decoder(bf16), n) }
	graph := decoder("")
	for _, c := range []struct {
		name          string
		traces        []*graphTrace
		want          string
		weights, keys bool // whether these are known
	}{
		{"no lengths", []*graphTrace{decodes("step[DECODE bs=4]", nil, decoder(bf16)...)}, summary.DecodeLengths, true, false},
		{"lengths of vLLM", []*graphTrace{decodes("execute_context_0(0)_generation_4(4)", nil, decoder(bf16)...)}, summary.DecodeLengths, true, false},
		{"lengths beyond 63 bits", []*graphTrace{decodes("execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk9000000000000000000sqsq4sqsk9)", nil, decoder(bf16)...)}, "too large a number", true, false},
		{"no capture", []*graphTrace{decodes(decoded4, graph, head)}, summary.DecodeGraph, false, false},
		{"capture of another size", []*graphTrace{captureOf("capture_8_FULL", decoder(bf16)), decodes(decoded4, graph)}, summary.DecodeGraph, false, false},
		{"no attention", []*graphTrace{decodes(decoded4, nil, without("attention", 2)...)}, summary.DecodeAttention, true, false},
		{"a layer without cache", []*graphTrace{decodes(decoded4, nil, without("cache", 1)...)}, summary.DecodeCache, true, false},
		{"experts", []*graphTrace{decodes(decoded4, nil, with(node{kernel: "fused_moe_kernel", op: "vllm::moe_forward", dims: "[[4,64],[4,8]]", ns: 1000})...)}, "routing", false, true},
		{"a product of two activations or weights", []*graphTrace{decodes(decoded4, nil, with(node{kernel: "gemm_c", op: "aten::bmm", dims: "[[2,4,64],[2,64,64]]", ns: 1000})...)}, "no formula", false, true},
		{"a product without a formula", []*graphTrace{decodes(decoded4, nil, with(node{kernel: "cutlass_80_gemm_kernel", op: "my::op", dims: "[[4,64],[64,64]]", ns: 10})...)}, "no formula", false, true},
		{"an operator without a formula", []*graphTrace{decodes(decoded4, nil, with(node{kernel: "my_kernel", op: "my::op", dims: "[[4,64],[64,64]]", ns: 1000})...)}, summary.DecodeHidden, false, true},
		{"no operator", []*graphTrace{decodes(decoded4, nil, with(node{kernel: "my_kernel", ns: 1000})...)}, summary.DecodeHidden, false, true},
		{"faster than the memory", []*graphTrace{decodes(decoded4, nil, with(node{kernel: "gemm_c", op: "aten::mm", dims: "[[4,100000],[100000,10000]]", ns: 1000})...)}, summary.DecodeOver, true, true},
	} {
		d := decodeOf(t, c.traces...)
		if d.Unknown != c.want || d.Share != nil || d.ShareGPU != nil || d.GBPS != nil || d.CeilingTokensPerS != nil || (d.WeightBytes != nil) != c.weights || (d.KVReadBytes != nil) != c.keys {
			t.Errorf("%s: %+v, want unknown for %q", c.name, d, c.want)
		}
	}
	// What takes less than a hundredth of the time is no reason.
	if d := decodeOf(t, decodes(decoded4, nil, with(node{kernel: "my_kernel", ns: 100})...)); d.Share == nil {
		t.Errorf("a short kernel: %+v", d)
	}
}

// TestDecodeOfCorpus: a server of a model of 36 layers with 8 key heads of 128 decodes 32
// requests of 32,785 tokens together. Its graph spans 9.931 ms and has kernels for 9.656 ms.
func TestDecodeOfCorpus(t *testing.T) {
	root := test.Corpus(t, "kineto/tracelens/inference/sglang_decode")
	s := Join([]Part{measuredFile(t, filepath.Join(root, "capture_traces", "bs_32_rank0.json.gz")), measuredFile(t, filepath.Join(root, "sglang_Qwen3-8B_decode.json.gz"))})
	if len(s.Efficiency.Decode) != 1 || s.Efficiency.Decode[0].Share == nil || s.Efficiency.Decode[0].ShareReplay == nil {
		t.Fatalf("%+v", s.Efficiency.Decode)
	}
	d := s.Efficiency.Decode[0]
	// One layer: q, k and v; the output; gate and up; down.
	const (
		hidden, inner, heads, keyHeads, width, vocabulary = 4096, 12288, 32, 8, 128, 151936

		layer   = hidden*(heads+2*keyHeads)*width + heads*width*hidden + 2*hidden*inner + inner*hidden
		weights = 2 * (36*layer + hidden*vocabulary)
		keys    = 36 * 32785 * keyHeads * width * 2 * 2
	)
	if weights != 15_136_194_560 || keys != 4_834_344_960 || *d.WeightBytes != weights || *d.KVReadBytes != keys || *d.KVWrittenBytes != keys/32785*32 {
		t.Errorf("%+v, want %d bytes of weights and %d of keys and values", d, int64(weights), int64(keys))
	}
	bytes := float64(*d.WeightBytes + *d.KVReadBytes)
	if ms := float64(d.ReplayNS) / 1e6; math.Abs(ms-9.931) > 0.001 || math.Abs(bytes/float64(d.ReplayNS)-2011) > 1 || math.Abs(*d.ShareReplay-0.378) > 0.0005 {
		t.Errorf("the graph spans %.4f ms, %.1f GB/s, %v", ms, bytes/float64(d.ReplayNS), *d.ShareReplay)
	}
	if share := bytes / float64(s.Efficiency.Replays[0].GPUNS) / 5325; math.Abs(share-0.388) > 0.0005 || *d.ShareGPU > share+0.0002 || *d.Share >= *d.ShareReplay {
		t.Errorf("over kernel time %v; of the step %v and %v", share, *d.ShareGPU, *d.Share)
	}
}

// TestDecodeOfSaved: captures and steps that were written and read are joined as others are, and
// files with negative numbers are refused.
func TestDecodeOfSaved(t *testing.T) {
	parts := func() []Part {
		return measuredGraphs(t, captureOf("capture_4_FULL", decoder(bf16)), decodes(decoded4, decoder(""), head))
	}
	var read []Part
	for _, p := range parts() {
		text := mustJSON(t, p.Summary)
		s, err := summary.Read(bytes.NewReader(text), "saved")
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, Part{Summary: s})
		for _, member := range []string{`"weights":`, `"launches":`} {
			bad := bytes.Replace(text, []byte(member), []byte(member+"-"), 1)
			if _, err := summary.Read(bytes.NewReader(bad), "bad"); err == nil && bytes.Contains(text, []byte(member)) {
				t.Errorf("a negative number of %s is read", member)
			}
		}
	}
	got, want := Join(read), Join(parts())
	if want.Efficiency.Decode[0].Share == nil || !bytes.Equal(mustJSON(t, got.Efficiency.Decode), mustJSON(t, want.Efficiency.Decode)) || !bytes.Equal(mustJSON(t, got.Efficiency.Steps), mustJSON(t, want.Efficiency.Steps)) {
		t.Errorf("%+v, want %+v", got.Efficiency.Decode, want.Efficiency.Decode)
	}
}
