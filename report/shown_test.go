package report

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/summary"
)

// notShown are the members that change no report of a sample run, each with the reason. A new type of row belongs
// here only if no section is about it.
var notShown = map[string]string{
	"details":              "only the page draws them",
	"copy_calls":           "TestLaunches and others make their own",
	"syncs":                "TestLaunches and others make their own",
	"topologies":           "the tests of report/section/ranks make their own",
	"rolled":               "sums over ranks, which become other rows again before a report",
	"launch_losses":        "rules read them",
	"counters":             "the tests of counters make their own",
	"groups":               "rules read them",
	"clocks":               "rules read them, and the section of joined inputs",
	"monitored":            "the tests of report/section/efficiency and report/pictures/logs make their own",
	"efficiency.decode":    "the tests of report/pictures make their own",
	"efficiency.occupancy": "the tests of report/section/efficiency make their own",
	"efficiency.savings":   "the tests of report/section/efficiency make their own",
	"efficiency.replays":   "the tests of report/section/efficiency make their own",
	"efficiency.captures":  "inputs that are not joined yet",
}

// TestEveryMemberIsShown: each type of row is in a sample run whose report.md is another without these rows. So rows
// that nobody shows are found, and the reports of tests have all rows.
func TestEveryMemberIsShown(t *testing.T) {
	runs := samplerun.All()
	markdown := func(s *summary.Summary) string {
		d := Build(s, judged(s))
		return render(t, d.Markdown)
	}
	reports := map[string]string{}
	for _, m := range summary.Members() {
		shown, has := false, false
		for name, s := range runs {
			if shown || strings.Contains(name, "hostile") || m.Len(s) == 0 {
				continue
			}
			has = true
			if reports[name] == "" {
				reports[name] = markdown(s)
			}
			without := summary.Merge(s)
			list := reflect.ValueOf(without).Elem()
			for part := range strings.SplitSeq(m.Name(), ".") {
				list = list.Field(slices.IndexFunc(reflect.VisibleFields(list.Type()), func(f reflect.StructField) bool {
					name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
					return name == part
				}))
			}
			list.SetZero()
			shown = markdown(without) != reports[name]
		}
		switch reason := notShown[m.Name()]; {
		case reason != "" && shown:
			t.Errorf("%s is shown; take it out of notShown", m.Name())
		case reason == "" && !has:
			t.Errorf("no sample run (internal/test/samplerun) has %s", m.Name())
		case reason == "" && !shown:
			t.Errorf("no report shows %s: add a section, or a reason to notShown", m.Name())
		}
	}
}
