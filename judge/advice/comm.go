package advice

import (
	"math"
	"slices"
	"strings"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A pattern is the purpose of most communication of a program, inferred from its collectives.
type pattern string

// Each pattern has its own advice.
const (
	sharded  pattern = "sharded"     // all-gathers of parameters and reduce-scatters of gradients
	replicas pattern = "replicas"    // all-reduces of gradients
	tensor   pattern = "tensor"      // all-reduces of activations
	experts  pattern = "experts"     // all-to-alls of tokens
	weights  pattern = "weight sync" // broadcasts of weights to inference engines
	peers    pattern = "peers"       // sends and receives between ranks, as of a pipeline
	unclear  pattern = ""
)

// CommAdvice returns the steps against communication time. Steps for FSDP and DDP are given if that
// software was found, or if the collectives show its pattern.
func CommAdvice(s *summary.Summary) (out []finding.Step) {
	p := patternOf(s)
	switch p {
	case tensor:
		out = []finding.Step{finding.Advise("fuse-all-reduce"), finding.Advise("send-less")}
	case experts:
		out = []finding.Step{finding.Advise("overlap-experts"), finding.Advise("dispatch-less")}
	case weights:
		out = PhaseAdvice("weight-sync")
	case unclear:
		out = []finding.Step{finding.Advise("send-less-between-ranks")}
	}
	stacks := rule.Stacks(s)
	has := func(id string) bool {
		return slices.ContainsFunc(stacks, func(st rule.Stack) bool { return st.ID == id })
	}
	if p == sharded || has("fsdp") {
		out = append(out, shardedAdvice()...)
	}
	if p == replicas || has("ddp") {
		out = append(out, replicaAdvice()...)
	}
	if p == replicas || p == sharded || has("megatron") {
		out = finding.JoinSteps(out, []finding.Step{finding.Advise("send-less")})
	}
	return out
}

func shardedAdvice() []finding.Step {
	return []finding.Step{finding.Advise("fsdp-prefetch"), finding.Advise("fsdp-send-less"),
		finding.Advise("fsdp-forward-prefetch"),
		finding.Advise("fsdp-shard-grad-op"), finding.Advise("fsdp2-prefetch")}
}

func replicaAdvice() []finding.Step {
	return []finding.Step{finding.Advise("ddp-buckets"), finding.Advise("ddp-send-less"), finding.Advise("ddp-no-sync")}
}

// AnyCommAdvice returns the ids of all steps that reduce communication time whatever its cause, or ask for it.
func AnyCommAdvice() (out []string) {
	for _, s := range slices.Concat(shardedAdvice(), replicaAdvice()) {
		out = append(out, s.ID)
	}
	return append(out, "fuse-all-reduce", "send-less", "overlap-experts", "dispatch-less", "send-less-between-ranks", "give-both-sides")
}

// patternOf returns the pattern with most of the communication time. The category of a kernel names
// its collective. Where most kernels have none (RCCL, NCCL's generic kernel), the bytes of matched
// collectives are used instead.
func patternOf(s *summary.Summary) pattern {
	work, all := map[string]int64{}, int64(0)
	for _, k := range s.Kernels {
		if k.Class == "comm" {
			work[k.Category], all = work[k.Category]+k.TotalNS, all+k.TotalNS
		}
	}
	if work["comm-other"] > all/2 {
		work, all = sizes(s.Collectives)
	}
	most := func(categories ...string) bool {
		ns := int64(0)
		for _, c := range categories {
			ns += work[c]
		}
		return all > 0 && ns >= all-ns
	}
	const both = 10 // 1/both of the time in each of the two
	switch {
	case syncsWeights(s) || most("broadcast") && !rule.Trains(s):
		return weights
	case most("all-to-all"):
		return experts
	case most("all-gather", "reduce-scatter") && work["all-gather"] >= all/both && work["reduce-scatter"] >= all/both:
		return sharded
	case most("all-reduce") && rule.Trains(s) && !mostlyTensorParallel(s.Collectives):
		return replicas
	case most("all-reduce"):
		return tensor
	case most("send-recv"):
		return peers
	}
	return unclear
}

// BetweenPeers reports whether most of the communication is sends and receives between two ranks each:
// their time is mostly waiting for the other side, which may be another stage of a pipeline.
func BetweenPeers(s *summary.Summary) bool { return patternOf(s) == peers }

// sizes returns the bytes of collectives by operation, and the bytes of all of them.
func sizes(rows []summary.Collective) (bytes map[string]int64, all int64) {
	bytes = map[string]int64{}
	for _, r := range rows {
		if r.Bytes != nil && *r.Bytes > 0 {
			n := times(*r.Bytes, r.Count+r.Incomplete)
			bytes[r.Op], all = summary.Plus(bytes[r.Op], n), summary.Plus(all, n)
		}
	}
	return bytes, all
}

// mostlyTensorParallel reports whether most collectives are in groups of tensor parallelism.
func mostlyTensorParallel(rows []summary.Collective) bool {
	tensor, all := int64(0), int64(0)
	for _, r := range rows {
		if all += r.Count; r.Parallel == summary.ParallelTensor {
			tensor += r.Count
		}
	}
	return tensor > all-tensor
}

// syncsWeights reports whether most of the exposed communication is in phases that send weights to
// inference engines.
func syncsWeights(s *summary.Summary) bool {
	in, all := int64(0), int64(0)
	for _, p := range s.Phases {
		all += p.Activity.ExposedComm()
		if slices.Contains(strings.Split(p.Path, "/"), "weight-sync") {
			in += p.Activity.ExposedComm()
		}
	}
	return in > all-in
}

// times multiplies two numbers that are not negative; a product that overflows becomes
// math.MaxInt64.
func times(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
