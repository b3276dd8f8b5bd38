package comm

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"assay/internal/diag"
)

// A raised is the first exception that a rank printed.
type raised struct {
	rank int
	kind string // of the exception: "ValueError"
	at   diag.Pos
}

// The last line of a traceback, as torch.distributed prints it for each rank. Lines of source in a traceback are indented.
var reRaised = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[rank(\d+)\]: ([A-Za-z_][\w.]*(?:Error|Exception))(?:: (.*))?$`)
})

// Exceptions with these words report that another rank is gone: they follow from the failure that matters.
var followed = []string{"NCCL", "Gloo", "gloo", "Dist", "ChildFailed", "ProcessExited", "ProcessRaised", "Connection", "onnection closed",
	"imed out", "imeout", "peer"}

// mayRaise reports whether a line may end the traceback of a rank.
func mayRaise(line []byte) bool {
	n := bytes.Index(line, []byte("[rank"))
	return n >= 0 && (bytes.Contains(line[n:], []byte("Error")) || bytes.Contains(line[n:], []byte("Exception")))
}

// raisedLine reads the last line of the traceback of a rank.
func (f *Finder) raisedLine(line string) {
	m := reRaised().FindStringSubmatch(strings.TrimRight(line, " \r"))
	if m == nil {
		return
	}
	for _, word := range followed {
		if strings.Contains(m[2]+" "+m[3], word) {
			return
		}
	}
	rank := number(m[1])
	for _, r := range f.raised {
		if r.rank == rank {
			return
		}
	}
	const most = 64 // ranks; a job that fails as a whole prints one for each
	if len(f.raised) < most {
		f.raised = append(f.raised, raised{rank, m[2][strings.LastIndexByte(m[2], '.')+1:], f.at})
	}
}

// noteRaised reports ranks that raised an exception while the watchdog of others waited for them.
func (f *Finder) noteRaised() {
	waits, waiting := map[int]bool{}, false
	for _, g := range f.order {
		if g.Source == sourceWatchdog {
			waits[g.Rank], waiting = true, true
		}
	}
	for _, r := range f.raised {
		if waiting && !waits[r.rank] {
			at := r.at
			at.Path = fmt.Sprintf("rank %d, %s", r.rank, r.kind)
			f.b.Note(diag.Issue{Code: "rank-raised", Severity: diag.Info, First: at})
		}
	}
}
