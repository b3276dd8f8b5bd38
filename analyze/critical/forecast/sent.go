package forecast

import (
	"assay/analyze/critical"
	"assay/analyze/critical/graph"
)

// early lets communication start when what it waits for on the GPU is done: as if it was launched in time.
func (c *changing) early(re string, _ float64) error {
	c.work(re, func(v int32, n *graph.Node) {
		if n.Class == graph.Comm && c.g.LateLaunch(v) > 0 {
			for _, u := range append(c.g.Prepares(v), v) {
				c.mark(u, critical.NoLaunch)
			}
		}
	})
	return nil
}
