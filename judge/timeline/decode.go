package timeline

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// What limits a decode step while the GPU is busy? Arithmetic cannot if few tokens are computed at once: each
// weight that is read then serves few multiplications. Then it is the bandwidth of the memory, or in kernels of
// a few microseconds the latency. Without the number of tokens it is not known.

// A decoding describes the decode steps of a run.
type decoding struct {
	decodes bool    // they take most of the compute time
	part    float64 // the part of the compute time that they take
	tokens  int64   // the most that a step computes; 0 if it is not known of all
	most    int64   // the most for which arithmetic does not limit, see mostTokens
	steps   int64

	// share is the part of the bandwidth of the memory that the steps use while the GPU works, over the steps whose
	// bandwidth is known; 0 without one. It is evidence only: outputs that do not show efficiency do not measure it.
	share float64

	// memory and flops are the parts of the bandwidth of the memory and of the rate of arithmetic that the steps use
	// while the GPU works, by the configuration of the model; 0 if they are not known of all steps.
	memory, flops float64
}

const (
	// nearly is the share of the compute time that decode steps have in a run that nearly only decodes.
	nearly = 0.9
	// lowestRidge is the lowest number of FLOPs per byte that servers' GPUs can do in 16 bits while they read
	// it from memory: that of the H20. Others can do 120 to 400.
	lowestRidge = 37
	// farBelow is the part of a peak below which it limits no kernel: good kernels that it limits reach 0.6 to 0.9.
	farBelow = 0.4
)

// isDecode reports whether the steps of a kind read all weights for few tokens: of decode, or of speculative
// decoding.
func isDecode(kind string) bool {
	return slices.Contains([]string{decodeKind, "verify", "draft"}, kind)
}

// decodingOf returns what is known about the decode steps of the run. It is measured once.
func decodingOf(c *Evaluator) *decoding {
	if c.decode == nil {
		c.decode = new(decoding)
		c.decode.measure(c)
	}
	return c.decode
}

func (d *decoding) measure(c *Evaluator) {
	var decode, others int64
	unknown := false
	for i := range c.Steps {
		st := &c.Steps[i]
		if !isDecode(st.Kind) || st.Source == summary.SourceLog {
			others += st.Activity.Compute()
			continue
		}
		decode += st.Activity.Compute()
		d.steps++
		d.tokens = max(d.tokens, st.Batch, st.Tokens)
		// Without a number of tokens, only a decode step is known to compute one for each sequence.
		unknown = unknown || st.Batch == 0 || st.Tokens == 0 && st.Kind != decodeKind
	}
	d.part = float64(decode) / float64(max(1, decode+others, c.Total.Compute()))
	if d.decodes = d.part > 0.5; !d.decodes {
		return
	}
	if unknown {
		d.tokens = 0
	}
	d.most = mostTokens(c.Summary)
	used, ns := 0.0, 0.0
	for i := range c.Efficiency.Decode {
		if e := &c.Efficiency.Decode[i]; e.ShareGPU != nil {
			used, ns = used+*e.ShareGPU*float64(e.GPUNS), ns+float64(e.GPUNS)
		}
	}
	if ns > 0 {
		d.share = used / ns
	}
	if int64(len(c.Efficiency.Decode)) >= d.steps {
		d.memory, d.flops = usedOf(c.Efficiency.Decode)
	}
}

// usedOf returns the parts of the memory's bandwidth and of the rate of arithmetic that steps use while the GPU works,
// or 0 if a step has no floor by its model, or only a lower limit of it.
func usedOf(list []summary.EfficiencyDecode) (memory, flops float64) {
	ns := 0.0
	for i := range list {
		m := list[i].Model
		if m == nil || m.Unknown != "" || m.MemoryNS == nil || m.ComputeNS == nil || m.CacheBytes == nil {
			return 0, 0
		}
		memory, flops, ns = memory+float64(*m.MemoryNS), flops+float64(*m.ComputeNS), ns+float64(list[i].GPUNS)
	}
	if ns == 0 {
		return 0, 0
	}
	return memory / ns, flops / ns
}

// inefficient reports whether the kernels reach neither the bandwidth of the memory nor the rate of arithmetic.
func (d *decoding) inefficient() bool {
	return d.part >= nearly && d.memory > 0 && max(d.memory, d.flops) < farBelow
}

