package report

import (
	"strings"

	"assay/internal/diag"
	"assay/report/doc"
)

// Codes makes the list of all codes of issues, by severity.
func Codes(codes []diag.Code) doc.Doc {
	var list doc.List
	for _, severity := range []diag.Severity{diag.Suspect, diag.DataLoss, diag.Info} {
		var names []string
		for _, c := range codes {
			if c.Severity == severity {
				names = append(names, c.Name)
			}
		}
		if names != nil {
			list = append(list, doc.Item{Mark: severity.String(), Text: strings.Join(names, ", ")})
		}
	}
	s := []doc.Section{{Title: "Issue codes", Lead: "by their worst severity; \"assay explain CODE\" describes one", Blocks: []doc.Block{list}}}
	return doc.Doc{Title: "Issue codes", Screen: s, Sections: s}
}

// severities describes the effect of each severity on the numbers.
var severities = map[diag.Severity]string{
	diag.Info:     "all numbers are valid",
	diag.DataLoss: "the numbers omit lost data",
	diag.Suspect:  "a number may be wrong",
}

// ExplainCode makes the page of one code.
func ExplainCode(c diag.Code) doc.Doc {
	do := c.Do
	if do == "" {
		do = "Nothing has to be done."
	}
	s := []doc.Section{
		{Title: c.Name, Lead: "issue, at worst " + c.Severity.String() + ": " + severities[c.Severity], Blocks: []doc.Block{doc.Paragraph{Text: c.Means}}},
		{Title: "What to do", Blocks: []doc.Block{doc.Paragraph{Text: do}}},
	}
	return doc.Doc{Title: c.Name, Screen: s, Sections: s}
}
