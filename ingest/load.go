package ingest

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/internal/redact"
	"assay/logs"
	"assay/nsys/ncu"
	"assay/summary"
	"assay/torchprof/compile"
	"assay/torchprof/memory"
	"assay/trace"
	"assay/trace/xplane"
)

// An Input is one file that was read: its content as a model, and where it came from.
// At least one of the models is not nil.
type Input struct {
	Path        string
	Format      string // "kineto", "chrome-trace", ...
	Compression string
	Bytes       int64  // as stored
	SHA256      string // digest of the stored bytes; "" if a limit ended the reading of a pipe, and after OpenWithoutDigest
	Rank        int
	RankFrom    string // origin of Rank: "trace", "name", "folder", "nccl", "assumed", or set by the caller

	Trace   *trace.Trace     // a timeline
	Tables  *profile.Tables  // totals that a tool printed
	Profile *profile.Profile // costs of stacks

	Counters *ncu.Capture     // hardware counters of kernel launches
	Memory   *memory.Snapshot // the use of GPU memory at one time, with its history
	Timeline *memory.Timeline // the use of GPU memory over time, by category

	// Series has values over steps or time. A log may also have tables of a profiler, so
	// Tables may be set, too.
	Series *logs.Log

	Compiled *compile.Log // what torch.compile did

	Summary *summary.Summary // a summary that assay wrote before
	Content string           // SHA-256 of the uncompressed text of Summary

	Secrets *redact.Redactor // masked the secrets of the models; nil if [Load] did not make the input
}

// Load reads all of f. The caller must close f. The error is a *Refusal if f is not in a
// format that assay reads.
func Load(f *File, sel trace.Select) (*Input, error) {
	head, err := f.Peek()
	if err != nil {
		return nil, err
	}
	format := f.format(head)
	f.max = sel.Limits.Input
	if format == nil {
		return nil, refuse(f, head)
	}
	in := &Input{Path: f.Path, Format: format.name, Compression: f.Compression}
	if err := format.load(f, sel, in); err != nil {
		return nil, err
	}
	in.mask()
	if (f.limited || in.limited()) && !f.whole {
		in.Bytes = f.Stored() // do not read the rest, because a pipe may never end
	} else if in.Bytes, in.SHA256, err = f.Finish(); err != nil {
		return nil, pathError(err)
	}
	in.Rank, in.RankFrom = rankOf(in.Trace, f.Path)
	if in.Series != nil && len(in.Series.Groups) > 0 && in.Series.Groups[0].Rank >= 0 {
		in.Rank, in.RankFrom = in.Series.Groups[0].Rank, "trace"
	}
	if in.Compiled != nil && in.Compiled.Rank >= 0 {
		in.Rank, in.RankFrom = in.Compiled.Rank, "trace"
	}
	if in.Series != nil && in.RankFrom == "assumed" {
		if rank, ok := placeOf(in.Series.Groups); ok {
			in.Rank, in.RankFrom = rank, "nccl"
		}
	}
	return in, nil
}

// placeOf returns the rank of a process in its largest communicator, if it is known. If
// several communicators are the largest, the ranks must agree.
func placeOf(groups []logs.Group) (place int, ok bool) {
	size := 1
	for _, g := range groups {
		switch {
		case g.Place < 0 || g.Size < size:
		case g.Size > size:
			size, place, ok = g.Size, g.Place, true
		case g.Place != place:
			ok = false
		}
	}
	return place, ok
}

// limited reports whether a limit ended the reading.
func (in *Input) limited() bool {
	switch {
	case in.Trace != nil:
		return in.Trace.Limited()
	case in.Counters != nil:
		return in.Counters.Limited()
	case in.Memory != nil:
		return endedByLimit(in.Memory.Issues)
	case in.Timeline != nil:
		return endedByLimit(in.Timeline.Issues)
	case in.Series != nil:
		return in.Series.Limited()
	}
	return false
}

// ranksInNames find the rank in the name of a file; the first that matches is used:
// rank3_trace.json, rank[0].json, dp0_pp0_tp0_rank0.1712.pt.trace.json.gz; SGLang's
// 1757059120.53-TP-3.trace.json.gz; worker3.1712.pt.trace.json.
var ranksInNames = [...]func() *regexp.Regexp{
	lazyregexp.New(`(?i)(?:^|[^a-z])rank[-_\[]?(\d{1,6})(?:[^0-9]|$)`),
	lazyregexp.New(`-TP-(\d{1,6})(?:[^0-9]|$)`),
	lazyregexp.New(`(?i)(?:^|[^a-z])worker[-_]?(\d{1,4})(?:[^0-9]|$)`),
	lazyregexp.New(`(?:^|_)dump_(\d{1,6})$`), // of the flight recorder
}

// rankInFolder finds the rank in the name of a folder with the files of one rank.
var rankInFolder = lazyregexp.New(`(?i)(?:^|[^a-z])(?:rank|worker)[-_]?(\d{1,6})$`)

// rankOf returns the rank of a trace's process in its job. It is the first that is known of these: the rank
// in the trace, the rank in its path, the rank in its largest communicator, 0.
func rankOf(t *trace.Trace, path string) (rank int, from string) {
	if t == nil {
		return rankInPath(path)
	}
	if r := t.Meta.Rank; r != nil {
		return *r, "trace"
	}
	if joined := t.Meta.DeviceRanks; joined != nil { // a timeline of several ranks: use the first one
		return slices.Min(slices.Collect(maps.Values(joined))), "trace"
	}
	rank, from = rankInPath(path)
	if r := t.Meta.CommRank; r != nil && from == "assumed" {
		return *r, "nccl" // after the path, because the communicator may have only a part of the ranks
	}
	if place, ok := xplane.HostPlace(path); ok && from == "assumed" {
		return place, "name"
	}
	return rank, from
}

// rankInPath returns the rank in the name of a file, or else in the name of the nearest folder
// that has one, or else 0.
func rankInPath(path string) (rank int, from string) {
	if rank, ok := RankInName(path); ok {
		return rank, "name"
	}
	if rank, ok := RankInFolder(path); ok {
		return rank, "folder"
	}
	return 0, "assumed"
}

// RankInName returns the rank in the name of a file, without its folders.
func RankInName(path string) (rank int, ok bool) {
	for _, find := range ranksInNames {
		if rank, ok := rankIn(find(), filepath.Base(path)); ok {
			return rank, true
		}
	}
	return 0, false
}

// RankInFolder returns the rank in the name of the nearest folder of a path that has one.
func RankInFolder(path string) (rank int, ok bool) {
	for dir := filepath.Dir(path); dir != "." && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if rank, ok := rankIn(rankInFolder(), filepath.Base(dir)); ok {
			return rank, true
		}
	}
	return 0, false
}

func rankIn(find *regexp.Regexp, name string) (rank int, ok bool) {
	m := find.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}
