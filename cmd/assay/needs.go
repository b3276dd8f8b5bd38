package main

import (
	"os"

	"assay/analyze"
	"assay/trace"
)

// need selects what is read and measured for an output and for no other. The verdict is computed
// from measurements that are always made, so it is the same for every output.
type need struct {
	measures analyze.Measures // optional measurements of traces
	details  bool             // data of zoomable timelines
	paths    bool             // critical paths and forecasts
	digest   bool             // compute the SHA-256 of inputs
	secrets  bool             // count the secrets in the inputs
}

// output identifies something that a command prints or writes.
type output string

// The keys of the table needs.
const (
	screenOutput  output = "the screen of summary"
	pageOutput    output = "the page for a pull request"
	mdOutput      output = "the report in Markdown"
	jsonOutput    output = "the JSON of a summary"
	savedOutput   output = "a saved partial"
	pictureOutput output = "pictures"
	htmlOutput    output = "report.html"
	detailOutput  output = "the JSON with details"
	pathOutput    output = "critical paths"
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

// needs lists what each output needs. TestNeeds compares every output with one for which everything
// was measured, and checks that every entry is necessary: without it the output differs.
var needs = map[output]need{
	screenOutput:  {measures: analyze.Layers},
	pageOutput:    {measures: analyze.Efficiency | analyze.Layers},
	mdOutput:      {measures: analyze.Shapes | analyze.Passes | analyze.Efficiency | analyze.Layers | analyze.LayerSteps},
	jsonOutput:    {measures: analyze.AllMeasures, digest: true},
	savedOutput:   {measures: analyze.AllMeasures, digest: true},
	pictureOutput: {measures: analyze.Strips | analyze.Layers | analyze.LayerSteps},
	htmlOutput:    {measures: analyze.AllMeasures, details: true, digest: true},
	detailOutput:  {measures: analyze.AllMeasures, details: true, digest: true},
	pathOutput:    {paths: true},
	diffOutput:    {measures: analyze.Shapes | analyze.Passes | analyze.Layers | analyze.LayerSteps},
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

// needsOf returns the union of what the outputs need. Without outputs it is the need of the JSON,
// which is the most complete.
func needsOf(outputs ...output) (all need) {
	if len(outputs) == 0 {
		outputs = []output{jsonOutput}
	}
	for _, o := range outputs {
		n := needs[o]
		all = need{all.measures | n.measures, all.details || n.details, all.paths || n.paths, all.digest || n.digest, all.secrets || n.secrets}
	}
	return all
}

// reads returns which parts of traces are read.
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
