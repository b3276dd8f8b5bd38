package logs

import (
	"fmt"

	"assay/internal/label"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// A configuration has the rule on settings.
type configuration struct{ *Evaluator }

// configured reports settings that are not as the guide of the program recommends.
func (e configuration) configured(in *input) (finding.Finding, bool) {
	var lines []string
	var next []finding.Step
	var first string
	for _, a := range rule.Advised {
		s := a.Breach(e.logged, in.index)
		if s == nil {
			continue
		}
		text := fmt.Sprintf("%s is %s; the guide of %s recommends %s", label.Clip(label.Clean(s.Key), 70), label.Clean(s.Value), a.Program, a.Says)
		if first == "" {
			first = fmt.Sprintf("%s is %s; the guide recommends %s", shortKey(s), label.Clean(s.Value), a.Says)
		}
		lines = append(lines, text)
		next = append(next, a.Next)
	}
	if len(lines) == 0 {
		return finding.Finding{}, false
	}
	more := ""
	if n := len(lines) - 1; n > 0 {
		more = fmt.Sprintf(" (%d more)", n)
	}
	f, ok := findingOf(e.Evaluate(tree.Measured{Rule: rule.SettingNotAdvised, Value: float64(len(lines)),
		Words: map[string]string{"setting": first + more}, Lists: map[string][]string{"settings": lines}}))
	f.Next = next
	return f, ok
}

// shortKey returns the last part of the path of a setting.
func shortKey(s *summary.Setting) string {
	key := label.Clean(s.Key)
	for i := len(key) - 1; i >= 0; i-- {
		if key[i] == '.' {
			return key[i+1:]
		}
	}
	return key
}
