package view

import "assay/summary"

// A Capture has the properties that decide to which run an input belongs.
type Capture struct {
	Path   string
	Rank   int
	SHA256 string
	Kind   Kind
	Run    string   // as stated by the user; "" if unknown
	From   Evidence // origin of Run

	Copy bool // another input has its capture in another form

	Host, Process string // as the capture states them; "" if unknown
	Time          Time

	// Program is what wrote a log of numbered steps, Job the number of its job, and Ran when it ran; else they
	// are zero.
	Program string
	Job     int
	Ran     [2]int64
}

// A Kind is the kind of data that an input has about a run.
type Kind uint8

// The kinds of captures.
const (
	OfTimeline Kind = iota // what ran when
	OfMemory               // what was allocated: belongs to the run of its rank's trace
	OfTotals               // counters, tables and profiles: they do not separate runs
)

// Captures returns the captures of the inputs of s, in their order.
func Captures(s *summary.Summary) []Capture {
	out, times := make([]Capture, len(s.Inputs)), timesOf(s)
	for i, in := range s.Inputs {
		out[i] = Capture{Path: in.Path, Rank: in.Rank, SHA256: in.SHA256, Run: in.Run, From: Evidence(in.RunFrom), Copy: in.SameAs != "",
			Host: in.Host, Process: in.Process, Time: times[i]}
	}
	// An input with several kinds of rows has the strongest kind: an input with a timeline
	// is a timeline, even if it has other rows.
	for _, kind := range []Kind{OfTotals, OfMemory, OfTimeline} {
		for _, rows := range summary.Members() {
			if is, decides := kindOf[rows.Name()]; !decides || is != kind {
				continue
			}
			rows.EachInput(s, func(input int) {
				if input >= 0 && input < len(out) {
					out[input].Kind = kind
				}
			})
		}
	}
	for i := range s.Inputs {
		if s.Inputs[i].GraphSource {
			out[i].Kind = OfTotals // not a rank: it belongs to the run of its directory
		}
	}
	for i := range s.Attempts {
		a := &s.Attempts[i]
		if a.Input < 0 || a.Input >= len(out) || a.StartNS == nil || a.EndNS == nil {
			continue
		}
		if c := &out[a.Input]; c.Job == 0 {
			c.Program, c.Job, c.Ran = a.Producer, a.Job, [2]int64{*a.StartNS, *a.EndNS}
		} else {
			c.Ran = [2]int64{min(c.Ran[0], *a.StartNS), max(c.Ran[1], *a.EndNS)}
		}
	}
	// The steps of a log are not a timeline.
	devices := map[int]bool{}
	for _, d := range s.Devices {
		devices[d.Input] = true
	}
	for _, r := range s.Series {
		if r.Input >= 0 && r.Input < len(out) && !devices[r.Input] {
			out[r.Input].Kind = OfTotals
		}
	}
	return out
}

// CopiesUnknown reports whether an input may be a copy of another one that cannot be detected: their sizes
// are equal and the digests, which not every command computes, are missing.
func CopiesUnknown(inputs []summary.Input) bool {
	bySize := make(map[int64]bool) // whether the digests of that size are known
	for _, in := range inputs {
		known, again := bySize[in.Bytes]
		if again && (!known || in.SHA256 == "") {
			return true
		}
		bySize[in.Bytes] = in.SHA256 != ""
	}
	return false
}

// kindOf maps members of the summary to the kind of an input with such rows. Other members do not decide.
// An input without any of these counts as a timeline.
var kindOf = map[string]Kind{
	"tables": OfTotals, "compilations": OfTotals, "flames": OfTotals, "counters": OfTotals, "series": OfTotals, "benchmarks": OfTotals, "groups": OfTotals, "attempts": OfTotals,
	"snapshots": OfMemory, "memory_timelines": OfMemory,
	"annotations": OfTimeline, "spans": OfTimeline, "steps": OfTimeline, "devices": OfTimeline,
}
