package inspect

import "assay/summary"

// Schema names the layout of the JSON of an answer.
const Schema = "assay/inspection/1"

// An Answer is what was asked and the answer. It has one of the last four.
type Answer struct {
	Schema   string   `json:"schema"`
	Question Question `json:"question"`
	Inputs   []Source `json:"inputs"`

	Kernels *Kernels `json:"kernels,omitempty"`
	Ops     *Ops     `json:"ops,omitempty"`
	Gap     *Gap     `json:"gap,omitempty"`
	Moments []Moment `json:"moments,omitempty"`

	MomentsLeft int `json:"moments_left_out,omitempty"`
}

// A Question is what was asked. It has one of the first four.
type Question struct {
	Kernel string `json:"kernel,omitempty"` // a pattern
	Op     string `json:"op,omitempty"`     // a pattern
	Gap    int    `json:"gap,omitempty"`
	At     string `json:"at,omitempty"`
	Window string `json:"window,omitempty"` // the part of the capture that was asked about
	Top    int    `json:"top"`              // rows of each table
}

// A Source is an input. The answer has nothing of an input without a rank: it could not be
// read, or was not asked about.
type Source struct {
	Path string `json:"path"`
	Rank *int   `json:"rank,omitempty"`

	Issues []summary.Issue `json:"issues,omitempty"` // see Capture.Issues
}
