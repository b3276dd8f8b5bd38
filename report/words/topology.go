package words

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/summary"
)

// Topology returns how the ranks of a job divide the work, with the evidence: "tensor 2, data 4 (from
// descriptions of process groups)". It is "" if all ranks do the same work and the kinds of groups are not
// known.
func Topology(t summary.Topology) string {
	var parts, kinds []string
	from := map[string]bool{}
	for _, g := range t.Groups {
		kinds = append(kinds, fmt.Sprintf("%s %d", label.Clip(label.Clean(g.Parallel), 20), g.Size))
		from[g.From] = true
	}
	if len(kinds) > 0 {
		source := "descriptions"
		if from["name"] {
			source = "names"
		}
		parts = append(parts, fmt.Sprintf("parallelism: %s (from %s of process groups)", strings.Join(kinds, ", "), source))
	}
	if t.StagesFrom == "sends" {
		parts = append(parts, fmt.Sprintf("%d pipeline stages (by who sends to whom)", t.Stages))
	}
	switch t.PeersFrom {
	case "kernels":
		parts = append(parts, "ranks are compared with those that run the same kernels")
	case "":
		parts = append(parts, "ranks send to each other and are not known to be stages, so they are not compared")
	}
	return strings.Join(parts, "; ")
}
