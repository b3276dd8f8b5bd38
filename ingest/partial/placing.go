// This file finds the rank and the run of an input by the rules of the user: names, folders
// or regular expressions for paths.

package partial

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"assay/ingest"
	"assay/internal/label"
	"assay/summary/view"
)

// PathRules are the values of --rank-from and --group-by. The zero PathRules change nothing.
type PathRules struct {
	rankFrom, groupBy string         // as given
	rank, group       *regexp.Regexp // nil for the words
}

// Words that the flags take instead of a regular expression.
const (
	byName   = "name"
	byFolder = "folder"
	byNone   = "none"
)

// ParsePathRules checks the values of --rank-from and --group-by.
func ParsePathRules(rankFrom, groupBy string) (PathRules, error) {
	p := PathRules{rankFrom: rankFrom, groupBy: groupBy}
	var err error
	if p.rankFrom != "" && p.rankFrom != byName && p.rankFrom != byFolder {
		if p.rank, err = oneGroup("--rank-from", p.rankFrom, "name, folder"); err != nil {
			return PathRules{}, err
		}
	}
	if p.groupBy != "" && p.groupBy != byFolder && p.groupBy != byNone {
		if p.group, err = oneGroup("--group-by", p.groupBy, "folder, none"); err != nil {
			return PathRules{}, err
		}
	}
	return p, nil
}

// oneGroup compiles a regular expression with one group.
func oneGroup(flag, text, words string) (*regexp.Regexp, error) {
	want := fmt.Sprintf("want %s, or a regular expression (RE2) with one group in parentheses", words)
	re, err := regexp.Compile(text)
	if wrong := (*syntax.Error)(nil); errors.As(err, &wrong) {
		// Its text quotes a part of the value, which may be a part of a secret.
		return nil, fmt.Errorf("%s is \"%s\", %s: %s", flag, text, want, wrong.Code)
	} else if err != nil {
		return nil, fmt.Errorf("%s is \"%s\", %s: %w", flag, text, want, err)
	}
	if n := re.NumSubexp(); n != 1 {
		return nil, fmt.Errorf("%s is \"%s\", which has %s, %s", flag, text, label.Plural(int64(n), "group"), want)
	}
	return re, nil
}

// Apply sets the rank of an input according to --rank-from.
func (p *PathRules) Apply(in *ingest.Input) error {
	path, measured := measuredPath(in)
	if p.rankFrom == "" || !measured {
		return nil
	}
	if in.Summary != nil {
		return fmt.Errorf("%s: --rank-from is for traces, and the rank of a partial is found when it is saved; save %s with --rank-from", in.Path, path)
	}
	name := slashed(path)
	var ok bool
	switch {
	case p.rank != nil:
		text, err := only(p.rank, name)
		if err != nil {
			return fmt.Errorf("%s: --rank-from \"%s\" %w", in.Path, p.rankFrom, err)
		}
		n, err := strconv.ParseUint(text, 10, 24)
		if err != nil {
			return fmt.Errorf("%s: --rank-from \"%s\" finds %q, which is not a rank; want a number below %d", in.Path, p.rankFrom, text, 1<<24)
		}
		in.Rank, in.RankFrom, ok = int(n), "pattern", true
	case p.rankFrom == byName:
		in.Rank, ok = ingest.RankInName(in.Path)
		in.RankFrom = byName
	default:
		in.Rank, ok = ingest.RankInFolder(in.Path)
		in.RankFrom = byFolder
	}
	if !ok {
		return fmt.Errorf("%s: --rank-from %s finds no rank in the path; name files or directories like rank3, or give a regular expression with one group", in.Path, p.rankFrom)
	}
	return nil
}

// Run returns the run of an input according to --group-by, and the origin of its name. Both
// are "" without the flag.
func (p *PathRules) Run(in *ingest.Input) (run, from string, err error) {
	name, measured := measuredPath(in)
	switch {
	case p.groupBy == "" || !measured:
		return "", "", nil
	case p.groupBy == byNone:
		return "all", string(view.ByNone), nil
	case p.groupBy == byFolder:
		return path.Dir(slashed(name)), string(view.ByFolder), nil
	}
	text, err := only(p.group, slashed(name))
	if err == nil && text == "" {
		err = fmt.Errorf("finds an empty text; want a group that matches at least one character")
	}
	if err != nil {
		return "", "", fmt.Errorf("%s: --group-by \"%s\" %w", in.Path, p.groupBy, err)
	}
	return text, string(view.ByPattern), nil
}

// measuredPath returns the path of the file that was measured: the input, or that of a
// partial. It returns false for the summary of a run, whose inputs have been placed.
func measuredPath(in *ingest.Input) (string, bool) {
	switch {
	case in.Summary == nil:
		return in.Path, true
	case in.Summary.Partial == nil || len(in.Summary.Inputs) != 1:
		return in.Path, false
	}
	return in.Summary.Inputs[0].Path, true
}

// only returns the text that the group of an expression matches in a path. It returns an
// error if there is no match, or if matches have different texts.
func only(re *regexp.Regexp, name string) (string, error) {
	all := re.FindAllStringSubmatch(name, -1)
	if len(all) == 0 {
		return "", fmt.Errorf("does not match the path; change it, or leave this input out")
	}
	for _, m := range all[1:] {
		if m[1] != all[0][1] {
			return "", fmt.Errorf("is ambiguous: it finds %q and %q; make it match one place", all[0][1], m[1])
		}
	}
	return all[0][1], nil
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }
