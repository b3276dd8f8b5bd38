package loopback

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"
)

// Perfetto is the origin of the viewer.
const Perfetto = "https://ui.perfetto.dev"

// patience is how long the page waits for the viewer before it reports that there is no answer.
const patience = 15 * time.Second

// Address returns the address of the viewer for a span of time, or for the whole trace if show is
// nil. Times are in ns on the trace's own clock: ts, which is in µs, times 1,000.
func Address(show *Range) string {
	if show == nil {
		return Perfetto
	}
	return Perfetto + "/#!/?visStart=" + strconv.FormatInt(show.Start, 10) + "&visEnd=" + strconv.FormatInt(show.End, 10)
}

// A Range is a span of time, in ns.
type Range struct{ Start, End int64 }

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// data has the values that the script of the page reads.
type data struct {
	Address  string `json:"address"`
	Origin   string `json:"origin"`
	Trace    string `json:"trace"`
	Title    string `json:"title"`
	FileName string `json:"fileName"`
	Path     string `json:"path"`
	Patience int64  `json:"patience"` // ms
}

// page returns the page that passes a trace to the viewer, and its Content-Security-Policy.
func page(c Content) (text []byte, policy string, err error) {
	// json.Marshal escapes <, > and &, so no text can end the script element.
	about, err := json.Marshal(data{Address(c.Show), Perfetto, tracePath, c.Title, c.Name, c.Path,
		patience.Milliseconds()})
	if err != nil {
		return nil, "", err
	}
	// One pass over the page fills it, so no title is taken for a marker.
	filled := strings.NewReplacer("{{.Title}}", html.EscapeString(c.Title), "{{.About}}", html.EscapeString(c.About),
		"{{.Origin}}", Perfetto, "{{.Style}}", pageCSS, "{{.Script}}", pageJS, "{{.Data}}", string(about))
	policy = fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", hash(pageJS), hash(pageCSS))
	return []byte(filled.Replace(pageHTML)), policy, nil
}

// hash returns the source expression of a script or style.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
