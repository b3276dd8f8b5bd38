package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // of the script and the style
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"assay/compare"
	"assay/judge/timeline"
	"assay/report/doc"
	"assay/report/plot"
	"assay/summary"
)

//go:embed assets/report.js
var script []byte

//go:embed assets/report.css
var style []byte

// A Page is the content of the file. Its texts are the same as in the other forms of the report.
type Page struct {
	Title    string
	Head     Head
	Facts    []Fact
	Budget   *Budget
	Findings []Finding

	Text     []doc.Section // for readers without scripts
	Sections []doc.Section // sections without an interactive form
	Capture  []doc.Section

	Charts []plot.Chart // pictures of the report; the page shows those that consist of points, and bars of roles

	Summary *summary.Summary     // nil for a comparison
	States  []timeline.StepState // states of the steps of Summary, in the same order; may be nil

	words func(string) string // replaces words of labels; nil if none differ

	Comparison *compare.Comparison
	History    bool // of many runs
}

// Say replaces words of the texts above the details, and in labels of devices. words may be nil.
func (p *Page) Say(words func(string) string) {
	if p.words = words; words == nil {
		return
	}
	texts := []*string{&p.Head.Sentence, &p.Head.Cause}
	for i := range p.Head.First {
		texts = append(texts, &p.Head.First[i])
	}
	for i := range p.Head.Warnings {
		texts = append(texts, &p.Head.Warnings[i])
	}
	for i := range p.Facts {
		texts = append(texts, &p.Facts[i].Name)
	}
	if p.Budget != nil {
		texts = append(texts, &p.Budget.Of)
	}
	for i := range p.Findings {
		f := &p.Findings[i]
		texts = append(texts, &f.Title, &f.Savings, &f.Cause, &f.Confirm)
		for k := range f.Evidence {
			texts = append(texts, &f.Evidence[k])
		}
		for k := range f.Fixes {
			texts = append(texts, &f.Fixes[k].Text)
		}
		for k := range f.Places {
			texts = append(texts, &f.Places[k].Label)
		}
	}
	for _, text := range texts {
		*text = words(*text)
	}
}

// A Head is the verdict, or the headline of a comparison.
type Head struct {
	Kind     string   `json:"kind"` // "Verdict"
	Headline string   `json:"headline"`
	Sentence string   `json:"sentence,omitempty"`
	Cause    string   `json:"cause,omitempty"`
	First    []string `json:"first,omitempty"` // fixes to try first
	Warnings []string `json:"warnings,omitempty"`
}

// A Fact is a number next to the verdict.
type Fact struct {
	Value string `json:"value"`
	Name  string `json:"name"`
}

// A Budget divides the window of a GPU, or the mean of several, into four parts that sum
// to it: compute, exposed communication, exposed copies, idle.
type Budget struct {
	WindowNS int64    `json:"window"`
	Parts    [4]int64 `json:"parts"`
	Of       string   `json:"of"` // "the window", "the window, mean of 8 GPUs"
}

// A Finding is one card of the page.
type Finding struct {
	Rule     string   `json:"rule"`
	Level    string   `json:"level"` // "info", "warning", "critical"
	Title    string   `json:"title"`
	Savings  string   `json:"savings,omitempty"`
	Gain     float64  `json:"gain,omitempty"` // the estimated savings as a share, for the bar
	Cause    string   `json:"cause,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	Fixes    []Fix    `json:"fixes,omitempty"`
	Confirm  string   `json:"confirm,omitempty"`
	Places   []Target `json:"places,omitempty"`
}

// A Fix is one recommendation, with its source.
type Fix struct {
	Text   string `json:"text"`
	Source string `json:"source,omitempty"`
	URL    string `json:"url,omitempty"` // begins with "https://", or is empty
}

// Write writes the file. The output is deterministic: equal pages give equal bytes.
func (p *Page) Write(w io.Writer) error {
	if bytes.Contains(script, []byte("</script")) || bytes.Contains(style, []byte("</style")) {
		return fmt.Errorf("the script or the style would end its own element")
	}
	data, err := p.encoded()
	if err != nil {
		return err
	}
	// The parts are written in their order: a marker in a template, to be replaced later,
	// could also be in a name.
	out := &htmlWriter{w: w}
	p.head(out)
	out.raw("<style>", string(style), "</style>\n")
	p.body(out)
	out.raw(`<script type="application/octet-stream" id="data">`, string(data), "</script>\n")
	out.raw("<script>", string(script), "</script>\n</body>\n</html>\n")
	return out.err
}

// policy is the Content-Security-Policy. It forbids style attributes in markup, so the script sets the
// styles of single elements, which the policy allows.
func policy() string {
	hash := func(b []byte) string {
		sum := sha256.Sum256(b)
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; base-uri 'none'; form-action 'none'"
}

// encoded returns the data of the page as base64 of gzip of JSON.
func (p *Page) encoded() ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // base64 needs no second escape
	if err := enc.Encode(p.data()); err != nil {
		return nil, err
	}
	var zipped bytes.Buffer
	// The best compression saves another 5 percent and takes ten times as long.
	zw, err := gzip.NewWriterLevel(&zipped, 6)
	if err != nil {
		return nil, err
	}
	if _, err := zw.Write(text.Bytes()); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	out := make([]byte, base64.StdEncoding.EncodedLen(zipped.Len()))
	base64.StdEncoding.Encode(out, zipped.Bytes())
	return out, nil
}
