package pictures

import (
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
)

// joinSentences joins two texts. Both may be empty.
func joinSentences(a, b string) string { return strings.TrimSpace(a + " " + b) }

// inputCaption explains the numbers of inputs below a picture.
func inputCaption(s *summary.Summary, shown []int) string {
	list, rest := view.NumberedInputs(s, shown)
	var parts []string
	for _, in := range list {
		parts = append(parts, in.Number+" "+in.Path)
	}
	if rest > 0 {
		parts = append(parts, label.Plural(int64(rest), "more input"))
	}
	switch {
	case parts == nil:
		return ""
	case len(parts) > view.KeyInputs:
		return "# is the number of the input in the report."
	}
	return "Inputs: " + strings.Join(parts, ", ") + "."
}
