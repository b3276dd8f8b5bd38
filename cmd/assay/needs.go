package main

import (
	"os"

	"assay/analyze"
	"assay/trace"
)

// A need is what is read and measured for the outputs that show it, and for no others. The
// verdict needs none of it, so it is the same in every output.
type need struct {
	measures analyze.Measures // of traces
	details  bool             // what zoomable timelines show
	digest   bool             // the SHA-256 of inputs
	secrets  bool             // how many secrets the inputs have
}

// An output is something that commands print or write.
type output string

// The outputs of the table below.
const (
	screenOutput  output = "the screen of summary"
	pageOutput    output = "the page for a pull request"
	mdOutput      output = "the report in Markdown"
	jsonOutput    output = "the JSON of a summary"
	savedOutput   output = "a saved partial"
	pictureOutput output = "pictures"
	htmlOutput    output = "report.html"
	detailOutput  output = "the JSON with details"
	diffOutput    output = "a comparison"
	checkOutput   output = "results of gates"
	doctorOutput  output = "the capture check"

	diffMDOutput     output = "a comparison in Markdown"
	diffJSONOutput   output = "the JSON of a comparison"
	checkFileOutput  output = "results of gates with their inputs"
	doctorJSONOutput output = "the JSON of the capture check"

	eventOutput    output = "single events"
	tableOutput    output = "tables of nsys stats"
	profileOutput  output = "stacks"
	timelineOutput output = "a trace" // a part of one, or that of several ranks
)

// needs has what each output needs. TestNeeds compares every output with one for which
// everything was measured, and checks that no need is idle: without it, the output differs.
var needs = map[output]need{
	screenOutput:  {},
	pageOutput:    {measures: analyze.Efficiency},
	mdOutput:      {measures: analyze.Shapes | analyze.Passes | analyze.Efficiency},
	jsonOutput:    {measures: analyze.AllMeasures, digest: true},
	savedOutput:   {measures: analyze.AllMeasures, digest: true},
	pictureOutput: {measures: analyze.Strips},
	htmlOutput:    {measures: analyze.AllMeasures, details: true, digest: true},
	detailOutput:  {measures: analyze.AllMeasures, details: true, digest: true},
	diffOutput:    {measures: analyze.Shapes | analyze.Passes},
	checkOutput:   {},
	doctorOutput:  {measures: analyze.Shapes | analyze.Efficiency, secrets: true},

	diffMDOutput:     {measures: analyze.Efficiency},
	diffJSONOutput:   {measures: analyze.Efficiency, digest: true},
	checkFileOutput:  {digest: true},
	doctorJSONOutput: {digest: true},

	eventOutput:    {measures: analyze.Shapes},
	tableOutput:    {}, // [nsysstats.Needs] says what each table needs
	profileOutput:  {digest: true},
	timelineOutput: {},
}

// needsOf returns what outputs need together; of none it is everything that the JSON has.
func needsOf(outputs ...output) (all need) {
	if len(outputs) == 0 {
		outputs = []output{jsonOutput}
	}
	for _, o := range outputs {
		n := needs[o]
		all = need{all.measures | n.measures, all.details || n.details, all.digest || n.digest, all.secrets || n.secrets}
	}
	return all
}

// reads returns what is read of traces.
func (n need) reads() trace.Select { return analyze.Options{Without: n.without()}.Needs() }

// without returns the measures that are left out.
func (n need) without() analyze.Measures { return analyze.AllMeasures &^ n.measures }

// sameSize returns the paths of files that are as long as another one. Only these can be
// copies, so digests of the others need not be computed to find copies.
func sameSize(paths []string) map[string]bool {
	first, out := make(map[int64]string), make(map[string]bool)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if other, ok := first[info.Size()]; ok {
			out[other], out[path] = true, true
			continue
		}
		first[info.Size()] = path
	}
	return out
}
