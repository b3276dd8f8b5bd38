package words

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/summary/view/efficiency"
)

// NoShapes is the reason of operators whose input dimensions were not recorded.
const NoShapes = "no shapes"

// Bound returns the display name of an operator's bound, or "" if it is not known.
func Bound(id string) string {
	return wordOr(map[string]string{"link": "link (host copy)"}, id, 16)
}

// PeakSource returns the display name of the source of a GPU's peaks.
func PeakSource(id string) string {
	return wordOr(map[string]string{
		"": "sources differ", "table": "from data sheets", "nsys": "from the export", "capture": "from the capture",
		"estimated": "estimated from SMs and clock", "user": "given by the user",
	}, id, 30)
}

// A Reason is why FLOPs or bytes are unknown, and the remedy.
type Reason struct {
	Text   string
	Remedy string // "" if there is none
}

// Unknown returns the display text of a reason of unknown FLOPs or bytes. The id is from a row of a
// summary.
func Unknown(id string) Reason {
	known := map[string]Reason{
		NoShapes:                 {"no input shapes", "record with record_shapes=True"},
		"no values of arguments": {"no values of arguments", "record with PyTorch 2.5 or later and record_shapes=True"},
		"no types of tensors":    {"no types of tensors (NVTX ranges)", "record with torch.profiler and record_shapes=True"},
		"type of a list":         {"type of a list of tensors not recorded", ""},
		"lengths on the GPU":     {"sequence lengths only in GPU memory", ""},
		"routing":                {"expert routing not recorded", ""},
		"no formula":             {"no formula for the operator", ""},
		"graph replay": {"CUDA graph replay",
			"AMD: also give the trace of the capture of the graphs, with record_shapes=True; NVIDIA: record steps without graphs"},
		"too large a number":   {"FLOPs or bytes over 2^63: the dimensions are wrong", ""},
		"no duration":          {"kernels without a duration", ""},
		"unexpected arguments": {"arguments do not fit the formula", ""},
		"compiled region":      {"compiled region without shapes", "record with record_shapes=True and a recent PyTorch"},
		"communication":        {"communication", ""},
		"not stated":           {"not stated by XLA: custom calls, loops, copies in flight", "give the FLOPs of a step (--model-flops 4.2e14,bf16)"},
		"no peak": {"no peak of this GPU for the type",
			"give the peaks of the GPU, for example --set-peak bf16=989,hbm=3350 (10^12 FLOP/s, 10^9 bytes/s)"},
		"over a peak": {"faster than a peak: the peak, the shapes or the times are wrong",
			"check the peaks of the GPU (\"assay help peaks\")"},
		"no operator": {"no operator", "start the profiler before the work is launched, and record the CPU too"},
		"":            {"not stated", ""},
	}
	if r, ok := known[id]; ok {
		return r
	}
	return Reason{Text: wordOr(nil, id, 40)}
}

// Utilization prints MFU or HFU with its limits.
func Utilization(r efficiency.Range) string {
	percent := func(v float64) string {
		const parts = 1e9
		return unit.Share(int64(min(v, 1e6)*parts), parts)
	}
	if r.Unknown == 0 {
		return percent(r.Least)
	}
	if least := percent(r.Least); strings.HasPrefix(least, "<") {
		return "at most " + percent(r.Most)
	}
	return "at least " + percent(r.Least) + " and at most " + percent(r.Most)
}

// Link returns the name of a link, or "" if it is not known.
func Link(id string) string {
	return wordOr(map[string]string{"pcie": "PCIe", "c2c": "NVLink-C2C", "link": "NVLink or xGMI", "hbm": "GPU memory"}, id,
		16)
}

// NotPlaced states how many operators a roofline does not show, or returns "".
func NotPlaced(not efficiency.NotPlaced, total int64) string {
	var parts []string
	if not.Nowhere > 0 {
		parts = append(parts, fmt.Sprintf("%s without arithmetic or with unknown FLOPs or bytes (%s of GPU time)",
			label.Plural(int64(not.Nowhere), "operator"), unit.Share(not.NowhereNS, total)))
	}
	if not.Smaller > 0 {
		parts = append(parts, fmt.Sprintf("%s with less GPU time (together %s)",
			label.Plural(int64(not.Smaller), "operator"), unit.Share(not.SmallerNS, total)))
	}
	if parts == nil {
		return ""
	}
	return "Not drawn: " + strings.Join(parts, ", ") + "."
}

