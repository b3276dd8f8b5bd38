// Package pictures makes the pictures of a report from a summary, and those of a
// comparison from a comparison. It measures nothing: sums come from summary/view,
// so that tables and pictures show the same numbers, and report/plot draws.
//
// Each picture is one file with the name of the picture: idle.png is drawn by
// idle.go, diff-waterfall.png by diff_waterfall.go. The pictures table-*.png are
// one drawing of ten kinds of tables, in table.go, and log-*.png are in package
// logs. Files that serve several pictures are captions.go, colors.go, per_gpu.go,
// ranking.go, ranks.go, roofline.go and strata.go.
//
// To add a picture:
//
//  1. Write a function in a file with the name of the picture. It takes a
//     [summary.Summary] and returns a [plot.Chart] with title, subtitle, body and
//     alternative text, or false if there is nothing to show. If it leaves rows
//     out, the caption counts them.
//  2. Add a line with the name and the function to the list in pictures.go: all,
//     or allDiff for a comparison.
//  3. Name the file in the section of the report that shows it:
//     ctx.Pictures("NAME.png") in the package of that section.
//
// The tests then draw it from every sample run and every labelled run. They fail
// if a text is clipped or overlaps another, if no run has the picture, or if no
// section shows it.
package pictures
