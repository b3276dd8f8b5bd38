package compare

import (
	"fmt"
	"strings"

	"assay/judge"
	"assay/judge/rule"
	"assay/summary"
)

// doubts returns why the verdict on a side may be another one, although it is not withheld: what makes
// the shares of a run uncertain makes their changes uncertain.
func (d *differ) doubts() (list []Reason) {
	for _, side := range []struct {
		name string
		of   *facts
	}{{"the base", d.base}, {"the new run", d.new}} {
		judged := map[*summary.Summary]bool{}
		for _, r := range side.of.runs {
			if judged[r.Summary] {
				continue // the verdict is on all runs of a summary
			}
			judged[r.Summary] = true
			if doubt := judge.Judge(r.Summary, rule.DefaultThresholds()).Verdict.Doubt; doubt != nil {
				list = append(list, Reason{"verdict-doubted", Warn,
					fmt.Sprintf("in %s, %s", side.name, strings.ToLower(doubt.Reason[:1])+doubt.Reason[1:])})
				break
			}
		}
	}
	return list
}
