package summary

import (
	"fmt"
	"sync"

	"assay/summary/row"
)

// A MemoryUse is the part of the reserved memory of one device with the same use, at one moment: when an
// allocation failed, else at the peak of the history, else when the snapshot was taken (see
// Snapshot.Moment). Owners and the three parts that no tensor has, rounding, fragmentation and cached, sum
// to the reserved memory.
type MemoryUse struct {
	Owner  string `json:"owner" row:"owner,name"` // see the constants
	By     string `json:"by" row:"by"`            // what tells the owner: "frames", "lifetime", "size" or "allocator"; of "unknown" why none does
	Input  int    `json:"input" row:"input"`
	Rank   int    `json:"rank" row:"rank"`
	Device int64  `json:"device" row:"device"`
	Count  int64  `json:"count" row:"count,sum"` // allocations
	Bytes  int64  `json:"bytes" row:"memory,sum,main"`
}

// MemoryUses describes these rows.
var MemoryUses = sync.OnceValue(func() *row.Kind {
	return row.Describe[MemoryUse]("memory_uses", "owner", "the reserved memory of snapshots",
		row.Meant("owner", "what memory is for", UseActivations),
		row.Meant("by", "what tells the owner, or why none is known", "lifetime"))
})

// The owners of memory.
const (
	UseWeights             = "weights"
	UseGradients           = "gradients"
	UseOptimizer           = "optimizer"
	UseActivations         = "activations"
	UseActivationGradients = "activation-gradients"
	UseKVCache             = "kv-cache"
	UseComm                = "communication"
	UseWorkspaces          = "workspaces"
	UseInputs              = "inputs"
	UseKept                = "kept"     // allocated in a forward pass, and still there in a later one
	UseUnknown             = "unknown"  // not distinguished
	UseRounding            = "rounding" // parts of blocks beyond the requested sizes
	UseFragments           = "fragmentation"
	UseCached              = "cached" // free, and can be released
	UseFree                = "free"   // fragmentation and cached, where the segments do not distinguish them
)

// Values of [MemoryUse.By] of memory that is not distinguished.
const (
	BeforeHistory = "before-history" // it is older than the history, without frames, and its sizes are not those of gradients
	NoStack       = "no-stack"       // it was allocated without a stack, and no lifetime tells more
	OtherFrames   = "other-frames"   // its frames are of no known part of a step
)

// ByWords returns the display text of what tells an owner, or why none is known.
func ByWords(by string) string {
	switch by {
	case BeforeHistory:
		return "older than the history"
	case NoStack:
		return "no stack"
	case OtherFrames:
		return "frames of no known part of a step"
	}
	return by
}

// Allocated reports whether the owner is one of tensors: the others are free memory and rounding.
func (u *MemoryUse) Allocated() bool {
	switch u.Owner {
	case UseRounding, UseFragments, UseCached, UseFree:
		return false
	}
	return true
}

// UseWords returns the display text of an owner.
func UseWords(owner string) string {
	switch owner {
	case UseOptimizer:
		return "optimizer state"
	case UseActivationGradients:
		return "gradients of activations"
	case UseKVCache:
		return "KV cache"
	case UseComm:
		return "communication buffers"
	case UseKept:
		return "kept after a forward pass"
	case UseUnknown:
		return "not distinguished"
	case UseCached:
		return "cached, free"
	case UseFree:
		return "free in segments"
	}
	return owner
}

// A MemoryMoment is the moment for which the owners of a snapshot are given.
type MemoryMoment struct {
	At       string `json:"at"` // "failure", "peak" or "end"
	NS       *int64 `json:"ns,omitempty"`
	Live     int64  `json:"live"`     // allocated; the sum of the owners
	Reserved int64  `json:"reserved"` // at that moment

	// Step is the marked step in which the moment is. Call counts the allocations of the failed stack that were
	// live with the failed one; Calls is the most of them that were live at a time before, the number of layers
	// that run the same line.
	Step  string `json:"step,omitempty"`
	Call  int64  `json:"call,omitempty"`
	Calls int64  `json:"calls,omitempty"`
}

// A MemoryGrowing is how the tensors of the pass that failed differ from those of the last one that fitted. Sizes
// are bytes. All sites that both passes ran have tensors Ratio times as large.
type MemoryGrowing struct {
	Ratio  float64 `json:"ratio"`  // of the sizes of tensors that both passes made
	Fitted int64   `json:"fitted"` // peak of the pass that fitted
	Scaled int64   `json:"scaled"` // the part of it that has other sizes in the pass that failed
	Needs  int64   `json:"needs"`  // what the failed pass needs at its peak, if all of Scaled grows by Ratio
	Error  int64   `json:"error"`  // bytes of the peak that no site tells
}

func (m *MemoryMoment) check() error {
	if m != nil && (m.Live < 0 || m.Reserved < 0) {
		return fmt.Errorf(".moment: got %d and %d bytes, want 0 or more", m.Live, m.Reserved)
	}
	return nil
}
