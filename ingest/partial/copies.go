package partial

import (
	"fmt"

	"assay/internal/diag"
	"assay/summary"
)

// codeCopied is the code of the issue on a copy.
const codeCopied = "input-copied"

// once returns the parts with what was recorded once: those that repeat another one are reduced to their input.
func once(all []Part) []Part { return withoutSources(withoutForms(withoutCopies(all))) }

// isCopy reports whether [withoutCopies] or [withoutForms] has left out what the part measured.
func (p Part) isCopy() bool {
	return p.Summary.Issue(codeCopied) != nil || p.Summary.Issue(codeForm) != nil
}

// withoutCopies finds parts whose trace has the same bytes and the same rank as an earlier
// one. It reduces them to their input with an issue, so that the trace counts only once.
func withoutCopies(all []Part) []Part {
	type file struct {
		sha256 string
		rank   int
	}
	first := map[file]string{}
	out := all
	for i, p := range all {
		if p.Summary == nil || len(p.Summary.Inputs) != 1 || len(p.Summary.Devices) == 0 {
			continue
		}
		in := p.Summary.Inputs[0]
		of := file{in.SHA256, in.Rank}
		path, again := first[of]
		if in.SHA256 == "" || !again {
			first[of] = in.Path
			continue
		}
		if len(out) == 0 || &out[0] == &all[0] {
			out = append([]Part{}, all...)
		}
		out[i].Members = nil
		out[i].Summary = &summary.Summary{Inputs: p.Summary.Inputs, Issues: []summary.Issue{{
			Code: codeCopied, Severity: diag.Info.String(), Count: 1, First: in.Path,
			Help: fmt.Sprintf("The file has the same bytes as %s, so it is a copy and counts once. Leave it out.", path),
		}}}
	}
	return out
}
