package summary

// A Partial marks a summary as one of the files that "assay summary --save" writes: all rows of one input,
// which are not yet compared with other ranks. [Merge] and [Join] remove the mark.
type Partial struct {
	// Collectives is the number of collectives in the file of collectives that has the same name, and
	// SHA256 is the digest of that file; it is absent if there is no such file.
	Collectives int64  `json:"collectives"`
	SHA256      string `json:"sha256,omitempty"`
}
