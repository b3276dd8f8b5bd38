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

// An Excerpt says of which part of which capture a file is, as "assay trim" writes it into
// the file. What is measured of the file is the window.
type Excerpt struct {
	Window   Window // what is measured, unless it is Whole
	Whole    bool   // of all the time of the capture, from which only some kinds of events were left out
	Capture  Extent // of all events of the whole capture
	Asked    string // by what the part was asked for: "steps 3 to 5"
	From     string // the format of a capture that was written anew; "" if its events were copied
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

// Member returns the member of the top-level object that describes the excerpt, without
// the comma that follows it. It applies mask to the texts.
func (x *Excerpt) Member(mask func(string) string) []byte {
	w := x.Window
	if x.Whole {
		w = Window{Start: x.Capture.Start, End: x.Capture.End}
	}
	out := excerptJSON{Whole: x.Whole, Start: w.Start, End: w.End, Asked: mask(x.Asked), From: x.From, Capture: extentJSON{nil, x.Capture.Start, x.Capture.End}, Complete: x.Complete}
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
		panic(err) // it has numbers and texts only
	}
	return append([]byte(`"`+windowMember+`": `), text...)
}

// excerptOf reads an excerpt. It returns nil if there is none that makes sense.
func excerptOf(raw []byte) *Excerpt {
	v := gjson.ParseBytes(raw)
	if !v.IsObject() || v.Get("start_ns").Type != gjson.Number || v.Get("end_ns").Type != gjson.Number {
		return nil
	}
	x := &Excerpt{Asked: v.Get("asked").String(), From: v.Get("from").String(), Capture: extentOf(v.Get("capture")), Complete: v.Get("complete").Type != gjson.False, Whole: v.Get("whole").Type == gjson.True}
	e := extentOf(v)
	x.Window = Window{Start: e.Start, End: e.End, Extent: map[int64]Extent{}}
	if len(x.Asked) > mostAsked {
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
			issue := diag.Issue{Severity: severityOf(is.Get("severity").String()), Count: max(1, is.Get("count").Int()), Help: help}
			issue.Code = known.Name
			x.Issues = append(x.Issues, issue)
		}
		return len(x.Issues) < most
	})
	return x
}

// mostAsked is the maximum length of the text by which a part was asked for.
const mostAsked = 1 << 10

// extentOf reads a stretch of time that does not end before its start.
func extentOf(v gjson.Result) Extent {
	e := Extent{v.Get("start_ns").Int(), v.Get("end_ns").Int()}
	e.End = max(e.Start, e.End)
	if e.Start < 0 {
		e.End = min(e.End, e.Start+math.MaxInt64) // the length is in reach
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

// excerpted returns the part of the trace that a file which has one says, with the issues of
// its capture. Issues that are listed there are not counted again.
func (t *Trace) excerpted(whole bool) *Trace {
	x := t.Meta.Excerpt
	if x == nil {
		return t
	}
	t.Complete = t.Complete && x.Complete
	var all diag.Ledger
	for _, is := range x.Issues {
		all.AddN(is, is.Count)
	}
	for _, is := range t.Issues {
		if !slices.ContainsFunc(x.Issues, func(old diag.Issue) bool { return old.Code == is.Code }) {
			all.AddN(is, is.Count)
		}
	}
	t.Issues = all.Issues()
	if x.Whole {
		return t
	}
	for a := range t.Activities.All() { // whatever the file says of it
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
