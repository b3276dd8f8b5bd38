package check

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"assay/gate"
	"assay/gate/metric"
	"assay/internal/jsonscan"
	"assay/internal/label"
	"assay/report/doc"
)

// CheckSchema names the layout of the JSON. Fields may be added to it, never
// renamed; the number counts breaking changes.
const CheckSchema = "assay/check/1"

type checkJSON struct {
	Schema   string      `json:"schema"`
	Version  string      `json:"version"` // of assay
	Result   gate.Result `json:"result"`
	Gates    []gateJSON  `json:"gates"`
	Runs     []runJSON   `json:"runs"`
	Baseline []runJSON   `json:"baseline"`
}

type gateJSON struct {
	Gate    string      `json:"gate"`
	Metric  string      `json:"metric"`
	Unit    string      `json:"unit"`
	Better  string      `json:"better"` // "lower" or "higher"
	Limit   string      `json:"limit"`
	Line    int         `json:"line"`
	Result  gate.Result `json:"result"`
	Why     string      `json:"why"`
	Capture bool        `json:"capture"` // the result is inconclusive because of the captures, not because of noise

	// Values that were not measured are null.
	Value    *sampleJSON `json:"value"`
	Baseline *sampleJSON `json:"baseline"`
	Change   *float64    `json:"change"` // in the metric's unit
	P        *float64    `json:"p"`
}

type sampleJSON struct {
	Median float64   `json:"median"`
	Low    *float64  `json:"low"` // of the confidence interval of 95 %; null with fewer than six runs
	High   *float64  `json:"high"`
	Runs   []float64 `json:"runs"`
	Num    *int64    `json:"numerator"`
	Den    *int64    `json:"denominator"`
}

type runJSON struct {
	Inputs []inputJSON `json:"inputs"`
}

type inputJSON struct {
	Path   string `json:"path"`
	Rank   int    `json:"rank"`
	SHA256 string `json:"sha256"`
}

// JSONParts returns a value of the type that [Report.JSON] writes.
func JSONParts() []any { return []any{checkJSON{}} }

// JSON writes the outcomes in the order of the gates.
func (c Report) JSON(w io.Writer) error {
	out := checkJSON{Schema: CheckSchema, Version: c.Version, Result: c.Result, Gates: []gateJSON{},
		Runs: runsJSON(c.Now), Baseline: runsJSON(c.Base)}
	for _, o := range c.Outcomes {
		g := gateJSON{
			Gate: o.Gate.Text, Metric: o.Gate.Metric.Name, Unit: o.Gate.Metric.Unit.String(), Better: better(o.Gate.Metric),
			Limit: o.Gate.Limit(), Line: o.Gate.Line, Result: o.Result, Why: o.Why, Capture: o.Capture,
			Value: newSampleJSON(o.Now), Baseline: newSampleJSON(o.Base), P: o.P,
		}
		if o.Now != nil && o.Base != nil {
			d := o.Now.Center - o.Base.Center
			g.Change = &d
		}
		out.Gates = append(out.Gates, g)
	}
	return jsonscan.Write(w, out)
}

func better(m *metric.Metric) string {
	if m.Higher {
		return "higher"
	}
	return "lower"
}

func newSampleJSON(s *gate.Sample) *sampleJSON {
	if s == nil {
		return nil
	}
	out := &sampleJSON{Median: s.Center, Low: s.Lo, High: s.Hi, Runs: s.Runs}
	if s.Den != 0 {
		out.Num, out.Den = &s.Num, &s.Den
	}
	return out
}

func runsJSON(runs []gate.Run) []runJSON {
	out := []runJSON{}
	for _, r := range runs {
		one := runJSON{Inputs: []inputJSON{}}
		for _, in := range r.Summary.Inputs {
			one.Inputs = append(one.Inputs, inputJSON{in.Path, in.Rank, in.SHA256})
		}
		out = append(out, one)
	}
	return out
}

// A benchmark is one entry of the list that github-action-benchmark reads.
type benchmark struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Range string  `json:"range,omitempty"`
	Extra string  `json:"extra,omitempty"`
}

// Benchmark writes the values as the list that github-action-benchmark reads. A file
// has one kind of values: "customSmallerIsBetter" or, if higher is set,
// "customBiggerIsBetter". The list omits gates that were not measured.
func (c Report) Benchmark(w io.Writer, higher bool) error {
	list := []benchmark{}
	for _, o := range c.Outcomes {
		m := o.Gate.Metric
		if o.Now == nil || m.Higher != higher {
			continue
		}
		b := benchmark{Name: o.Gate.Text, Unit: m.Unit.String(), Value: o.Now.Center, Extra: o.Result.String() + ": " + o.Why}
		if m.Unit == metric.Share {
			b.Unit, b.Value = "%", 100*o.Now.Center
		}
		if n := len(o.Now.Runs); n > 1 {
			b.Range = fmt.Sprintf("%s of %d runs", reach(o.Now.Runs), n)
		}
		list = append(list, b)
	}
	return jsonscan.Write(w, list)
}

// reach returns the largest distance of the runs from the middle of their range: "± 3.1%".
func reach(runs []float64) string {
	low, high := runs[0], runs[0]
	for _, r := range runs {
		low, high = min(low, r), max(high, r)
	}
	if low+high == 0 {
		return "± 0%"
	}
	return "± " + strconv.FormatFloat(100*(high-low)/(high+low), 'f', 1, 64) + "%"
}

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string          `xml:"name,attr"`
	Tests    int             `xml:"tests,attr"`
	Failures int             `xml:"failures,attr"`
	Errors   int             `xml:"errors,attr"`
	Skipped  int             `xml:"skipped,attr"`
	Props    []junitProperty `xml:"properties>property"`
	Cases    []junitCase     `xml:"testcase"`
}

// junitCase has no duration, because gates run no tests.
type junitCase struct {
	Class   string          `xml:"classname,attr"`
	Name    string          `xml:"name,attr"`
	Props   []junitProperty `xml:"properties>property"`
	Failure *junitTrouble   `xml:"failure"`
	Error   *junitTrouble   `xml:"error"`
	Skipped *junitTrouble   `xml:"skipped"`
	Out     string          `xml:"system-out"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitTrouble struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes one suite with a case for each gate.
func (c Report) JUnit(w io.Writer) error {
	suite := junitSuite{Name: c.pair(), Props: []junitProperty{{"assay", c.Version}, {"runs", c.runs()}}}
	for _, o := range c.Outcomes {
		k := junitCase{Class: "assay.check", Name: label.Clean(o.Gate.Text), Out: label.Clean(o.Gate.Text + " " + o.Why),
			Props: []junitProperty{{"limit", o.Gate.Limit()}}}
		for _, v := range []struct {
			name string
			of   *gate.Sample
		}{{"value", o.Now}, {"baseline", o.Base}} {
			if v.of != nil {
				k.Props = append(k.Props, junitProperty{v.name, strconv.FormatFloat(v.of.Center, 'g', -1, 64)},
					junitProperty{v.name + " (printed)", printed(&o, v.of)})
			}
		}
		trouble := &junitTrouble{Message: label.Clean(o.Why), Text: label.Clean(o.Gate.Text + " " + o.Why)}
		switch counts := c.counts(o); {
		case counts == gate.Fail:
			trouble.Type, k.Failure = failureType(&o), trouble
			suite.Failures++
		case counts == gate.Error:
			trouble.Type, k.Error = doc.Capital(o.Result.String()), trouble
			suite.Errors++
		case o.Result == gate.Inconclusive, o.Result == gate.Skipped:
			k.Skipped = trouble
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, k)
	}
	suite.Tests = len(suite.Cases)
	all := junitSuites{Name: "assay check", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors,
		Skipped: suite.Skipped, Suite: suite}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

// failureType returns whether a run became slower than its baseline, missed its target,
// or is inconclusive.
func failureType(o *gate.Outcome) string {
	if o.Result == gate.Inconclusive {
		return "Inconclusive"
	}
	if o.Gate.NeedsBaseline() {
		return "PerformanceRegression"
	}
	return "PerformanceTarget"
}

// pair returns the names of both sides.
func (c Report) pair() string {
	name := func(runs []gate.Run) string {
		in := gate.Inputs(runs)
		if len(in) == 0 {
			return "nothing"
		}
		text := path.Base(strings.ReplaceAll(label.Clean(in[0].Path), `\`, "/"))
		if len(in) > 1 {
			text += fmt.Sprintf(" and %d more", len(in)-1)
		}
		return text
	}
	if len(c.Base) == 0 {
		return name(c.Now)
	}
	return name(c.Now) + ", baseline " + name(c.Base)
}
