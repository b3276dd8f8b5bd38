package ingest

import (
	"assay/nsys/ncu"
	"assay/trace"
)

func isCounters(_ string, head []byte) bool { return ncu.Sniff(head) }

func loadCounters(f *File, sel trace.Select, in *Input) (err error) {
	in.Counters, err = ncu.Read(f, f.Path, ncu.Limits{Memory: sel.Limits.Memory})
	return err
}
