package forms

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/logs"
)

// List returns the metrics with canonical names, and the texts of the built-in forms.
func List() string {
	var b strings.Builder
	for _, m := range logs.Catalog() {
		fmt.Fprintf(&b, "  %-27s %-10s %-7s %s\n", m.Name, cmp.Or(m.Unit, "-"), cmp.Or(string(m.Better), "-"), m.Help)
	}
	files := BuiltIn()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b.WriteString("\n# " + name + "\n" + files[name])
	}
	return b.String()
}
