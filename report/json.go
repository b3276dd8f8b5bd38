package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"assay/judge"
	"assay/summary"
)

// JSON writes the summary as one object, with verdict, findings,
// sides of kernels and the software that was found among its fields. Lists of numbers are set in one line; everything else is indented.
func (d Doc) JSON(w io.Writer) error {
	if d.comparison != nil {
		return writeJSON(w, d.comparison)
	}
	s := *d.summary
	// A reader that iterates should not have to ask for null.
	s.Inputs, s.Devices = orEmpty(s.Inputs), orEmpty(s.Devices)
	s.Kernels, s.Issues = orEmpty(s.Kernels), orEmpty(s.Issues)
	return writeJSON(w, struct {
		*summary.Summary
		Verdict  judge.Verdict `json:"verdict"`
		Findings []findingJSON `json:"findings"`
		Sides    []judge.Side  `json:"sides,omitempty"`

		States []judge.StepState    `json:"step_states,omitempty"`
		Groups []judge.StepGroup    `json:"step_groups,omitempty"`
		Phases []judge.PhaseVerdict `json:"phase_verdicts,omitempty"`
		Stacks []judge.Stack        `json:"stacks,omitempty"`
	}{&s, d.result.Verdict, findingsJSON(d.result.Findings), d.result.Sides, d.result.States, d.result.Groups, d.result.Phases, d.result.Stacks})
}

// A findingJSON is a finding with the texts and sources of its steps, which the data
// itself has by id.
type findingJSON struct {
	judge.Finding
	Next    []string       `json:"next,omitempty"`
	Sources []judge.Source `json:"next_sources,omitempty"` // of each of Next
}

func findingsJSON(list []judge.Finding) []findingJSON {
	out := make([]findingJSON, len(list))
	for i, f := range list {
		out[i].Finding = f
		for _, s := range f.Next {
			out[i].Next, out[i].Sources = append(out[i].Next, s.Text()), append(out[i].Sources, s.Source())
		}
	}
	return out
}

// JSONLine returns a value as JSON in one line, with what a terminal might obey
// escaped.
func JSONLine(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return appendPrintable(nil, text), err
}

// WriteJSON writes a value as indented JSON, with what a terminal might obey, marks
// that change the direction of text among it, escaped.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v) }

// writeJSON writes a value as indented JSON.
func writeJSON(w io.Writer, v any) error {
	var compact bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false) // kernel names are full of angle brackets, and this is no HTML
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(indent(compact.Bytes()))
	return err
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// indent lays out compact, valid JSON. Unlike [json.Indent] it leaves lists
// that hold no object and no list in one line: a strip has thousands of
// numbers.
func indent(compact []byte) []byte {
	out := make([]byte, 0, 2*len(compact))
	newline := func(depth int) {
		out = append(out, '\n')
		for range depth {
			out = append(out, ' ', ' ')
		}
	}
	depth := 0
	for i := 0; i < len(compact); {
		switch c := compact[i]; c {
		case '"':
			n := stringEnd(compact[i:])
			out = appendPrintable(out, compact[i:i+n])
			i += n
			continue
		case '{', '[':
			if n := flatEnd(compact[i:]); n > 0 {
				out = appendFlat(out, compact[i:i+n])
				i += n
				continue
			}
			out = append(out, c)
			depth++
			newline(depth)
		case '}', ']':
			depth--
			newline(depth)
			out = append(out, c)
		case ',':
			out = append(out, c)
			newline(depth)
		case ':':
			out = append(out, ':', ' ')
		default:
			out = append(out, c)
		}
		i++
	}
	return out
}

// appendPrintable appends the text of a JSON string with what a terminal might
// obey escaped: encoding/json leaves DEL, the C1 controls and marks that change
// the direction of text as they are.
func appendPrintable(out, s []byte) []byte {
	for _, r := range string(s) {
		if r == 0x7f || r > 0x7f && !unicode.IsPrint(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// stringEnd returns the length of the string that b begins with.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// flatEnd returns the length of the list that b begins with if it holds only
// scalars, or of the empty object; else 0.
func flatEnd(b []byte) int {
	if b[0] == '{' {
		if b[1] == '}' {
			return 2
		}
		return 0
	}
	for i := 1; i < len(b); {
		switch b[i] {
		case '"':
			i += stringEnd(b[i:])
			continue
		case '[', '{':
			return 0
		case ']':
			return i + 1
		}
		i++
	}
	return 0
}

// appendFlat puts a space after each comma between scalars.
func appendFlat(out, list []byte) []byte {
	for i := 0; i < len(list); {
		if list[i] == '"' {
			n := stringEnd(list[i:])
			out = appendPrintable(out, list[i:i+n])
			i += n
			continue
		}
		out = append(out, list[i])
		if list[i] == ',' {
			out = append(out, ' ')
		}
		i++
	}
	return out
}
