package summary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// An EfficiencyCapture is a sequence of kernels that a program recorded into a graph, with the work of the
// operators that launched them. (Input, Rank, Number) is its key. It is kept until it is joined with the
// replays of other inputs: see [EfficiencyReplay]. A joined summary has none.
type EfficiencyCapture struct {
	Input  int `json:"input"`
	Rank   int `json:"rank"`
	Number int `json:"number"`

	Name    string `json:"name,omitempty"` // of the annotation around it, such as "capture_32_FULL"
	Size    int64  `json:"size,omitempty"` // batch size of the graph; 0 if the name has none
	Count   int64  `json:"count"`          // equal captures of the input
	Nodes   int64  `json:"nodes"`          // kernels, copies and fills
	Kernels string `json:"kernels"`        // digest of their names in order; "" if a name is not recorded
	// Incomplete says that the input has more captures than the limit allows, and the others are missing.
	Incomplete bool `json:"incomplete,omitempty"`
	// Made says that the trace does not contain the capture itself: its operators are those that were open
	// when the nodes of a graph that the same input replays were created. Replays of other inputs do not
	// match it.
	Made bool `json:"made,omitempty"`

	Rows []EfficiencyRow `json:"rows,omitempty"` // the work of one replay, without times
	Of   []int32         `json:"of,omitempty"`   // the row of each node, or -1 if no operator was open

	// Decode has what one replay reads and writes in a decode step. Hidden has the rows that may have
	// weights.
	Decode *DecodeParts `json:"decode,omitempty"`
	Hidden []int32      `json:"hidden,omitempty"`
}

// An EfficiencyReplay has the launches of a graph on one GPU that ran the same kernels in the same order,
// and the operators of these kernels as far as they are known. (Input, Rank, Device, Number) is its key.
type EfficiencyReplay struct {
	Input  int   `json:"input"`
	Rank   int   `json:"rank"`
	Device int64 `json:"device"`
	Number int   `json:"number"`

	// Op, Dims and Types identify the row that had the time of the launches before the join; Op is "" if no
	// operator was open at the launch.
	Op    string          `json:"op,omitempty"`
	Dims  json.RawMessage `json:"dims"`
	Types json.RawMessage `json:"types"`

	Size      int64   `json:"size,omitempty"` // batch size that annotations state; 0 if they state none or several
	Launches  int64   `json:"launches"`
	StartNS   int64   `json:"start_ns"` // of the first
	Nodes     int64   `json:"nodes"`    // of one launch
	Kernels   string  `json:"kernels"`  // digest of the names in order
	GPUNS     int64   `json:"gpu_ns"`
	OverlapNS int64   `json:"overlap_ns,omitempty"` // time during which a node overlapped an earlier one
	NodeNS    []int64 `json:"node_ns,omitempty"`    // sums over the launches; removed when replays are joined

	// Made is the number of the capture that was found by the IDs of the nodes; 0 for none. NodesLost says
	// why nodes have no operator in it, the most frequent reason first.
	Made      int         `json:"made,omitempty"`
	NodesLost []NodesLost `json:"nodes_lost,omitempty"`

	// From is [FromCapture] or [FromNodes] if rows have the time of the nodes. Capture is then the name
	// of the capture, and KnownNS the part of GPUNS whose operators are known. Otherwise
	// Unmatched says why there are none.
	From      string `json:"from,omitempty"`
	Capture   string `json:"capture,omitempty"`
	KnownNS   int64  `json:"known_ns,omitempty"`
	Unmatched string `json:"unmatched,omitempty"`
}

// A StepReplay has the launches of one graph in a step.
type StepReplay struct {
	Replay   int   `json:"replay"` // [EfficiencyReplay.Number]
	Launches int64 `json:"launches"`
	GPUNS    int64 `json:"gpu_ns"`
	WallNS   int64 `json:"wall_ns"` // from the first start to the last end of each launch
	// NodeNS has sums over the launches; nil if the GPU has more launches than the limit.
	NodeNS []int64 `json:"node_ns,omitempty"`
}

