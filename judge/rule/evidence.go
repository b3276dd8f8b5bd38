package rule

import "assay/judge/finding"

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
func ofEvidence() []Fact {
	return []Fact{
		{Words: []string{"private-pools"}, Meaning: "half of the memory that fragmentation wastes is in private pools, as CUDA graphs have", Found: "a snapshot of GPU memory"},
		{Words: []string{"short-of-memory"}, Meaning: "the allocator released memory because an allocation did not fit", Found: "the history of a snapshot"},
		{Words: []string{"memory"}, Values: []string{"activations", "recomputed-activations", "backward", "optimizer", "parameters", "kv-cache", "communication", "data", "unknown", "other"},
			Meaning: "memory of this kind is much of the peak", Found: "the largest kind of the finding, and others of at least a quarter of it"},
	}
}
