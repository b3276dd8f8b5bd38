package rule

import (
	"regexp"
	"slices"
	"sync"

	"assay/judge/finding"
	"assay/summary"
)

// makerWords are the words of texts that differ where all GPUs are of a maker. Names of PyTorch (torch.cuda,
// ProfilerActivity.CUDA, --cuda-graph-max-bs) and settings of NCCL (NCCL_DEBUG), which RCCL has too, are the same there.
var makerWords = map[string][][2]string{
	"amd": {
		{`\bCUDA (graph|API|call|IPC|context|runtime|driver|event|kernel)`, "HIP $1"},
		{`\bcudaMallocHost\b`, "hipHostMalloc"},
		{`\bcudaFreeHost\b`, "hipHostFree"},
		{`\bcuda([A-Z]\w+)`, "hip$1"},
		{`\bNCCL\b`, "RCCL"},
		{`\btensor cores\b`, "matrix cores"},
		{`\bprogrammatic dependent launch allows\b`, "queues that several streams share allow"},
	},
	// Not a maker: what profilers of ROCm can record, if all inputs are theirs.
	"rocm": {
		{`\bThe profiler recorded none of this work: update it and the driver\.`, "Record it: rocprofv3 --kernel-trace --memory-copy-trace."},
		{`\bRecord CPU activities too\b`, "Record them: rocprofv3 --hip-trace"},
	},
}

// A wording replaces words.
type wording []struct {
	from *regexp.Regexp
	to   string
}

func (w wording) of(text string) string {
	for _, it := range w {
		text = it.from.ReplaceAllString(text, it.to)
	}
	return text
}

// wordings are the compiled makerWords.
var wordings = sync.OnceValue(func() map[string]wording {
	out := map[string]wording{}
	for maker, words := range makerWords {
		for _, pair := range words {
			out[maker] = append(out[maker], struct {
				from *regexp.Regexp
				to   string
			}{regexp.MustCompile(pair[0]), pair[1]})
		}
	}
	return out
})

// maker is the blank of a step that has the maker of the GPUs whose words its text uses.
const maker = "maker"

// ForMaker returns a function that replaces words of texts by those of the maker of all GPUs of a run, or nil if they are
// the same.
func ForMaker(s *summary.Summary) func(string) string {
	w := wordings()[vendorOf(s)]
	if OfROCm(s) {
		w = slices.Concat(w, wordings()["rocm"])
	}
	if w == nil {
		return nil
	}
	return w.of
}

// inMakersWords replaces words of a finding by those of the maker of the GPUs of the run.
func (on setting) inMakersWords(f *finding.Finding) {
	vendor := ValueOf("gpu", on.run, on.stacks)
	w := wordings()[vendor]
	if w == nil {
		return
	}
	f.Title, f.Cause = w.of(f.Title), w.of(f.Cause)
	for _, list := range [][]string{f.Evidence, f.ToBeSure} {
		for i := range list {
			list[i] = w.of(list[i])
		}
	}
	for i, s := range f.Next {
		if text := Text(s); w.of(text) != text {
			args := map[string]string{maker: vendor}
			for k, v := range s.Args {
				args[k] = v
			}
			f.Next[i].Args = args
		}
	}
}
