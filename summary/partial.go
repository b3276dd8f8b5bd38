package summary

// A Partial says that a summary is one of the files that "assay summary --save" writes:
// all rows of one input, which are not compared with other ranks yet. [Merge] and [Join]
// leave it out.
type Partial struct {
	// Collectives is the number of collectives in the file of that kind, which has the
	// same name, and SHA256 its digest; it is absent if there is no such file.
	Collectives int64  `json:"collectives"`
	SHA256      string `json:"sha256,omitempty"`
}
