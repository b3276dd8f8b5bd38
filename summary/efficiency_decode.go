package summary

import (
	"cmp"
	"fmt"
	"math"
)

// An EfficiencyDecode compares one decode step on one GPU with the bandwidth of its memory: the bytes that
// the step must read and write, and the bytes that the memory can move in its time. (Input, Rank, Device,
// StartNS, Number, Name) is its key, as for [Step].
type EfficiencyDecode struct {
	Input   int    `json:"input"`
	Rank    int    `json:"rank"`
	Device  int64  `json:"device"`
	Name    string `json:"name"`
	Number  int64  `json:"number"`
	StartNS int64  `json:"start_ns"`

	Batch  int64 `json:"batch"`            // requests; 0 if it is not known
	Tokens int64 `json:"tokens,omitempty"` // tokens that the step computes, over all requests; 0 if unknown
	Keys   int64 `json:"keys,omitempty"`   // tokens that they attend to: those in the cache, and Tokens

	// WeightBytes has the operands of matrix products that are weights, counted for each call. KVReadBytes
	// is what attention reads from the cache in all layers if it reads all of Keys. KVWrittenBytes is what
	// the step adds to the cache.
	WeightBytes    *int64 `json:"weight_bytes"`
	KVReadBytes    *int64 `json:"kv_read_bytes"`
	KVWrittenBytes *int64 `json:"kv_written_bytes"`
	Layers         int64  `json:"layers,omitempty"` // calls of attention

	WallNS   int64 `json:"wall_ns"`             // length of the step
	GPUNS    int64 `json:"gpu_ns"`              // GPU time of its operations
	Replays  int64 `json:"replays,omitempty"`   // launches of graphs in it
	ReplayNS int64 `json:"replay_ns,omitempty"` // from their first starts to their last ends

	// GBPS is the sum of the three byte counts over WallNS, in 10^9 bytes/s. Share is GBPS over the peak of
	// the memory. ShareGPU uses GPUNS instead of WallNS, and ShareReplay uses ReplayNS if graphs do all of
	// the work. CeilingTokensPerS is the rate in tokens/s at which the memory would be fully used, with one
	// token per request.
	GBPS              *float64 `json:"gbps"`
	Share             *float64 `json:"share" of:"the peak of the memory over wall_ns"`
	ShareGPU          *float64 `json:"share_gpu" of:"the peak of the memory over gpu_ns"`
	ShareReplay       *float64 `json:"share_replay,omitempty" of:"the peak of the memory over replay_ns"`
	CeilingTokensPerS *float64 `json:"ceiling_tokens_per_s"`
	Unknown           string   `json:"unknown,omitempty"` // why Share is null

	DecodeFloor

	// Parts has the contribution of operators outside of graphs. It is nil after replays are joined with
	// captures.
	Parts *DecodeParts `json:"parts,omitempty"`
}

// DecodeParts are the bytes of a decode step that some of its operators move.
type DecodeParts struct {
	Weights int64  `json:"weights,omitempty"`
	Unknown string `json:"unknown,omitempty"` // why the weights of an operator are not known

	Reads  CacheCalls `json:"reads"`
	Writes CacheCalls `json:"writes"`

	HiddenNS int64 `json:"hidden_ns,omitempty"` // GPU time of work that may have weights
	Opaque   bool  `json:"opaque,omitempty"`    // a graph with unknown kernels ran
}

// CacheCalls are the calls that use the cache of keys and values.
type CacheCalls struct {
	Calls    int64 `json:"calls,omitempty"`
	PerToken int64 `json:"per_token,omitempty"` // bytes per token, summed over the calls
	Unknown  int64 `json:"unknown,omitempty"`   // calls whose bytes per token are unknown
}

// Add adds the parts of other operators, multiplied by the number of launches of their graph.
func (p *DecodeParts) Add(o *DecodeParts, launches int64) {
	p.Weights = Plus(p.Weights, Times(o.Weights, launches))
	p.Because(o.Unknown)
	p.Reads.add(&o.Reads, launches)
	p.Writes.add(&o.Writes, launches)
	p.HiddenNS = Plus(p.HiddenNS, o.HiddenNS)
	p.Opaque = p.Opaque || o.Opaque
}

// Because notes why the weights of an operator are not known. The routing of experts replaces other
// reasons, because it concerns the most weights.
func (p *DecodeParts) Because(why string) {
	if p.Unknown == "" || why == routing {
		p.Unknown = why
	}
}

const routing = "routing" // the reason in EfficiencyRow.Unknown

func (c *CacheCalls) add(o *CacheCalls, launches int64) {
	c.Calls, c.PerToken = Plus(c.Calls, Times(o.Calls, launches)), Plus(c.PerToken, Times(o.PerToken, launches))
	c.Unknown = Plus(c.Unknown, Times(o.Unknown, launches))
}

// Times multiplies two numbers that may come from a file and are not checked. A product that overflows is
// math.MaxInt64, as in [Plus].
func Times(n, by int64) int64 {
	if n != 0 && by >= math.MaxInt64/n {
		return math.MaxInt64
	}
	return n * by
}

// Values of [EfficiencyDecode.Unknown] that are not reasons of rows.
const (
	DecodeLengths   = "no lengths"             // no annotation states the lengths of the cache
	DecodeGraph     = "graph replay"           // a graph has no capture
	DecodeHidden    = "no operator"            // work without a formula may have weights
	DecodeAttention = "no attention"           // no call of attention is known
	DecodeCache     = "no shapes of the cache" // neither attention nor writes show the width of all layers
	DecodePeak      = "no peak"
	DecodeOver      = "over peak" // it would be over 100%
)

func (d *EfficiencyDecode) check() error {
	for _, n := range []int64{d.Batch, d.Tokens, d.Keys, d.Layers, d.WallNS, d.GPUNS, d.Replays, d.ReplayNS} {
		if n < 0 {
			return fmt.Errorf("a number is %d, want 0 or more", n)
		}
	}
	if negative(d.WeightBytes) || negative(d.KVReadBytes) || negative(d.KVWrittenBytes) {
		return fmt.Errorf("weight_bytes, kv_read_bytes or kv_written_bytes is negative")
	}
	if (d.Share != nil || d.GBPS != nil) && (d.WallNS == 0 || d.GPUNS == 0) {
		return fmt.Errorf("gbps or share is known, but wall_ns is %d and gpu_ns %d", d.WallNS, d.GPUNS)
	}
	if c := d.CeilingTokensPerS; c != nil && *c == 0 {
		return fmt.Errorf(".ceiling_tokens_per_s: got 0, want more or null")
	}
	return cmp.Or(d.Parts.check(), d.DecodeFloor.check(), checkNumbers(1, "share, share_gpu or share_replay", d.Share, d.ShareGPU, d.ShareReplay), checkNumbers(maxRate, "gbps or ceiling_tokens_per_s", d.GBPS, d.CeilingTokensPerS))
}

// check returns the first violated constraint of p, which may be nil.
func (p *DecodeParts) check() error {
	if p != nil && min(p.Weights, p.Reads.Calls, p.Reads.PerToken, p.Reads.Unknown, p.Writes.Calls, p.Writes.PerToken, p.Writes.Unknown, p.HiddenNS) < 0 {
		return fmt.Errorf("the parts of a decode step have a negative number")
	}
	return nil
}

func (d *EfficiencyDecode) order(o *EfficiencyDecode) int {
	return cmp.Or(cmp.Compare(d.StartNS, o.StartNS), cmp.Compare(d.Number, o.Number), cmp.Compare(d.Name, o.Name))
}
