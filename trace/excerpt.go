package trace

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/tidwall/gjson"

	"assay/internal/diag"
)

// windowMember is the member in which "assay trim" writes an [Excerpt].
const windowMember = "assay_window"

// An Excerpt describes the part of a capture that "assay trim" wrote to a file. It is stored
// in the file. The analysis of the file measures its window only.
type Excerpt struct {
	Window   Window // the part that is measured, unless Whole is set
	Whole    bool   // the file covers all the time of the capture; only some kinds of events were left out
	Capture  Extent // from the first to the last event of the whole capture
	Asked    string // the request of the user, such as "steps 3 to 5"
	From     string // the format of the capture if it was converted; "" if its events were copied
	Complete bool   // the capture was read to its end
	Issues   []diag.Issue
}

// The form of an excerpt in JSON.
type (
	excerptJSON struct {
		Whole    bool         `json:"whole,omitempty"`
		Start    int64        `json:"start_ns"`
		End      int64        `json:"end_ns"`
		Asked    string       `json:"asked,omitempty"`
		From     string       `json:"from,omitempty"`
		Capture  extentJSON   `json:"capture"`
		Devices  []extentJSON `json:"devices,omitempty"`
		Complete bool         `json:"complete"`
		Issues   []issueJSON  `json:"issues,omitempty"`
	}
	extentJSON struct {
		Device *int64 `json:"device,omitempty"`
		Start  int64  `json:"start_ns"`
		End    int64  `json:"end_ns"`
	}
	issueJSON struct {
		Code     string `json:"code"`
		Severity string `json:"severity"`
		Count    int64  `json:"count"`
		Help     string `json:"help"`
	}
)

// Member returns the excerpt as a member of the top-level object, without a comma after it.
// It applies mask to the texts, so that no secret is written.
func (x *Excerpt) Member(mask func(string) string) []byte {
	w := x.Window
	if x.Whole {
		w = Window{Start: x.Capture.Start, End: x.Capture.End}
	}
	out := excerptJSON{Whole: x.Whole, Start: w.Start, End: w.End, Asked: mask(x.Asked), From: x.From,
		Capture: extentJSON{nil, x.Capture.Start, x.Capture.End}, Complete: x.Complete}
	for device, e := range w.Extent {
		out.Devices = append(out.Devices, extentJSON{&device, e.Start, e.End})
	}
	slices.SortFunc(out.Devices, func(a, b extentJSON) int {
		if *a.Device < *b.Device {
			return -1
		}
		return 1
	})
	for _, is := range x.Issues {
		out.Issues = append(out.Issues, issueJSON{is.Code, is.Severity.String(), is.Count, mask(is.Help)})
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err) // not possible: out has only numbers and texts
	}
	return append([]byte(`"`+windowMember+`": `), text...)
}

// excerptOf reads an excerpt. It returns nil if there is none or if it is not plausible.
func excerptOf(raw []byte) *Excerpt {
	v := gjson.ParseBytes(raw)
	if !v.IsObject() || v.Get("start_ns").Type != gjson.Number || v.Get("end_ns").Type != gjson.Number {
		return nil
	}
	x := &Excerpt{Asked: v.Get("asked").String(), From: v.Get("from").String(), Capture: extentOf(v.Get("capture")),
		Complete: v.Get("complete").Type != gjson.False, Whole: v.Get("whole").Type == gjson.True}
	e := extentOf(v)
	x.Window = Window{Start: e.Start, End: e.End, Extent: map[int64]Extent{}}
	if len(x.Asked) > maxRequest {
		x.Asked = ""
	}
	const most = 4096
	v.Get("devices").ForEach(func(_, d gjson.Result) bool {
		x.Window.Extent[d.Get("device").Int()] = extentOf(d)
		return len(x.Window.Extent) < most
	})
	v.Get("issues").ForEach(func(_, is gjson.Result) bool {
		code, help := is.Get("code").String(), is.Get("help").String()
		if known, ok := diag.CodeOf(code); ok && len(help) <= maxMember {
			severity := severityOf(is.Get("severity").String())
			issue := diag.Issue{Severity: severity, Count: max(1, is.Get("count").Int()), Help: help}
			issue.Code = known.Name
			x.Issues = append(x.Issues, issue)
		}
		return len(x.Issues) < most
	})
	return x
}

// maxRequest is the maximum length of Excerpt.Asked in bytes.
const maxRequest = 1 << 10

// extentOf reads a stretch of time that does not end before its start.
func extentOf(v gjson.Result) Extent {
	e := Extent{v.Get("start_ns").Int(), v.Get("end_ns").Int()}
	e.End = max(e.Start, e.End)
	if e.Start < 0 {
		e.End = min(e.End, e.Start+math.MaxInt64) // so that End - Start does not overflow
	}
	return e
}

func severityOf(name string) diag.Severity {
	for _, s := range []diag.Severity{diag.Info, diag.DataLoss} {
		if s.String() == name {
			return s
		}
	}
	return diag.Suspect
}

// excerpted applies the [Excerpt] of a file: it returns the window that the excerpt names,
// with the issues of the original capture. An issue that the excerpt lists is not counted
// again if reading the file found it, too.
func (t *Trace) excerpted(whole bool) *Trace {
	x := t.Meta.Excerpt
	if x == nil {
		return t
	}
	t.Complete = t.Complete && x.Complete
	var all diag.Ledger
	all.AddAll(x.Issues)
	for _, is := range t.Issues {
		if !slices.ContainsFunc(x.Issues, func(old diag.Issue) bool { return old.Code == is.Code }) {
			all.AddN(is, is.Count)
		}
	}
	t.Issues = all.Issues()
	if x.Whole {
		return t
	}
	for a := range t.Activities.All() { // the file may state a shorter extent than its events have
		device := t.Tracks[a.Track].Device
		e, ok := x.Window.Extent[device]
		if !ok {
			e = Extent{a.Start, a.End()}
		}
		x.Window.Extent[device] = Extent{min(e.Start, a.Start), max(e.End, a.End())}
	}
	t.Window = &x.Window
	if whole {
		return t
	}
	return t.Within(x.Window.Start, x.Window.End)
}
