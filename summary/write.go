package summary

import (
	"io"

	"assay/internal/jsonscan"
)

// Write writes s as one indented JSON object, which [Read] reads. If s has sums over ranks or details, rows
// without lists take one line each, because such summaries are long. If madeBy is not empty, it becomes the
// member "assay": the version of the program that measured. The members of the structs in more follow those
// of s.
func Write(w io.Writer, s *Summary, madeBy string, more ...any) error {
	out := *s
	// Programs that iterate over these lists do not have to expect null.
	out.Inputs, out.Devices = orEmpty(s.Inputs), orEmpty(s.Devices)
	out.Kernels, out.Issues = orEmpty(s.Kernels), orEmpty(s.Issues)
	out.Efficiency = s.Efficiency.written()
	by := MadeBy{madeBy}
	write := jsonscan.WriteMembers
	if len(s.Rolled)+len(s.Details) > 0 {
		write = jsonscan.WriteRows
	}
	return write(w, append([]any{&out, by}, more...)...)
}

// MadeBy is the member with the version of the program that measured.
type MadeBy struct {
	Assay string `json:"assay,omitempty"`
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
