package finding

// A Node is one finding of the tree. The four parts of the window are the first nodes of
// a timeline: they are always present, and their times sum to the window.
type Node struct {
	Rule    string `json:"rule"`
	Part    string `json:"part"`              // the root: a part of the window, or a basis of its own
	Subject string `json:"subject,omitempty"` // as in a Finding

	// NS is the part of its parent's time that the node explains, at most. The causes
	// of one node have at most its time together: what several of them explain counts
	// for the first one. OfNS is the window, and Share is NS of it. On a basis of its own
	// they are the numerator, the denominator and the value of the finding; for memory
	// in bytes, for numbers of steps or launches the value alone.
	NS      int64   `json:"ns"`
	OfNS    int64   `json:"of_ns"`
	Bytes   int64   `json:"bytes,omitempty"`
	OfBytes int64   `json:"of_bytes,omitempty"`
	Share   float64 `json:"share"`

	// ExplainsNS is the time of its parent that the node explains with what counts for the
	// causes before it. It is 0 if that is NS. The level follows it.
	ExplainsNS int64 `json:"explains_ns,omitempty"`

	Level  Level  `json:"level"`
	Causes []Node `json:"causes,omitempty"`
}

// Node returns the finding as a node on a basis of its own.
func (f Finding) Node(part string) Node {
	return Node{Rule: f.Rule, Part: part, Subject: f.Subject, NS: f.NumeratorNS, OfNS: f.DenominatorNS,
		Bytes: f.NumeratorBytes, OfBytes: f.DenominatorBytes, Share: f.Value, Level: f.Level}
}

// ForInformation sets the levels of nodes whose verdict is withheld.
func ForInformation(list []Node) {
	for i := range list {
		list[i].Level = Info
		ForInformation(list[i].Causes)
	}
}
