package summary

import (
	"cmp"
	"fmt"
	"strings"
)

// A Layer is a part of the model that repeats in one step of one GPU: all layers of one kind in one pass. It is found
// from the order of kernels, so it exists without operators and inside of replays of graphs too.
type Layer struct {
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Step   string `json:"step"` // name of the step; "" if the window has none: then each run through the model has its rows
	Kind   string `json:"kind"` // decoder, attention-layer, moe-layer, and others; "layer" if the kernels do not tell
	Pass   string `json:"pass"` // forward, backward, recompute; "" if it is not known

	Count    int64      `json:"count"`
	StartNS  int64      `json:"start_ns"`        // of the first layer, on the clock of the input
	EndNS    int64      `json:"end_ns"`          // of the last layer
	MedianNS int64      `json:"median_ns"`       // the median length, from the start of a layer to its end
	Parts    LayerParts `json:"parts" unit:"ns"` // GPU time of kernels by what they are for: sums over the layers of the row

	TypicalParts LayerParts `json:"typical_parts"` // of the layer whose length is nearest to the median

	// Index and LengthNS have one element for each layer: its place among all layers of the pass, whatever their
	// kind, and its length.
	Index    []int32 `json:"index,omitempty"`
	LengthNS []int64 `json:"length_ns,omitempty"`

	Odd        []OddLayer `json:"odd"`        // layers that take much longer or shorter than the median, in order
	Confidence float64    `json:"confidence"` // mean similarity of the sequences of kernels, 0 to 1

	// HeadNS is the kernel time of the matrix products behind the last layer of a forward pass: the output layer.
	HeadNS int64 `json:"head_ns,omitempty"`
	// Floor has the least time of parts of this layer, and of the head, as far as it is known.
	Floor []PartFloor `json:"floor,omitempty"`

	// Typical has the kernels of the layer whose length is nearest to the median. Only one step of a kind and pass has
	// it, for pictures.
	Typical []LayerKernel `json:"typical,omitempty"`
}

// LayerParts divide the GPU time of layers, in ns: sums of the durations of kernels over all repeats.
type LayerParts struct {
	Attention     int64 `json:"attention"`
	MLP           int64 `json:"mlp"`
	MoE           int64 `json:"moe"`
	Norm          int64 `json:"norm"`
	Communication int64 `json:"communication"`
	Other         int64 `json:"other"`
}

// An OddLayer is a layer that does not take the time of the others.
type OddLayer struct {
	Index int32  `json:"index"` // as in Index of the row
	NS    int64  `json:"ns"`    // its length
	Part  string `json:"part"`  // the part that differs most from the median layer; "" if it is time without kernels
	// Kernel is the name of the kernels of this part whose time differs most; "" if it is time without kernels.
	Kernel string `json:"kernel,omitempty"`
}

// A LayerKernel is one kernel of a typical layer.
type LayerKernel struct {
	AtNS   int64  `json:"at_ns"` // since the start of the layer
	NS     int64  `json:"ns"`
	Stream int64  `json:"stream"`
	Part   string `json:"part"`
	Name   string `json:"name"`
}

// A PartFloor is the least time in which the hardware could do a part of one layer, or the head.
type PartFloor struct {
	Part     string `json:"part"`      // as in LayerParts, or [HeadPart]
	KernelNS int64  `json:"kernel_ns"` // the time of the kernels whose floor it is
	Bytes    int64  `json:"bytes"`     // that they must move: over the link between GPUs if Bound is "link"
	FLOPs    int64  `json:"flops"`
	NS       int64  `json:"ns"`    // at most KernelNS
	Bound    string `json:"bound"` // what decides most of it: memory, compute or link
	From     string `json:"from"`  // [FloorOfOperators] or [FloorOfModel]
}

// HeadPart is the part of the output layer, which is in no layer.
const HeadPart = "head"

// Each returns the names and times of the parts, in the order of the fields.
func (p *LayerParts) Each() []PathPart {
	return []PathPart{{"attention", p.Attention}, {"mlp", p.MLP}, {"moe", p.MoE}, {"norm", p.Norm},
		{"communication", p.Communication}, {"other", p.Other}}
}

// Sum returns the time of all parts.
func (p *LayerParts) Sum() (ns int64) {
	for _, part := range p.Each() {
		ns = Plus(ns, part.NS)
	}
	return ns
}

func (l *Layer) check() error {
	if l.Count < 1 || l.EndNS < l.StartNS || l.MedianNS < 0 {
		return fmt.Errorf(".count: got %d layers from %d to %d ns", l.Count, l.StartNS, l.EndNS)
	}
	if len(l.Index) != len(l.LengthNS) || len(l.Index) != 0 && int64(len(l.Index)) != l.Count {
		return fmt.Errorf(".index: got %d places and %d lengths, want %d", len(l.Index), len(l.LengthNS), l.Count)
	}
	for _, f := range l.Floor {
		if min(f.KernelNS, f.Bytes, f.FLOPs, f.NS, l.HeadNS) < 0 || f.NS > f.KernelNS {
			return fmt.Errorf(".floor: got %d of %d ns", f.NS, f.KernelNS)
		}
	}
	for _, p := range l.Parts.Each() {
		if p.NS < 0 {
			return fmt.Errorf(".parts.%s: got %d ns, want at least 0", p.Name, p.NS)
		}
	}
	return nil
}

// order is by time within a GPU.
func (l *Layer) order(o *Layer) int {
	return cmp.Or(cmp.Compare(l.StartNS, o.StartNS), cmp.Compare(l.Pass, o.Pass), cmp.Compare(l.Kind, o.Kind))
}

// LayerName returns the name under which a kind of layers is shown, given whether it has a feed-forward network.
func LayerName(kind string, feeds bool) string {
	if rest, ok := strings.CutPrefix(kind, "attention-layer"); ok && feeds {
		return "transformer-layer" + rest
	}
	return kind
}