// NodesLost are the nodes of one launch of a graph whose operator is not known, for one reason.
type NodesLost struct {
	Reason string `json:"reason"`
	Nodes  int64  `json:"nodes"`
}

// FromNodes is the From of replays whose operators are those that were open when the program
// made the nodes.
const FromNodes = "nodes"

// FromCompiler is the From of rows whose FLOPs and bytes the compiler of the program states.
const FromCompiler = "compiler"

// FromCapture is the From of rows whose operators are those of the capture of a graph.
const FromCapture = "capture"

// Values of [EfficiencyReplay.Unmatched].
const (
	NoCapture        = "no capture"         // no capture among the inputs has the same kernels in the same order
	CaptureNoNames   = "no kernel names"    // the captures do not name their kernels
	CaptureSize      = "batch size"         // the batch sizes differ, or one of them is not known
	CapturesDiffer   = "captures differ"    // several captures match, with different operators
	NodesOverlap     = "concurrent kernels" // kernels ran at the same time, so calls have no time of their own
	TooManyCaptures  = "too many captures"
	TooManyNodes     = "too many nodes"
	ReplayOfManyRows = "too many rows" // the row that has the time is one of many that were pooled
)

// Values of [NodesLost.Reason]. They are values of [EfficiencyReplay.Unmatched], too: of replays
// none of whose nodes has an operator.
const (
	NodeUnknown    = "node unknown"         // its making is not recorded
	NodeOutside    = "node of no operator"  // no operator was open when it was made
	NodeAmbiguous  = "node made repeatedly" // by different operators
	NodeCopied     = "node copied"          // and the original is not recorded
	NodeCircular   = "node circular"        // copies refer to each other in a circle
	NodeUpdated    = "graph updated"        // the process changes graphs after it made them
	NodeIncomplete = "nodes incomplete"     // makings are missing, or are too many
)

func (c *EfficiencyCapture) check() error {
	if c.Count < 0 || c.Nodes < 0 || c.Size < 0 {
		return fmt.Errorf("count %d, nodes %d, size %d: want 0 or more", c.Count, c.Nodes, c.Size)
	}
	return c.Decode.check()
}

func (s *EfficiencyStep) check() error {
	for _, r := range s.Replays {
		if r.Launches < 0 || r.GPUNS < 0 || r.WallNS < 0 || slices.ContainsFunc(r.NodeNS, func(ns int64) bool { return ns < 0 }) {
			return fmt.Errorf("replays of graph %d have a negative number", r.Replay)
		}
	}
	return s.EfficiencySums.check()
}

func (r *EfficiencyReplay) check() error {
	if r.Launches < 0 || r.Nodes < 0 || r.Size < 0 || r.GPUNS < 0 || r.OverlapNS < 0 || r.KnownNS < 0 {
		return fmt.Errorf("launches %d, nodes %d, size %d, gpu_ns %d, overlap_ns %d, known_ns %d: want 0 or more", r.Launches, r.Nodes, r.Size, r.GPUNS, r.OverlapNS, r.KnownNS)
	}
	lost := int64(0)
	for _, l := range r.NodesLost {
		if lost = Plus(lost, l.Nodes); l.Nodes < 0 || lost > r.Nodes {
			return fmt.Errorf(".nodes_lost: want 0 or more that sum to at most nodes, %d", r.Nodes)
		}
	}
	return checkNodes(r.NodeNS, r.GPUNS)
}

// checkNodes returns an error if the times of the nodes of a graph are not parts of its time.
func checkNodes(list []int64, all int64) error {
	var sum int64
	for _, ns := range list {
		if sum = Plus(sum, ns); ns < 0 || sum > all {
			return fmt.Errorf(".node_ns: want times of 0 or more that sum to at most gpu_ns, %d", all)
		}
	}
	return nil
}

func (c *EfficiencyCapture) order(o *EfficiencyCapture) int { return cmp.Compare(c.Number, o.Number) }

func (r *EfficiencyReplay) order(o *EfficiencyReplay) int { return cmp.Compare(r.Number, o.Number) }
