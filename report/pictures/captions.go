package pictures

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
)

// joinSentences joins two texts of which either may be empty.
func joinSentences(a, b string) string { return strings.TrimSpace(a + " " + b) }

// restOfDevices says that not all devices are drawn, if so.
func restOfDevices(all, shown int) string {
	if all == shown {
		return ""
	}
	return fmt.Sprintf("The %d devices with the largest share of idle time; %s.", shown, label.Plural(int64(all-shown), "more device"))
}

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
		return "The number in front is that of the input in the report."
	}
	return "Inputs: " + strings.Join(parts, ", ") + "."
}
