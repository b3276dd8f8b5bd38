package series

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/label"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view/hang"
	"assay/unit"
)

// mostHangs is how many calls the evidence of a hang lists.
const mostHangs = 6

// pendingCalls reports calls that not all members of a group made. Calls of which nobody knows who
// is missing are no finding beside those of which that is known.
func pendingCalls(s *summary.Summary) (finding.Finding, bool) {
	list := hang.In(s)
	if len(list) == 0 {
		return finding.Finding{}, false
	}
	first := &list[0]
	if i := slices.IndexFunc(list, func(h hang.Hang) bool { return h.Kind != hang.TimedOut }); i > 0 {
		first = &list[i]
	}
	f := finding.Finding{Rule: rule.Hang, Level: finding.Critical, Title: "Hang: " + hangText(first)}
	for i := range list[:min(mostHangs, len(list))] {
		f.Evidence = append(f.Evidence, evidenceOf(&list[i]))
	}
	if n := len(list) - mostHangs; n > 0 {
		f.Evidence = append(f.Evidence, label.Plural(int64(n), "more call"))
	}
	if len(first.Absent) > 0 {
		f.Next = append(f.Next, finding.Advise("look-at-the-absent-ranks", "ranks", ranksText(first.Absent)))
	}
	if first.Kind == hang.TimedOut || len(first.Unknown) > 0 {
		f.Next = append(f.Next, finding.Advise("dump-all-ranks"))
	}
	return f, true
}

// callText names a call: "all_reduce 42".
func callText(h *hang.Hang) string {
	name := label.Clip(label.Clean(cmp.Or(h.Op, "a call")), 30)
	if h.Kind == hang.Unpaired {
		return name
	}
	return fmt.Sprintf("%s %d", name, h.Seq)
}

// hangText tells in a few words who is missing where.
func hangText(h *hang.Hang) string {
	switch h.Kind {
	case hang.NotArrived:
		return fmt.Sprintf("%s did not arrive at %s", ranksText(h.Absent), callText(h))
	case hang.NotCompleted:
		return fmt.Sprintf("%s did not complete %s, which others completed", ranksText(h.Absent), callText(h))
	case hang.Unpaired:
		return fmt.Sprintf("%s without a counterpart, in %s", callText(h), label.Plural(h.Calls, "call"))
	}
	return fmt.Sprintf("%s timed out on %s", callText(h), ranksText(h.Waiting))
}

// evidenceOf tells one call with its group, who waits, and since when.
func evidenceOf(h *hang.Hang) string {
	text := hangText(h)
	if group := strings.TrimSpace(h.Desc + " " + h.Group); group != "" {
		text += ", group " + label.Clip(label.Clean(group), 40)
	}
	if len(h.Waiting) > 0 && h.Kind == hang.NotArrived {
		text += "; " + ranksText(h.Waiting) + " in it"
	}
	switch {
	case h.SinceNS > 0:
		text += ", since " + time.Unix(0, h.SinceNS).UTC().Format("2006-01-02 15:04:05.000") + " UTC"
	case h.RanNS > 0:
		text += ", after " + unit.Duration(h.RanNS)
	}
	if len(h.Unknown) > 0 {
		text += "; nothing is known of " + ranksText(h.Unknown)
	}
	return text
}

// ranksText returns "rank 3", "ranks 3, 5-7".
func ranksText(ranks []int) string {
	const most = 6
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if j-i < 2 {
			j = i
			parts = append(parts, fmt.Sprint(ranks[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[j]))
		}
		i = j + 1
	}
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("… (%d in all)", len(ranks)))
	}
	if len(ranks) == 1 {
		return "rank " + parts[0]
	}
	return "ranks " + strings.Join(parts, ", ")
}
