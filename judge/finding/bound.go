package finding

import (
	"cmp"
	"slices"

	"assay/internal/unit"
)

// A Bound names the bottleneck of a run, a phase, a step or a kernel. It is a stable id;
// [Bound.Words] has its display words. The empty Bound means that nothing was judged.
type Bound string

// Bounds of timelines.
const (
	BoundHost          Bound = "host"          // the GPU waits for work
	BoundCommunication Bound = "communication" // exposed communication
	BoundCopies        Bound = "copies"        // exposed copies and memsets
	BoundCompute       Bound = "compute"       // also for kernels with counters
	// Memory-bound kernel types take most of the compute time. Also for kernels with counters.
	BoundMemory  Bound = "memory"
	BoundGPU     Bound = "gpu"     // the GPU is busy, and what limits its kernels is not known
	BoundGPUs    Bound = "gpus"    // GPUs of one process wait for each other
	BoundMixed   Bound = "mixed"   // no dominant bottleneck; also for counters and profiles
	BoundUnknown Bound = "unknown" // totals without a timeline, or a withheld verdict: see [Verdict.Abstained]
)

// Bounds of kernels with hardware counters, in addition to [BoundCompute] and [BoundMemory].
const (
	BoundLatency   Bound = "latency"
	BoundBalanced  Bound = "balanced"
	BoundNearLimit Bound = "near-limit"
)

// Bounds of profiles of functions.
const (
	BoundFunction Bound = "function" // a hot function
	BoundWaiting  Bound = "waiting"
	BoundCalls    Bound = "calls" // call overhead
)

// Bounds of memory snapshots and memory timelines.
const (
	BoundOutOfMemory    Bound = "out-of-memory"
	BoundMemoryPressure Bound = "memory-pressure"
	BoundFragmentation  Bound = "fragmentation"
	BoundAllocatorChurn Bound = "allocator-churn"
	BoundMemoryGrowth   Bound = "memory-growth"
	BoundMemoryOwner    Bound = "memory-owner"
	BoundMemoryHealthy  Bound = "memory-healthy"
)

// Bounds of logs, in addition to [BoundCommunication] and [BoundHost].
const (
	BoundGeneration  Bound = "generation" // rollouts
	BoundTraining    Bound = "training"
	BoundRollouts    Bound = "rollouts"  // the trainer waits for rollouts
	BoundTrainer     Bound = "trainer"   // rollouts wait for the trainer
	BoundLogProbs    Bound = "log-probs" // forward passes for log-probabilities, and rewards
	BoundWeightSync  Bound = "weight-sync"
	BoundData        Bound = "data"
	BoundOverhead    Bound = "overhead" // evaluation, checkpoints, engine sleep/wake
	BoundQueue       Bound = "queue"    // requests queue although the KV cache has room
	BoundKVCache     Bound = "kv-cache" // requests queue because the KV cache is full
	BoundPrefill     Bound = "prefill"  // decode waits for prefill
	BoundTransfer    Bound = "transfer" // transfer of KV cache between servers
	BoundUnderLoaded Bound = "under-loaded"
	BoundJobTime     Bound = "job-time"  // most of the time of the job is in no step that counts
	BoundHang        Bound = "hang"      // calls did not complete on all ranks
	BoundStraggler   Bound = "straggler" // a worker is slower than its peers, in timelines without GPU events
)

// BoundMachinesHealthy is the verdict on dumps of machines without a fault.
const BoundMachinesHealthy Bound = "machines-healthy"

// BoundWords are the display words of a bound.
type BoundWords struct {
	Headline string // of a verdict: "host-bound"
	Short    string // in a table column that names limiters: "comm"
	Is       string // after "is", for timelines: "without a dominant bottleneck"
}

// A boundEntry is a bound with its words.
type boundEntry struct {
	bound Bound
	words BoundWords
}

