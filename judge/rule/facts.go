package rule

import (
	"fmt"
	"slices"
	"strings"

	"assay/summary"
)

// A When is a condition: terms separated by commas, all of which must be true. A term is "word",
// "!word", "word=value" or "word!=value"; the words are those of [FactsTable]. An empty condition
// is true.
type When string

// A term is one term of a condition. Without compares, the term is true if the word has any value.
type term struct {
	word, value   string
	compares, not bool
}

func (w When) terms() (out []term) {
	for text := range strings.SplitSeq(string(w), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		var t term
		t.word, t.value, t.compares = strings.Cut(text, "=")
		t.word, t.not = strings.CutSuffix(t.word, "!")
		if word, found := strings.CutPrefix(t.word, "!"); found {
			t.word, t.not = word, true
		}
		out = append(out, t)
	}
	return out
}

// Matches reports whether w is true for facts. A term whose word is missing from facts counts as
// true: words of a finding are known only to its rule, so it decides them.
func (w When) Matches(facts Facts) bool {
	for _, t := range w.terms() {
		value, known := facts[t.word]
		if isTrue := value != "" && (!t.compares || value == t.value); known && isTrue == t.not {
			return false
		}
	}
	return true
}

// wrong describes the first mistake in a condition, or returns "". A word that no fact has would
// silently make a term always true or always false.
func (w When) wrong() string {
	for _, t := range w.terms() {
		i := slices.IndexFunc(FactsTable(), func(f Fact) bool { return slices.Contains(f.Words, t.word) })
		if i < 0 {
			return fmt.Sprintf("%q is not a word of conditions", t.word)
		}
		if values := FactsTable()[i].Values; t.compares && !slices.Contains(values, t.value) {
			return fmt.Sprintf("%q is not a value of %q, want one of %q", t.value, t.word, values)
		}
	}
	return ""
}

// requires returns the words that must have a value for w to be true.
func (w When) requires() (words []string) {
	for _, t := range w.terms() {
		if !t.not {
			words = append(words, t.word)
		}
	}
	return words
}

// Facts maps words to their values; "" means that a word does not apply.
type Facts map[string]string

// A Fact is a row of the table of facts: words that conditions may use.
type Fact struct {
	Words   []string
	Values  []string // that conditions may compare with; nil if a word is either present or absent
	Meaning string
	Found   string // how assay finds out

	evaluate func(word string, s *summary.Summary, stacks []Stack) string
}

// maybe is the prefix of words for software that may be in use.
const maybe = "maybe-"

// FactsTable returns the facts of a run that conditions may use.
func FactsTable() []Fact {
	var software, possible []string
	for _, e := range stackEntries() {
		if software = append(software, e.id); e.Family != "" {
			possible = append(possible, maybe+e.id)
		}
	}
	return []Fact{
		{Words: software, Meaning: "this software is found",
			Found:    "names that only it has, listed in `judge/rule/stacks.yaml`",
			evaluate: func(word string, _ *summary.Summary, stacks []Stack) string { return yes(isFound(word, stacks)) }},
		{Words: possible, Meaning: "this software is found, or none of its family",
			Found: "`family` and `excludes` in `judge/rule/stacks.yaml`",
			evaluate: func(word string, _ *summary.Summary, stacks []Stack) string {
				return yes(!other(strings.TrimPrefix(word, maybe), stacks))
			}},
		{Words: []string{"nsys"}, Meaning: "Nsight Systems recorded all inputs", Found: "the formats of the inputs",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string { return yes(OfNsys(s)) }},
		{Words: []string{"plain"}, Meaning: "the program shows nothing of PyTorch",
			Found: "kernels that only tools of NVIDIA recorded, and no software but JAX",
			evaluate: func(_ string, s *summary.Summary, stacks []Stack) string {
				others := func(st Stack) bool { return st.ID != "jax" }
				return yes(len(s.Kernels) > 0 && !fromTorch(s) && !slices.ContainsFunc(stacks, others))
			}},
		{Words: []string{"gpu"}, Values: []string{"nvidia", "amd", "intel", "other"}, Meaning: "all GPUs are of this maker",
			Found:    "the names of the GPUs; no value if one has no name",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string { return vendorOf(s) }},
		{Words: []string{"recommender"}, Meaning: "the model looks up embedding tables", Found: "kernels and operators of the embeddings of FBGEMM and TorchRec",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string { return yes(looksUpTables(s)) }},
		{Words: []string{"rl"}, Meaning: "a trainer of reinforcement learning runs", Found: "one of veRL, SkyRL, NeMo RL and slime",
			evaluate: func(_ string, _ *summary.Summary, stacks []Stack) string {
				return yes(slices.ContainsFunc(stacks, func(st Stack) bool {
					return slices.Contains([]string{"verl", "skyrl", "nemo-rl", "slime"}, st.ID)
				}))
			}},
		{Words: []string{"trainer-waits"}, Meaning: "the trainer waits for rollouts for 10% of its time or more", Found: "logged timers and idle ratios",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string {
				return yes(logsIdle(s, "trainer.idle") || logsShare(s, "wait") >= fewestWaits)
			}},
		{Words: []string{"rollouts-wait"}, Meaning: "rollouts wait for the trainer for 10% of their time or more", Found: "logged idle ratios",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string { return yes(logsIdle(s, "rollout.idle")) }},
		{Words: []string{"full-pool"}, Values: []string{"kv", "swa", "mamba"}, Meaning: "of the pools of a server this one was the fullest", Found: "logged usages of the pools",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string { return fullestPool(s) }},
		{Words: []string{"colocated"}, Meaning: "trainer and rollouts share GPUs", Found: "logged timers of putting the inference engine to sleep",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string { return yes(logsShare(s, "sleep-wake") > 0) }},
	}
}

