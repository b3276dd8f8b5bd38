package words

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
)

// Runs returns the number of runs and the evidence that separated them: "2 runs (one per directory)". It is
// "" for a single run unless the user stated it.
func Runs(n int, by view.Evidence) string {
	if n == 1 && by == view.ByNone {
		return "1 run (by --group-by none)"
	}
	if n == 1 && by == view.ByPattern {
		return "1 run (by --group-by)"
	}
	if n < 2 {
		return ""
	}
	text := label.Plural(int64(n), "run")
	why := map[view.Evidence]string{
		view.ByFolder: "one per directory", view.ByRank: "a rank occurs more than once",
		view.ByProcess: "one per process in the file names", view.ByJob: "one per job",
		view.ByPattern: "by --group-by",
	}[by]
	if why != "" {
		text += " (" + why + ")"
	}
	return text
}

// Copies returns how many copies of a capture were left out, or "" if there are none.
func Copies(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 copy of a capture left out"
	}
	return fmt.Sprintf("%d copies of captures left out", n)
}

// hostOrder is where the ranks of captures of XLA come from, one file of each host, which do not state them.
const hostOrder = "the order of host names (assumed)"

// numbered reports whether the name of a file has the number of a rank or worker.
func numbered(file string) bool {
	name := strings.ToLower(file[strings.LastIndexAny(file, `/\`)+1:])
	return strings.Contains(name, "rank") || strings.Contains(name, "worker") || strings.Contains(name, "-tp-")
}

// RanksFrom returns where the ranks of several inputs come from: "ranks from
// distributedInfo of the files". It is "" if no input has a rank.
func RanksFrom(inputs []summary.Input) string {
	counts := map[string]int{}
	for _, in := range inputs {
		switch {
		case in.RankFrom == "trace" && in.Format == "kineto":
			counts["distributedInfo of the files"]++
		case in.RankFrom == "trace":
			counts["the files"]++
		case in.RankFrom == "name" && in.Format == summary.FormatXPlane && !numbered(in.Path):
			counts[hostOrder]++
		case in.RankFrom == "name":
			counts["file names"]++
		case in.RankFrom == "folder":
			counts["names of directories"]++
		case in.RankFrom == "nccl":
			counts["NCCL communicators"]++
		case in.RankFrom == "pattern":
			counts["--rank-from"]++
		default:
			counts["unknown"]++
		}
	}
	unknown := counts["unknown"]
	if unknown == len(inputs) {
		return ""
	}
	var parts []string
	for _, source := range []string{"distributedInfo of the files", "the files", "file names", hostOrder, "names of directories",
		"NCCL communicators", "--rank-from"} {
		switch n := counts[source]; n {
		case 0:
		case len(inputs):
			parts = append(parts, source)
		default:
			parts = append(parts, fmt.Sprintf("%s (%d)", source, n))
		}
	}
	text := "ranks from " + strings.Join(parts, ", ")
	if unknown > 0 {
		text += fmt.Sprintf("; rank 0 assumed for %s", label.Plural(int64(unknown), "input"))
	}
	return text
}
