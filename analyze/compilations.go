package analyze

import (
	"fmt"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/summary"
	"assay/torchprof/compile"
)

// What texts of PyTorch say a failed guard or a graph break is about.
var (
	sizeGuard  = lazyregexp.New(`(?i)(size|stride|rank) mismatch|\.size\(|\.shape\[|\.stride\(|check_tensor|Eq\(s\d|\bs\d+ (==|<|>|!=)|len\(L\[`)
	valueGuard = lazyregexp.New(`(?i)^L\[.*\] (==|is) |== (-?\d|'|")`)
	dataBreak  = lazyregexp.New(`(?i)data.?dependent|Tensor\.item|\.item\(|_local_scalar_dense|\.tolist|aten\.nonzero|dynamic shape operator|dynamic output shape|generic_jump TensorVariable`)
)

// Compilations measures the log of torch.compile.
func Compilations(l *compile.Log, in summary.Input) *summary.Summary {
	in.Events, in.Complete = l.Records, l.Complete
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{in}, Devices: []summary.Device{}, Kernels: []summary.Kernel{}}
	for _, c := range l.Compilations {
		row := summary.Compilation{Rank: in.Rank, ID: fmt.Sprintf("%d/%d", c.Frame, c.Again), Function: c.Function, File: c.File, Line: c.Line,
			Again: c.Again, Guard: c.Reason, StartNS: c.StartNS, WallNS: c.WallNS, BackendNS: c.Backend, InductorNS: c.Inductor,
			TritonNS: c.Triton, CacheHits: c.Hits, CacheMisses: c.Misses, Failed: c.Fails, Unfinished: !c.Ended}
		if c.Reason != "" {
			row.GuardKind = guardKind(c.Reason)
		}
		for _, b := range c.Breaks {
			kind := summary.BreakOther
			if dataBreak().MatchString(b.Reason) {
				kind = summary.BreakData
			}
			row.Breaks = append(row.Breaks, summary.GraphBreak{Reason: b.Reason, Kind: kind, File: b.File, Line: b.Line})
		}
		s.Compilations = append(s.Compilations, row)
	}
	return finished(s, l.Issues, new(diag.Ledger))
}

// guardKind returns what a failed guard is about.
func guardKind(text string) string {
	switch {
	case sizeGuard().MatchString(text):
		return summary.GuardSize
	case valueGuard().MatchString(text):
		return summary.GuardValue
	}
	return summary.GuardOther
}
