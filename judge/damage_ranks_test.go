package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/internal/test/damage"
	"assay/internal/test/rankgen"
	"assay/judge/finding"
	"assay/judge/rule"
)

// damagedRanks are the runs that are damaged, each with a rank that is special in it.
var damagedRanks = []struct {
	name string
	rank int
}{
	{"slow_gpu", 5}, {"slow_host", 2}, {"more_work", 3}, {"late_in_turn", 1}, {"even", 0}, {"slow_network", 4}, {"no_seq", 2},
	{"tp_dp", 3}, {"tp_dp_slow", 3}, {"tp_dp_no_seq", 3}, {"pp_uneven", 2}, {"pp_few", 0}, {"experts_even", 2}, {"experts", 1}, {"slow_link", 6},
}

// A verdictOnRanks is what the test compares of a run.
type verdictOnRanks struct {
	bound   finding.Bound
	subject string // the rank that others wait for; "" if none is named
	text    string
}

func verdictOnFiles(t *testing.T, files []damage.File) verdictOnRanks {
	t.Helper()
	var list []rankgen.File
	for _, f := range files {
		list = append(list, rankgen.File{Name: f.Name, JSON: f.JSON})
	}
	r := Judge(joinedRanks(t, list), rule.DefaultThresholds())
	v := verdictOnRanks{bound: r.Verdict.Bound, text: r.Verdict.Sentence}
	for _, id := range []string{rule.UnevenExperts, rule.StragglingRank} {
		if f := findingOf(r.Findings, id); f != nil {
			v.subject = f.Subject
		}
	}
	return v
}

// differs reports whether a damaged run has a verdict with another bound, or names another late rank.
func (v verdictOnRanks) differs(whole verdictOnRanks) bool {
	return v.bound != finding.BoundUnknown && v.bound != whole.bound || v.subject != "" && v.subject != whole.subject
}

// damaged returns generated files with one kind of damage.
func damaged(files []rankgen.File, kind string, rank int) (out []rankgen.File) {
	var list []damage.File
	for _, f := range files {
		list = append(list, damage.File{Name: f.Name, JSON: f.JSON})
	}
	kinds := damage.RanksKinds()
	i := slices.IndexFunc(kinds, func(k damage.RanksKind) bool { return k.Name == kind })
	for _, f := range kinds[i].Apply(list, rank) {
		out = append(out, rankgen.File{Name: f.Name, JSON: f.JSON})
	}
	return out
}

// TestDamagedRanks: no damaged run has a confident verdict or a late rank that differs from that of the whole run
// where the files hold evidence. Each kind of damage is done to the special rank of a run and to another one. Those
// that are wrong today are listed.
func TestDamagedRanks(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("testdata/damage_ranks.txt"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSpace(string(text)), "\n")
	runs := 0
	for n, sc := range damagedRanks {
		if !test.Long() && n%5 != 0 {
			continue
		}
		j, given, _ := generated(sc.name)
		var files []damage.File
		for _, f := range j.Files(given) {
			files = append(files, damage.File{Name: f.Name, JSON: f.JSON})
		}
		whole := verdictOnFiles(t, files)
		for _, rank := range []int{sc.rank, (sc.rank + 1) % len(files)} {
			for _, k := range damage.RanksKinds() {
				v := verdictOnFiles(t, k.Apply(files, rank))
				runs++
				line := fmt.Sprintf("%s, rank %d: %s", sc.name, rank, k.Name)
				switch wrong := v.differs(whole); {
				case wrong && k.Hidden:
					t.Log("no evidence: ", line)
				case wrong && !slices.Contains(listed, line):
					t.Errorf("%s: %s %q, late: %q; the whole run: %s %q, late: %q", line, v.bound, v.text, v.subject, whole.bound, whole.text, whole.subject)
				case !wrong && slices.Contains(listed, line):
					t.Errorf("%s is right and listed", line)
				}
			}
		}
	}
	t.Logf("%d runs", runs)
}
