package monitor

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"assay/internal/diag"
	"assay/internal/redact"
	"assay/logs"
)

// maxXML is the largest output of nvidia-smi in XML that is read.
const maxXML = 1 << 30

// SniffXML reports whether head begins the output of "nvidia-smi -q -x".
func SniffXML(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\ufeff")
	return bytes.HasPrefix(head, []byte("<?xml")) && bytes.Contains(head, []byte("<nvidia_smi_log>")) ||
		bytes.HasPrefix(head, []byte("<nvidia_smi_log>"))
}

// ReadXML reads the output of "nvidia-smi -q -x". Several outputs may follow each other.
func ReadXML(r io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	f := NewFinder(name, limits)
	f.kind = smiLog
	dec := xml.NewDecoder(io.LimitReader(r, maxXML))
	dec.Strict = false
	err := f.xmlReports(dec)
	var syntax *xml.SyntaxError
	complete := errors.Is(err, io.EOF)
	if errors.As(err, &syntax) {
		err = nil
	}
	at := diag.Pos{File: name, Offset: dec.InputOffset()}
	log := f.Log()
	if !complete {
		log.Complete = false
		log.Issues = append(log.Issues, diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, Count: 1, First: at,
			Help: fmt.Sprintf("The XML ends early, or is over the limit of %d MiB. Values after this position are missing.", maxXML>>20)})
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return log, err
}

// xmlReports reads elements to the end of the input. An element without elements in it is a
// value, and its place is the names of the elements around it.
func (f *Finder) xmlReports(dec *xml.Decoder) error {
	var path []string // below the GPU, or below the report
	var text strings.Builder
	inGPU, leaf := false, false
	for {
		token, err := dec.RawToken()
		if err != nil {
			if err == io.EOF && inGPU {
				return &xml.SyntaxError{Msg: "the last GPU is not complete"}
			}
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			text.Reset()
			leaf = true
			switch {
			case t.Name.Local == "nvidia_smi_log":
				f.endReport()
				path, inGPU = path[:0], false
			case t.Name.Local == "gpu" && !inGPU:
				bus := ""
				for _, a := range t.Attr {
					if a.Name.Local == "id" {
						bus = a.Value
					}
				}
				f.report.begin(bus)
				path, inGPU = path[:0], true
			case len(path) > maxXMLDepth:
				return &xml.SyntaxError{Msg: "elements are nested too deep"}
			default:
				path = append(path, t.Name.Local)
			}
		case xml.CharData:
			if leaf && text.Len() < logs.MaxName {
				text.Write(redact.CutBytes(t, logs.MaxName))
			}
		case xml.EndElement:
			f.at = diag.Pos{File: f.name, Offset: dec.InputOffset()}
			value := strings.TrimSpace(text.String())
			switch {
			case inGPU && len(path) > 0 && leaf:
				f.report.value(strings.Join(path, "."), value, f.at)
			case !inGPU && leaf && len(path) == 1:
				f.reportTop(path[0], value)
			}
			leaf = false
			if len(path) > 0 {
				path = path[:len(path)-1]
			} else {
				inGPU = false
			}
		}
	}
}

const maxXMLDepth = 32
