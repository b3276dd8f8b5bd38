package tracegen

import "strconv"

// The model of trainingStep: a decoder of a given depth.
const (
	batch  = 4
	tokens = 256
	width  = 4096
	vocab  = 32000
)

// trainingStep returns a step of a model with the given number of layers and
// sharded parameters: they are gathered layer by layer in the forward pass,
// gradients are scattered in the backward pass, and their norm is reduced over
// all ranks at the end. The gradients of a layer take wait longer than the
// computation that overlaps them; those of the last one, which nothing
// overlaps, take ten times that.
func trainingStep(n names, layers int, wait int64) []Segment {
	t := &training{builder: newBuilder(), n: n, wait: wait}
	t.phase = "data_loading"
	t.host(850*us, "", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
	t.segment(36_480, copyOp(hostToDevicePinned, computeStream, batch*tokens*8))
	t.phase = "forward"
	t.forward(layers)
	t.phase = "backward"
	t.backward(layers)
	t.phase = "Optimizer.step#AdamW.step"
	t.optimizer()
	t.phase = ""
	t.segment(2_240, copyOp(deviceToHostPageable, computeStream, 4))
	t.host(60*us, "cudaStreamSynchronize", "aten::item", "aten::_local_scalar_dense")
	t.idle(40 * us)
	return t.segments
}

// A training builds a step. Between two kernels the device is idle for a short
// time, as without graphs.
type training struct {
	*builder
	n       names
	wait    int64
	pending []pair
}

// A pair is a forward op with a future backward op.
type pair struct {
	seq  int
	node string
}

func (t *training) run(ns int64, op Op) {
	op.Stream = computeStream
	t.segment(ns, op)
	t.idle(960)
}

// forwardOp adds a kernel whose operator autograd records as node.
func (t *training) forwardOp(ns int64, kernel, node string, module []string, dims [][]int64, host ...string) {
	t.seq++
	t.pending = append(t.pending, pair{t.seq, node})
	t.run(ns, Op{Name: kernel, Host: host, Seq: t.seq, Module: module, Dims: dims})
}

// backwardOp adds a kernel of the backward pass for the newest forward op. If
// more is set, another kernel of the same node follows.
func (t *training) backwardOp(ns int64, kernel, op string, dims [][]int64, more bool) {
	p := t.pending[len(t.pending)-1]
	seq := p.seq
	if more {
		seq = 0 // the arrow ends at the node's last kernel
	} else {
		t.pending = t.pending[:len(t.pending)-1]
	}
	t.run(ns, Op{
		Name: kernel, Backward: true, Seq: seq, Dims: dims,
		Host: []string{"autograd::engine::evaluate_function: " + p.node, p.node, op},
	})
}

func (t *training) forward(layers int) {
	model := []string{"Decoder_0"}
	hidden := [][]int64{{batch, tokens, width}}
	t.forwardOp(21_700, t.n.embedding, "EmbeddingBackward0", append(model, "Embedding_0"),
		[][]int64{{vocab, width}, {batch, tokens}}, "aten::embedding", "aten::index_select")
	for l := range layers {
		t.forwardLayer(l, hidden)
	}
	t.stopAll()
	t.forwardOp(18_900, t.n.normForward, "NativeLayerNormBackward0", append(model, "LayerNorm_"+strconv.Itoa(2*layers)),
		hidden, "aten::layer_norm", "aten::native_layer_norm")
	t.forwardOp(412_600, t.n.gemmHead, "MmBackward0", append(model, "Linear_"+strconv.Itoa(4*layers)),
		[][]int64{{batch * tokens, width}, {width, vocab}}, "aten::linear", "aten::matmul", "aten::mm")
	logits := [][]int64{{batch * tokens, vocab}}
	t.forwardOp(96_300, t.n.softmax, "LogSoftmaxBackward0", nil, logits, "aten::cross_entropy_loss", "aten::log_softmax", "aten::_log_softmax")
	t.forwardOp(7_100, t.n.loss, "NllLossBackward0", nil, logits, "aten::cross_entropy_loss", "aten::nll_loss_nd", "aten::nll_loss_forward")
}

// forwardLayer adds a decoder layer. During its computation the parameters of
// the next layer are gathered; they arrive before it is done.
func (t *training) forwardLayer(l int, hidden [][]int64) {
	layer := "DecoderLayer_" + strconv.Itoa(l)
	in := func(kind string, i int) []string {
		return []string{"Decoder_0", layer, kind + "_" + strconv.Itoa(i)}
	}
	linear := func(out int64) [][]int64 { return [][]int64{{out}, {batch * tokens, width}, {width, out}} }
	vary := int64(l%7) * 310 // layers take slightly different times
	t.stopAll()
	t.start(allGather(t.n, 12*width*width/8))
	t.forwardOp(18_900+vary, t.n.normForward, "NativeLayerNormBackward0", in("LayerNorm", 2*l), hidden, "aten::layer_norm", "aten::native_layer_norm")
	t.forwardOp(148_200+vary, t.n.gemmQKV, "AddmmBackward0", in("Linear", 4*l), linear(3*width), "aten::linear", "aten::addmm")
	heads := [][]int64{{batch, 32, tokens, 128}, {batch, 32, tokens, 128}, {batch, 32, tokens, 128}}
	t.forwardOp(92_700+vary, t.n.attention, "ScaledDotProductFlashAttentionBackward0", in("Attention", l), heads,
		"aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention", "aten::_flash_attention_forward")
	t.forwardOp(51_400+vary, t.n.gemmProj, "AddmmBackward0", in("Linear", 4*l+1), linear(width), "aten::linear", "aten::addmm")
	t.stopAll()
	t.forwardOp(12_300, t.n.add, "AddBackward0", []string{"Decoder_0", layer}, append(hidden, hidden...), "aten::add")
	t.forwardOp(18_900+vary, t.n.normForward, "NativeLayerNormBackward0", in("LayerNorm", 2*l+1), hidden, "aten::layer_norm", "aten::native_layer_norm")
	t.forwardOp(197_800+vary, t.n.gemmUp, "AddmmBackward0", in("Linear", 4*l+2), linear(4*width), "aten::linear", "aten::addmm")
	t.forwardOp(34_600, t.n.activation, "GeluBackward0", in("GELU", l), [][]int64{{batch, tokens, 4 * width}}, "aten::gelu")
	t.forwardOp(203_100+vary, t.n.gemmDown, "AddmmBackward0", in("Linear", 4*l+3), linear(width), "aten::linear", "aten::addmm")
	t.forwardOp(12_300, t.n.add, "AddBackward0", []string{"Decoder_0", layer}, append(hidden, hidden...), "aten::add")
}

func (t *training) backward(layers int) {
	logits := [][]int64{{batch * tokens, vocab}}
	t.segment(1_900, memsetOp(4<<20))
	t.backwardOp(9_700, t.n.fill, "aten::nll_loss_backward", logits, false)
	t.backwardOp(121_500, t.n.softmaxBackward, "aten::_log_softmax_backward_data", logits, false)
	t.backwardOp(401_300, t.n.gemmGradInput, "aten::mm", [][]int64{{batch * tokens, vocab}, {vocab, width}}, true)
	t.backwardOp(398_800, t.n.gemmGradWeight, "aten::mm", [][]int64{{vocab, batch * tokens}, {batch * tokens, width}}, false)
	hidden := [][]int64{{batch, tokens, width}}
	t.backwardOp(37_200, t.n.normBackward, "aten::native_layer_norm_backward", hidden, false)
	for l := layers - 1; l >= 0; l-- {
		t.backwardLayer(l, hidden)
		t.stopAll()
		scatter := reduceScatter(t.n, 12*width*width)
		scatter.Backward = true
		t.start(scatter)
	}
	t.backwardOp(44_900, t.n.reduce, "aten::embedding_dense_backward", hidden, false)
	// No computation is left to overlap the last gradients.
	t.idle(10 * t.wait)
	t.stopAll()
	t.idle(3 * us)
}

// backwardLayer adds the backward pass of forwardLayer, in reverse. The
// gradients of the layer above are scattered at the same time and take longer
// than this layer does; the difference is exposed.
func (t *training) backwardLayer(l int, hidden [][]int64) {
	vary := int64(l%5) * 420
	grad := func(in, out int64) [][]int64 { return [][]int64{{batch * tokens, out}, {out, in}} }
	linear := func(ns, in, out int64) {
		t.backwardOp(ns+vary, t.n.gemmGradInput, "aten::mm", grad(in, out), true)
		t.backwardOp(ns-vary, t.n.gemmGradWeight, "aten::mm", grad(out, in), true)
		t.backwardOp(8_800, t.n.reduce, "aten::sum", grad(in, out), false)
	}
	t.backwardOp(12_100, t.n.add, "aten::add_", hidden, false)
	linear(201_700, 4*width, width)
	t.backwardOp(49_300, t.n.activationBackward, "aten::gelu_backward", [][]int64{{batch, tokens, 4 * width}}, false)
	linear(196_400, width, 4*width)
	t.backwardOp(37_200, t.n.normBackward, "aten::native_layer_norm_backward", hidden, false)
	t.backwardOp(12_100, t.n.add, "aten::add_", hidden, false)
	linear(52_800, width, width)
	t.backwardOp(243_900+vary, t.n.attentionBackward, "aten::_flash_attention_backward", hidden, false)
	linear(146_500, width, 3*width)
	t.backwardOp(37_200, t.n.normBackward, "aten::native_layer_norm_backward", hidden, false)
	t.idle(t.wait + vary)
}

func (t *training) optimizer() {
	t.start(allReduce(t.n, 1))
	t.idle(24_600)
	t.stopAll()
	t.idle(2 * us)
	for range 3 {
		t.run(88_400, Op{Name: t.n.gradNorm, Host: []string{"aten::_foreach_norm"}})
	}
	for range 6 {
		t.run(141_700, Op{Name: t.n.optimizer, Host: []string{"Optimizer.step#AdamW.step", "aten::_fused_adamw_"}})
	}
}
