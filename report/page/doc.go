// Package page writes a report as one HTML file that needs nothing else: no network, no server, no
// other file.
//
// The file begins with the text of the report as plain HTML, for readers without scripts (CI servers
// that forbid them, mail previews, grep). The data follow, and a script that replaces the text by the
// interactive page when it is ready. The script and the style are built from report/web by
// internal/webbuild and are checked in as assets.
//
// page.go writes the file ([Write]). data.go collects the data that the script draws; timeline.go,
// tables.go, flames.go, functions.go, charts.go, planes.go and roofline.go fill in one part each, and
// diff.go a comparison. static.go makes the plain HTML.
//
// Names come from the program under test and may contain anything. They are made visible
// ([label.Clean]), are stored as base64 of compressed JSON, whose alphabet cannot end an element, and
// become text nodes. The content security policy of the page allows only its own script and style, by
// their hashes, and no connection of any kind.
package page
