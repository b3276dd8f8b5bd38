package inspect

import "assay/summary"

// Schema names the layout of the JSON of an answer.
const Schema = "assay/inspection/1"

// An Answer is a question with its answer: exactly one of Kernels, Ops, Gap, Layers, Moments and Why is set.
type Answer struct {
	Schema   string   `json:"schema"`
	Question Question `json:"question"`
	Inputs   []Source `json:"inputs"`

	Kernels *Kernels `json:"kernels,omitempty"`
	Ops     *Ops     `json:"ops,omitempty"`
	Gap     *Gap     `json:"gap,omitempty"`
	Moments []Moment `json:"moments,omitempty"`
	Why     *Why     `json:"why,omitempty"`
	Layers  []Layer  `json:"layers,omitempty"`

	MomentsLeft int `json:"moments_left_out,omitempty"`
}

// A Question is a question about a capture: exactly one of Kernel, Op, Gap, Layer and At is set.
type Question struct {
	Kernel string `json:"kernel,omitempty"` // a pattern
	Op     string `json:"op,omitempty"`     // a pattern
	Gap    int    `json:"gap,omitempty"`
	At     string `json:"at,omitempty"`
	Layer  *int   `json:"layer,omitempty"`
	Why    bool   `json:"why,omitempty"`    // about Kernel or At: why it started when it did
	Window string `json:"window,omitempty"` // the part of the capture that the question is about
	Top    int    `json:"top"`              // rows of each table
}

// A Source is an input. An input without a rank did not contribute to the answer: it could not be
// read, or the question was not about it.
type Source struct {
	Path string `json:"path"`
	Rank *int   `json:"rank,omitempty"`

	Issues []summary.Issue `json:"issues,omitempty"` // see Capture.Issues
}
