// Package nsystables writes tables of package analyze/nsysstats as nsys stats prints them: as text,
// CSV or Markdown. The layout is the same, so that programs that parse the output of
// nsys stats can read these tables.
//
// [Output.Write] writes the tables of all inputs, [WriteText] one table. Notes on the numbers go to a
// function of the caller, because standard output must contain only the tables. CSV cells that a
// spreadsheet would execute as a formula are escaped.
package nsystables