// limit says what limits the kernels of a busy GPU, as a sentence.
func (d *decoding) limit() string {
	if !d.inefficient() {
		return "What limits the kernels is not known"
	}
	return fmt.Sprintf("The kernels use %s of the memory bandwidth and %s of the FLOP rate: their efficiency limits them",
		percent(d.memory), percent(d.flops))
}

// mostTokens returns the number of tokens for which a product with a matrix of weights takes half of the
// arithmetic that the GPU can do while it reads the weights, on the GPU with the least. One weight of 2 bytes, or
// of as few as 4 bits, takes 2 operations for each token.
func mostTokens(s *summary.Summary) int64 {
	ridge := 0.0
	for i := range s.Devices {
		one := s.Devices[i].Ridge
		if one == 0 {
			one = lowestRidge
		}
		if ridge == 0 || one < ridge {
			ridge = one
		}
	}
	bytes := 0.5
	if rule.PrecisionOf(s) == "16-bit" {
		bytes = 2
	}
	const half, operations = 0.5, 2
	return int64(half * ridge * bytes / operations)
}

// readsMemory reports whether the bandwidth of the memory limits products and attention of a run that decodes.
func (d *decoding) readsMemory() bool {
	return d.part >= nearly && d.tokens > 0 && d.tokens <= d.most
}

// reads reports whether reading takes the time of a kernel because the run decodes. Latency limits short kernels,
// and attention to a latent vector that many heads share does many operations per byte.
func (d *decoding) reads(c *Evaluator, k summary.Kernel) bool {
	if k.TotalNS/max(1, k.Count) < c.Limits[rule.TinyKernels].Under || !d.readsMemory() {
		return false
	}
	switch k.Category {
	case "gemm", "moe":
		return true
	case "attention", "linear-attention":
		return !strings.Contains(strings.ToLower(k.Name), "mla")
	}
	return false
}

// evidence returns why the memory limits decode steps, or why it is not known.
func (d *decoding) evidence(c *Evaluator) (out []string) {
	switch {
	case d.inefficient() && !movesData(c):
		return []string{fmt.Sprintf("the weights, cache and FLOPs of the model need %s of the time in which the GPU works on decode steps",
			percent(max(d.memory, d.flops)))}
	case d.readsMemory():
		out = append(out, fmt.Sprintf("%s compute at most %s at once: arithmetic does not limit them up to %s",
			label.Plural(d.steps, "decode step"), label.Plural(d.tokens, "token"), unit.Count(d.most)))
	case d.part < nearly:
		out = append(out, fmt.Sprintf("what limits the kernels is not known: %s of the compute time is in decode steps, the rest is not",
			unit.Percent(d.part)))
	case d.tokens == 0:
		out = append(out, "what limits the kernels is not known, because the decode steps do not state their tokens")
	case routes(c):
		out = append(out, "what limits the kernels is not known, because the capture does not state the tokens of each expert")
	default:
		out = append(out, fmt.Sprintf("what limits the kernels is not known: "+
			"decode steps compute up to %s at once, and from %s on arithmetic may be a limit",
			label.Plural(d.tokens, "token"), unit.Count(d.most)))
	}
	if d.share > 0 {
		out = append(out, fmt.Sprintf("they use %s of the memory bandwidth while the GPU works", unit.Percent(d.share)))
	}
	return out
}

// routes reports whether experts take most of the compute kernel time. Each computes some of the tokens of a step.
func routes(c *Evaluator) bool {
	experts := largestOf(c, func(k summary.Kernel) bool { return computes(k) && k.Category == "moe" })
	return experts.Of > largestOf(c, computes).Of/2
}

// ofDecode returns what limits steps or a phase of decoding whose GPU is busy: the memory if it limits most of the
// kernels, else nothing that is known.
func ofDecode(c *Evaluator, kind string, bound finding.Bound) finding.Bound {
	switch {
	case bound != finding.BoundCompute || !isDecode(kind):
		return bound
	case decodingOf(c).part >= nearly && movesData(c):
		return finding.BoundMemory
	}
	return finding.BoundGPU
}
