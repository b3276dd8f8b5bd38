package summary

import "fmt"

// The limits of the pieces of critical paths.
const (
	MaxDetailPath = 3000   // of one rank
	MaxRunPath    = 20_000 // of all ranks of a run
)

// A DetailPath is the critical path of the steps of a rank, for a line through the lanes of timelines. The
// detail of the first GPU of the rank has it.
type DetailPath struct {
	Pieces []PathPiece `json:"pieces"` // by start; none of a step whose path is withheld

	Steps    int    `json:"steps"`
	Withheld int    `json:"withheld,omitempty"` // steps
	Reason   string `json:"reason,omitempty"`   // why that of the first of them is withheld
	// StepsLeft counts the steps that are left out because there are too many.
	StepsLeft int `json:"steps_left,omitempty"`
	// ShortNS is the length under which neighbouring pieces are joined; 0 if each piece has a row.
	ShortNS int64 `json:"short_ns,omitempty"`
}

// A PathPiece is a piece of a critical path, or several short ones as the longest of them.
type PathPiece struct {
	AtNS  int64  `json:"at_ns"` // since the start of the window of the detail; may be negative
	NS    int64  `json:"ns"`
	Count int32  `json:"count,omitempty"` // pieces that are joined; 0 for one
	Class string `json:"class"`           // as in [PathClasses]
	Name  int32  `json:"name"`            // index into Names of the detail

	Input  int   `json:"input"`
	Device int64 `json:"device"` // with its stream, unless it is on the CPU
	Stream int64 `json:"stream"`
	Host   bool  `json:"host,omitempty"`
	Waits  bool  `json:"waits,omitempty"` // a delay before what Name names

	Cause    string `json:"cause,omitempty"` // what the activity waited for at last
	Inferred bool   `json:"inferred,omitempty"`
	Next     string `json:"next,omitempty"` // what it would have waited for without that
	SlackNS  int64  `json:"slack_ns,omitempty"`
}

// checkPath returns an error if the pieces overlap, are too many or have unknown names.
func (d *Detail) checkPath() error {
	p := d.Path
	if p == nil {
		return nil
	}
	if len(p.Pieces) > MaxDetailPath {
		return fmt.Errorf(".path: got %d pieces, want at most %d", len(p.Pieces), MaxDetailPath)
	}
	for i := range p.Pieces {
		x := &p.Pieces[i]
		if x.NS < 0 || i > 0 && x.AtNS < Plus(p.Pieces[i-1].AtNS, p.Pieces[i-1].NS) || x.Name < 0 || int(x.Name) >= len(d.Names) {
			return fmt.Errorf(".path.pieces[%d]: it overlaps the one before, or its name is unknown", i)
		}
	}
	return nil
}