// boundWords has the words of every bound, in the order of docs/json.md. An empty Short or Is means
// that the headline is used.
var boundWords = []boundEntry{
	{BoundHost, BoundWords{Headline: "host-bound", Short: "host"}},
	{BoundCommunication, BoundWords{Headline: "communication-bound", Short: "comm"}},
	{BoundCopies, BoundWords{Headline: "copy-bound", Short: "copies"}},
	{BoundCompute, BoundWords{Headline: "compute-bound", Short: "compute"}},
	{BoundMemory, BoundWords{Headline: "memory-bound", Short: "memory"}},
	{BoundLatency, BoundWords{Headline: "latency-bound", Short: "latency"}},
	{BoundBalanced, BoundWords{Headline: "balanced"}},
	{BoundNearLimit, BoundWords{Headline: "near peak"}},
	{BoundGPU, BoundWords{Headline: "GPU-bound", Short: "GPU"}},
	{BoundGPUs, BoundWords{Headline: "GPUs wait for each other", Short: "other GPU"}},
	{BoundMixed, BoundWords{Headline: "no dominant bottleneck", Short: "none dominant",
		Is: "without a dominant bottleneck"}},
	{BoundFunction, BoundWords{Headline: "hot function"}},
	{BoundWaiting, BoundWords{Headline: "blocked"}},
	{BoundCalls, BoundWords{Headline: "call overhead"}},
	{BoundOutOfMemory, BoundWords{Headline: "out of memory"}},
	{BoundMemoryPressure, BoundWords{Headline: "memory almost full"}},
	{BoundFragmentation, BoundWords{Headline: "memory fragmentation"}},
	{BoundAllocatorChurn, BoundWords{Headline: "allocator churn"}},
	{BoundMemoryGrowth, BoundWords{Headline: "memory growth"}},
	{BoundMemoryOwner, BoundWords{Headline: "one site dominates"}},
	{BoundMemoryHealthy, BoundWords{Headline: "no memory problem"}},
	{BoundGeneration, BoundWords{Headline: "generation-bound", Short: "generation"}},
	{BoundTraining, BoundWords{Headline: "training-bound", Short: "training"}},
	{BoundRollouts, BoundWords{Headline: "waiting for rollouts", Short: "rollouts"}},
	{BoundTrainer, BoundWords{Headline: "rollouts wait for the trainer", Short: "trainer"}},
	{BoundLogProbs, BoundWords{Headline: "bound by log-probs", Short: "log-probs"}},
	{BoundWeightSync, BoundWords{Headline: "bound by weight sync", Short: "weight sync"}},
	{BoundData, BoundWords{Headline: "data-bound", Short: "data"}},
	{BoundOverhead, BoundWords{Headline: "overhead of the step", Short: "overhead"}},
	{BoundQueue, BoundWords{Headline: "queue-bound", Short: "queue"}},
	{BoundKVCache, BoundWords{Headline: "bound by the KV cache", Short: "KV cache"}},
	{BoundPrefill, BoundWords{Headline: "decode waits for prefill", Short: "prefill"}},
	{BoundTransfer, BoundWords{Headline: "bound by KV transfer", Short: "transfer"}},
	{BoundUnderLoaded, BoundWords{Headline: "under-loaded"}},
	{BoundJobTime, BoundWords{Headline: "time of the job is lost", Short: "job time"}},
	{BoundHang, BoundWords{Headline: "hang"}},
	{BoundStraggler, BoundWords{Headline: "slow worker"}},
	{BoundMachinesHealthy, BoundWords{Headline: "no fault found"}},
	{BoundUnknown, BoundWords{Headline: "not enough data", Short: unit.None, Is: "not known"}},
}

// Bounds returns every bound, in the order of docs/json.md.
func Bounds() (out []Bound) {
	for _, w := range boundWords {
		out = append(out, w.bound)
	}
	return out
}

// Words returns the display words of b. It returns false for "" and for an id that this version
// does not know, as from a later version of the schema.
func (b Bound) Words() (BoundWords, bool) {
	i := slices.IndexFunc(boundWords, func(e boundEntry) bool { return e.bound == b })
	if i < 0 {
		return BoundWords{}, false
	}
	w := boundWords[i].words
	w.Short, w.Is = cmp.Or(w.Short, w.Headline), cmp.Or(w.Is, w.Headline)
	return w, true
}

// Is returns the words of b after "is", or the id of a bound that this version does not know.
func (b Bound) Is() string {
	if w, ok := b.Words(); ok {
		return w.Is
	}
	return string(b)
}
