package timeline

import (
	"strings"

	"assay/report/doc"
	"assay/summary"
)

// bar draws a breakdown as cells: full for compute, dark for exposed communication,
// light for exposed copies, dots for idle. A part under half a cell is not drawn.
func bar(a summary.Activity, cells int) string {
	glyphs := []string{"█", "▓", "░", "·"}
	var out strings.Builder
	for i, n := range doc.Apportion(cells, a.Compute(), a.ExposedComm(), a.ExposedCopy(), a.Idle()) {
		out.WriteString(strings.Repeat(glyphs[i], n))
	}
	return out.String()
}
