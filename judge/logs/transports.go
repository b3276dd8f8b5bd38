package logs

import (
	"strings"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
)

// withoutGPUDirect reports connections of NCCL over a network with RDMA that copy their data through the memory of
// the host, because the network card cannot read that of the GPU. Sockets never can, so they do not count.
func (e benchmarks) withoutGPUDirect() (finding.Finding, bool) {
	var all, through int64
	for i := range e.logged.Groups {
		for name, n := range e.logged.Groups[i].Transports {
			if !strings.HasPrefix(name, "NET/") || strings.HasPrefix(name, "NET/Socket") {
				continue
			}
			all += n
			if !strings.Contains(name, "GDRDMA") {
				through += n
			}
		}
	}
	if all < e.Limits[rule.WithoutGPUDirect].MinEvents {
		return finding.Finding{}, false
	}
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.WithoutGPUDirect, Value: float64(through) / float64(all),
		Words: map[string]string{"connections": unit.Count(through), "all": unit.Count(all)}}))
}
