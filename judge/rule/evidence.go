package rule

import (
	"strings"

	"assay/judge/finding"
)

// OfEvidence reports whether a word of conditions is a fact of the evidence of a finding, and not of the run. It is
// true only for the steps that follow from such evidence.
func OfEvidence(word string) bool {
	f, known := factOf(word)
	return known && f.evaluate == nil
}

// fact returns the fact that a term is about.
func (t Term) fact() string {
	if t.Compares {
		return t.Word + "=" + t.Value
	}
	return t.Word
}

// Steps returns the remedies for evidence that shows some facts, "word" or "word=value": those whose
// conditions are about one of them, in the order of the facts and of the entries.
func Steps(facts ...string) (out []finding.Step) {
	for _, fact := range facts {
		for i := range builtInRules {
			for _, r := range builtInRules[i].Remedies {
				for _, t := range r.When.Terms() {
					if t.fact() == fact && !t.Not && OfEvidence(t.Word) {
						out = finding.JoinSteps(out, []finding.Step{finding.Step{ID: r.ID}.For(facts...)})
					}
				}
			}
		}
	}
	return out
}

// ofEvidence returns the facts of the evidence of findings.
func ofEvidence() (out []Fact) {
	for _, f := range []struct{ word, values, meaning, found string }{
		{"idle", "dependency wait os-call unnamed code output engine few-gaps many-gaps", "much of the idle time has this cause, or is in few or many gaps of unknown cause",
			"owners of idle time, and names of the work of the CPU"},
		{"cpu-late", "", "the thread that launches did not run on a CPU, or a server runs no forward pass between batches", "owners of idle time, and logs of servers"},
		{"each-operation", "", "the CPU waits for nearly each GPU operation", "synchronizing calls, and numbers of operations"},
		{"phase", "generation training weight-sync data sleep-wake log-probs reward none other", "the finding is about this phase", "phases of traces and logs"},
		{"kernel", "communication", "the kernel is of this class", "kernels"},
		{"copies", "unknown", "the names of copies do not say their direction", "copies"},
		{"late", "one several in-turn none incomparable", "one rank, several, each in turn or none is late, or they ran different work", "waits in collectives, or sums of communication"},
		{"late-by", "work input host", "all late ranks have this cause in common", "kernels, and causes of idle time, next to those of other ranks"},
		{"absent", "known unknown", "it is known which ranks did not arrive, or of some calls it is not", "dumps of the flight recorder, logs and monitors"},
		{"memory", "activations recomputed-activations backward optimizer parameters kv-cache communication data unknown other",
			"memory of this kind is much of the peak", "the largest kind, and others of at least a quarter of it"},
		{"allocator", "trace snapshot", "what is known of memory is in a trace or log alone, or in a snapshot", "the inputs"},
		{"private-pools", "", "half of the memory that fragmentation wastes is in private pools, as CUDA graphs have", "a snapshot of GPU memory"},
		{"short-of-memory", "", "the allocator released memory because an allocation did not fit", "the history of a snapshot"},
		{"history", "", "a part of the history of allocations is given, or the file is cut", "the history of a snapshot, and issues"},
		{"growth", "", "allocated memory grows from step to step", "the history of a snapshot"},
		{"one-allocation", "", "the allocation that failed needs over half of all memory", "allocations that failed"},
		{"other-process", "", "other processes hold memory of the GPU", "messages of failed allocations"},
		{"limit", "registers shared-memory block-size imbalance dram caches unknown", "this limits the warps or the memory traffic of the kernel", "counters of Nsight Compute"},
		{"part-of-a-wave", "", "the grid has fewer blocks than run at a time", "counters of Nsight Compute"},
		{"stalls", "", "the reasons for which warps stall were collected", "counters of Nsight Compute"},
		{"nothing-collected", "", "no counter says why a kernel reaches neither peak", "counters of Nsight Compute"},
		{"rule-of-ncu", "", "a rule of Nsight Compute estimates a speedup", "its output"},
		{"larger-savings", "", "another kernel has larger estimated savings", "counters of Nsight Compute"},
		{"short-launches", "", "the kernel takes under 10 µs on average", "durations of Nsight Compute"},
		{"matrix-kernel", "", "the kernel is a matrix product, convolution or attention", "the category of its name"},
		{"function", "python built-in compiled allocating", "the function is of this kind, or is listed by the memory that it allocates", "profiles of functions"},
		{"callees", "", "the functions that it calls take most of its time", "profiles of functions"},
		{"repeated", "", "the function is called more than once", "profiles of functions"},
		{"lacks", "other-parts end replay reader gpu rest", "the capture has no GPU time, for this reason", "inputs and issues"},
		{"few-events", "", "a timeline has few GPU events, and records whole calls", "events of GPUs"},
		{"missing", "all some", "all or some of the GPU work of launch calls is missing", "launch calls without GPU work"},
		{"cut-short", "", "the capture may end before the work of its launches", "launch calls without GPU work"},
		{"defect", "clock mixed", "clocks are wrong, or captures are mixed", "issues"},
		{"rewritten", "", "durations or times are such that another program may have changed them", "issues"},
		{"help", "", "the issue says what to do", "issues"},
		{"gpu-total", "", "the table states a total GPU time", "tables of torch.profiler"},
		{"waits", "idle busy", "the GPU is idle or busy while the CPU waits", "sums of calls and GPU work in tables"},
		{"logged-steps", "", "a log has the steps, and no trace shows what ran in them", "the inputs"},
		{"reference", "", "a reference model computes log-probs", "timers of trainers"},
		{"single-calls", "", "single calls take half of the time of allocation or more, or their times are not known", "sums of calls in tables"},
		{"longer-responses", "", "responses get longer with the steps", "logs of trainers"},
		{"timer", "pipeline", "a timer of sends and receives between pipeline stages takes much of the step", "logs of trainers"},
	} {
		one := Fact{Words: []string{f.word}, Meaning: f.meaning, Found: f.found}
		if f.values != "" {
			one.Values = strings.Fields(f.values)
		}
		out = append(out, one)
	}
	return out
}
