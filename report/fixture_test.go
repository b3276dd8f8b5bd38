package report

import (
	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/summary"
)

const (
	comm   = samplerun.Comm
	comp   = samplerun.Comp
	copies = samplerun.Copies
	us     = samplerun.US
	ms     = samplerun.MS
	sec    = samplerun.Sec
	miB    = samplerun.MiB
	giB    = samplerun.GiB
)

func judged(s *summary.Summary) judge.Result { return samplerun.Judged(s) }