// yes returns the value of a fact that is present or absent.
func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// FactsOf returns the facts of a summary; stacks is the software that it shows.
func FactsOf(s *summary.Summary, stacks []Stack) Facts {
	out := Facts{}
	for _, f := range FactsTable() {
		for _, word := range f.Words {
			out[word] = f.evaluate(word, s, stacks)
		}
	}
	return out
}

// fewestWaits is the share of time from which on one side of asynchronous reinforcement learning waits.
const fewestWaits = 0.1

// logsIdle reports whether the median of a logged idle ratio is that of a side that waits.
func logsIdle(s *summary.Summary, metric string) bool {
	return slices.ContainsFunc(s.Series, func(r summary.Series) bool {
		return r.Metric == metric && r.Median != nil && *r.Median >= fewestWaits
	})
}

// fullestPool returns the pool of the memory of a server with the largest logged usage, or "".
func fullestPool(s *summary.Summary) (pool string) {
	most := 0.0
	for _, r := range s.Series {
		name, ok := map[string]string{"kv_cache.usage": "kv", "kv_cache.swa_usage": "swa", "kv_cache.mamba_usage": "mamba"}[r.Metric]
		if ok && r.Max != nil && *r.Max > most {
			pool, most = name, *r.Max
		}
	}
	return pool
}

// logsShare returns the largest share of a phase of logged steps.
func logsShare(s *summary.Summary, phase string) (share float64) {
	for _, p := range s.Phases {
		if in := p.InSteps; p.Source == summary.SourceLog && p.Name() == phase && in != nil && in.StepNS > 0 {
			share = max(share, float64(in.NS)/float64(in.StepNS))
		}
	}
	return share
}

// vendorOf returns the maker of all GPUs of a summary, or "" if it is unknown or differs.
func vendorOf(s *summary.Summary) (vendor string) {
	for i := range s.Devices {
		one, name := "", strings.ToLower(s.Devices[i].Name)
		for _, v := range []struct {
			vendor string
			words  []string
		}{
			{"nvidia", []string{"nvidia", "tesla", "geforce", "quadro"}}, {"amd", []string{"amd", "instinct", "radeon", "gfx"}},
			{"intel", []string{"intel"}}, {"other", []string{"mtia", "ascend", "tpu", "gaudi"}},
		} {
			if one == "" && slices.ContainsFunc(v.words, func(w string) bool { return strings.Contains(name, w) }) {
				one = v.vendor
			}
		}
		if one == "" || vendor != "" && one != vendor {
			return ""
		}
		vendor = one
	}
	return vendor
}

// looksUpTables reports whether a summary shows the embedding tables of a recommender.
func looksUpTables(s *summary.Summary) bool {
	of := func(name string) bool {
		return slices.ContainsFunc([]string{"split_embedding_", "embedding_codegen", "permute_pooled_embs", "torchrec"},
			func(w string) bool { return strings.Contains(name, w) })
	}
	return slices.ContainsFunc(s.Kernels, func(k summary.Kernel) bool { return of(k.Name) }) ||
		slices.ContainsFunc(s.Ops, func(o summary.Op) bool { return of(o.Name) })
}
