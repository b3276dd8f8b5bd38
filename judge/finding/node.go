package finding

// A Node is one finding of the tree. The first nodes of a timeline are the four parts of the
// window; they are always present, and their times sum to the window.
type Node struct {
	Rule    string `json:"rule"`
	Part    string `json:"part"`              // the root: a part of the window, or another basis
	Subject string `json:"subject,omitempty"` // as in [Finding]

	// NS is the part of its parent's time, in ns, that the node explains at most. All causes of a
	// node together explain at most its time: time that several of them explain counts for the
	// first one. OfNS is the window, and Share is NS / OfNS.
	//
	// On other bases these fields are the numerator, the denominator and the value of the finding.
	// Memory has bytes instead, and counts of steps or launches have only Share.
	NS      int64   `json:"ns"`
	OfNS    int64   `json:"of_ns"`
	Bytes   int64   `json:"bytes,omitempty"`
	OfBytes int64   `json:"of_bytes,omitempty"`
	Share   float64 `json:"share"`

	// ExplainsNS is the ns of its parent that the node explains, including time that counts for
	// causes before it. The level depends on it. It is 0 if it equals NS.
	ExplainsNS int64 `json:"explains_ns,omitempty"`

	Level  Level  `json:"level"`
	Causes []Node `json:"causes,omitempty"`
}

// Node returns the finding as a node on a basis of its own.
func (f Finding) Node(part string) Node {
	return Node{Rule: f.Rule, Part: part, Subject: f.Subject, NS: f.NumeratorNS, OfNS: f.DenominatorNS,
		Bytes: f.NumeratorBytes, OfBytes: f.DenominatorBytes, Share: f.Value, Level: f.Level}
}

// ForInformation sets all levels to Info, for trees whose verdict is withheld.
func ForInformation(list []Node) {
	for i := range list {
		list[i].Level = Info
		ForInformation(list[i].Causes)
	}
}
