package ingest

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/profile"
	"assay/internal/profile/pyprof"
	"assay/internal/profile/sampler"
	"assay/trace"
)

func isProf(_ string, head []byte) bool      { return pyprof.SniffProf(head) }
func isCallgrind(_ string, head []byte) bool { return pyprof.SniffCallgrind(head) }
func isYappi(_ string, head []byte) bool     { return pyprof.SniffYappi(head) }
func isPstats(_ string, head []byte) bool    { return pyprof.SniffPstats(head) }
func isPprof(_ string, head []byte) bool     { return profile.SniffPprof(head) }
func isFolded(_ string, head []byte) bool    { return profile.SniffFolded(head) }

// stacksOf returns a loader of stacks.
func stacksOf(read func(io.Reader, string, profile.Limits) (*profile.Profile, error)) func(*File, trace.Select, *Input) error {
	return func(f *File, sel trace.Select, in *Input) (err error) {
		in.Profile, err = read(f, f.Path, profileLimits(sel))
		return err
	}
}

// MostSampled is the number of inputs up to which samples are joined with traces: what the threads of a trace did takes
// memory until all inputs are read.
const MostSampled = 64

// Sampled reports whether one of several files has samples of CPU code that can be joined with a trace. It looks into
// regular files only, because others can be read once.
func Sampled(paths []string) bool {
	if len(paths) < 2 || len(paths) > MostSampled {
		return false
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return false
		}
		f, err := OpenWithoutDigest(path, nil)
		if err != nil {
			return false
		}
		defer f.Close()
		head, err := f.Peek()
		return err == nil && (sampler.SniffSpeedscope(head) || sampler.SniffV8(head) || sampler.SniffPySpy(head) || sampler.SniffPerf(head))
	})
}

func loadScalene(f *File, sel trace.Select, in *Input) (err error) {
	in.Tables, err = sampler.ReadScalene(f, f.Path, rowLimit(sel))
	return err
}

// tablesOf returns a loader of tables. If an input breaks off, the tables read so far
// have an issue with the reason.
func tablesOf(read func(io.Reader, string, pyprof.Limits) (*profile.Tables, error)) func(*File, trace.Select, *Input) error {
	return func(f *File, sel trace.Select, in *Input) (err error) {
		in.Tables, err = read(f, f.Path, pyprof.Limits{Rows: rowLimit(sel), Memory: profileLimits(sel).Memory})
		if err == nil || in.Tables == nil {
			return err
		}
		in.Tables.Issues = append([]diag.Issue{{Code: "input-truncated", Severity: diag.DataLoss, Count: 1, First: diag.Pos{File: f.Path},
			Help: "The input could not be read to its end (" + err.Error() + "). The rest is missing from every total. Copy the file again."}}, in.Tables.Issues...)
		return nil
	}
}

// profileLimits returns the part of the memory for the stacks of one profile. Their
// analysis needs as much again.
func profileLimits(sel trace.Select) profile.Limits {
	return profile.Limits{Memory: sel.Limits.Memory / 2}
}

func loadPprof(f *File, sel trace.Select, in *Input) (err error) {
	if in.Profile, err = profile.ReadPprof(f, f.Path, profileLimits(sel)); err == nil {
		in.Profile.Tidy()
	}
	return err
}

func loadFolded(f *File, sel trace.Select, in *Input) error {
	head, err := f.Peek()
	if err != nil {
		return err
	}
	column, known := profile.FoldedColumn(head)
	p, err := profile.ReadFolded(f, f.Path, column, profileLimits(sel))
	if err != nil {
		return err
	}
	p.Tidy()
	if !known {
		p.Issues = append(p.Issues, diag.Issue{Code: "folded-unit-unknown", Severity: diag.Info, Count: 1, First: diag.Pos{File: f.Path, Line: 1},
			Help: diag.HelpOf("folded-unit-unknown")})
	}
	in.Profile = p
	return nil
}

// isWantedYappi reports whether a log of yappi in a directory is read. It is not if it
// has no rows and the directory has the same profile in another form with rows, which
// NeMo Gym writes since February 2026.
func isWantedYappi(path string, head []byte) bool {
	if pyprof.HasRows(head) {
		return true
	}
	base := strings.TrimSuffix(path, filepath.Ext(path))
	for _, ext := range []string{".callgrind", ".pstat", ".prof"} {
		if _, err := os.Stat(base + ext); err == nil {
			return false
		}
	}
	return true
}

// isNamedFolded reports whether text in a directory is named like folded stacks. The
// content is not enough, because lines of other texts end in numbers, too.
func isNamedFolded(path string, _ []byte) bool {
	name := strings.ToLower(filepath.Base(path))
	for _, part := range []string{"folded", "collapsed", "stacks", "flame"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
