package ingest

import (
	"path/filepath"
	"regexp"
	"strconv"

	"assay/trace"
)

// An Input is one file that was read: the model, and where it came from.
type Input struct {
	Path        string
	Format      string // "kineto" or "chrome-trace"
	Compression string
	Bytes       int64  // as stored
	SHA256      string // of them; "" if a limit ended the reading of a pipe
	Rank        int
	RankFrom    string // "trace", "name" or "assumed"
	Trace       *trace.Trace
}

// Load reads all of f, which the caller closes. A *Refusal says that f is
// nothing that assay reads.
func Load(f *File, sel trace.Select) (*Input, error) {
	head, err := f.Peek()
	if err != nil {
		return nil, err
	}
	if !trace.Sniff(head) || isExecutionTrace(head) || isPythonObject(head) {
		return nil, refuse(f.Path, head)
	}
	f.max = sel.Limits.Input
	t, err := trace.Read(f, f.Path, sel)
	if err != nil {
		return nil, err
	}
	in := &Input{Path: f.Path, Format: "chrome-trace", Compression: f.Compression, Trace: t}
	if t.Meta.Kineto || t.Activities.Len() > 0 {
		in.Format = "kineto"
	}
	if t.Limited() && !f.whole {
		in.Bytes = f.Stored() // what a pipe still brings may never end
	} else if in.Bytes, in.SHA256, err = f.Finish(); err != nil {
		return nil, pathError(err)
	}
	in.Rank, in.RankFrom = rankOf(t, f.Path)
	return in, nil
}

// rankInName finds the rank in file names such as rank3_trace.json,
// rank-34.Jul_15.pt.trace.json.gz and dp0_pp0_tp0_rank0.1712.pt.trace.json.gz.
var rankInName = regexp.MustCompile(`(?i)(?:^|[^a-z])rank[-_]?(\d{1,6})(?:[^0-9]|$)`)

// maxRank is far over the ranks of any job; what is beyond it is damage.
const maxRank = 1 << 24

// rankOf returns the rank of a trace's process in its job: what the trace
// says, if that can be a rank, else what its name says, else 0.
func rankOf(t *trace.Trace, path string) (rank int, from string) {
	if r := t.Meta.Rank; r != nil && *r >= 0 && *r <= maxRank {
		return *r, "trace"
	}
	if m := rankInName.FindStringSubmatch(filepath.Base(path)); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return n, "name"
		}
	}
	return 0, "assumed"
}