// DecodeUnknown returns why the bandwidth of a decode step is unknown. The id is from a row of a summary.
func DecodeUnknown(id string) Reason {
	known := map[string]Reason{
		"no lengths": {"no annotation states the lengths of the cache",
			"record with the annotations of TraceLens' patches"},
		"no operator":            {"operators without a formula, or work without an operator, may have weights", ""},
		"no attention":           {"no operator of attention is known", ""},
		"no shapes of the cache": {"the shapes of the cache are not recorded for all layers", ""},
		"no formula":             {"weights of a matrix product are unknown", ""},
		"no peak":                {"the bandwidth of the memory is unknown", "give --set-peak hbm=GB/s"},
		"over peak":              {"it would be over 100%: the shapes, the lengths, the times or the peak are wrong", ""},
	}
	if r, ok := known[id]; ok {
		return r
	}
	return Unknown(id)
}

// Unmatched returns why the operators of a graph replay are unknown.
func Unmatched(id string) string {
	return wordOr(map[string]string{
		"no capture":         "no capture among the inputs has the same kernels",
		"no kernel names":    "the captures do not name their kernels, as those of NVIDIA GPUs; record steps without graphs (vLLM: --enforce-eager, SGLang: --disable-cuda-graph)",
		"batch size":         "captures have the same kernels, but the batch size of capture or replay differs or is not recorded",
		"captures differ":    "several captures have the same kernels and different operators",
		"concurrent kernels": "kernels of the graph ran at the same time", "too many captures": "too many captures",
		"too many nodes": "too many graphs", "too many rows": "too many operators",
		"node unknown":         "the making of the node is not recorded (start to record before the program captures the graph)",
		"node of no operator":  "no operator was open when the node was made",
		"node made repeatedly": "different operators made a node with this ID",
		"node copied":          "the node is a copy, and its original is not recorded",
		"node circular":        "copies of nodes refer to each other in a circle",
		"graph updated":        "the program updates graphs after it made them",
		"nodes incomplete":     "the export is incomplete or has too many nodes",
	}, id, 40)
}

// FloorUnknown returns why the floor of a decode step is unknown. The id is from a row of a summary, or the
// reason why GPUs cannot divide the model.
func FloorUnknown(id string) Reason {
	known := map[string]Reason{
		"no requests":    {"the steps do not state their number of requests", "give --batch N"},
		"no parallelism": {"the capture communicates, and does not say how GPUs divide the model", "give --parallel tp=N"},
		"no peak":        {"the bandwidth of the memory is unknown", "give --set-peak hbm=GB/s"},
		"several passes": {"a step runs the layers of the model several times, as a prompt and the tokens after it do", "make each decode step a step of the profiler (prof.step())"},
		"little work":    {"the recorded GPU work of a step takes less time than this model needs", "record steps with all of their GPU work, not the capture of a graph"},
		"other layers":   {"no kernel runs once in each layer of this model", "give the config.json of the model that ran"},
		"other model":    {"operators of the capture have other weights than this model", "give the config.json of the model that ran"},
	}
	if r, ok := known[id]; ok {
		return r
	}
	return Reason{Text: label.Clip(label.Clean(id), 80)}
}

// FloorFrom returns where the division of a model over GPUs is from.
func FloorFrom(id string) string {
	return wordOr(map[string]string{"user": "--parallel", "log": "as the log says", "groups": "as the process groups say", "alone": "one GPU, which communicated nothing"}, id, 20)
}

// FloorPart returns the name of a part of the floor of a decode step.
func FloorPart(id string) string {
	return wordOr(map[string]string{"attention": "attention projections", "mlp": "MLP", "experts": "routed experts", "kv cache": "KV cache"}, id, 24)
}
