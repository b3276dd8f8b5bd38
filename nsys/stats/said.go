package stats

import (
	"strings"

	"assay/internal/lazyregexp"
)

// What nsys says between tables. It may stand behind the prefix of a log.
var (
	processing = lazyregexp.New(`Processing \[(.*)\] with \[(.*)\]\.\.\.`)
	executing  = lazyregexp.New(`Executing '([\w:.=-]+)' stats report`)
	banner     = lazyregexp.New(`^(?:.* )?\*\* (\S.*) \(([a-z0-9_]+)(?::[^)]*)?\):\s*$`)
	skipped    = lazyregexp.New(`(?:^|\s)SKIPPED: (.*)$`)
	failed     = lazyregexp.New(`(?:^|\s)(?:ERROR|FATAL): `)
	generating = lazyregexp.New(`(?:Generating SQLite file|Existing SQLite export found|Exporting data to|Using .*\.sqlite (?:file )?for SQL queries)`)
)

// A saying is what one line between tables says.
type saying struct {
	report  string // the report that follows
	run     string // what it was made from, or ""
	title   string
	unit    string // of what follows, where the title has it
	skipped string // why the report has no table
	failed  bool   // nsys could not go on
	talk    bool   // of nsys, and nothing follows from it
}

// said understands a line that is of no table, or returns false. Logs of any
// program come here, so what an expression cannot do without is looked for first.
func said(line string) (s saying, ok bool) {
	has := func(text string) bool { return strings.Contains(line, text) }
	if m := processing().FindStringSubmatch(line); m != nil {
		return saying{report: scriptName(m[2]), run: runName(m[1])}, true
	}
	if m := executing().FindStringSubmatch(line); m != nil {
		return saying{report: m[1]}, true
	}
	if has("** ") {
		if m := banner().FindStringSubmatch(line); m != nil {
			return saying{report: m[2], title: m[1]}, true
		}
	}
	if has("SKIPPED: ") {
		if m := skipped().FindStringSubmatch(line); m != nil {
			return saying{skipped: strings.TrimSpace(m[1])}, true
		}
	}
	if (has("ERROR: ") || has("FATAL: ")) && failed().MatchString(line) {
		return saying{failed: true}, true
	}
	if (has("SQLite") || has("Exporting data to") || has("Using ")) && generating().MatchString(line) {
		return saying{talk: true}, true
	}
	return oldTitle(line)
}

// runName returns what a run is called by the name of its report, whatever its
// directory and whether it is the report or an export of it.
func runName(report string) string {
	name := report[strings.LastIndexAny(report, `/\`)+1:]
	for _, end := range []string{".sqlite", ".nsys-rep", ".qdrep"} {
		name = strings.TrimSuffix(name, end)
	}
	return clip(name)
}

// scriptName returns the id of a report from the path of its script, which may
// have arguments behind a colon.
func scriptName(script string) string {
	script = script[strings.LastIndexAny(script, `/\`)+1:]
	id, _, _ := strings.Cut(script, ":")
	return strings.TrimSuffix(id, ".py")
}

// oldTitle understands the titles of the versions until 2021, as
// "CUDA API Statistics (nanoseconds)".
func oldTitle(line string) (saying, bool) {
	title := strings.TrimSuffix(strings.TrimSpace(line), ":")
	lower := strings.ToLower(title)
	for _, h := range headings() {
		rest, ok := strings.CutPrefix(lower, h.title)
		if !ok || rest != "" && !strings.ContainsRune(" )(", rune(rest[0])) {
			continue
		}
		s := saying{report: h.report, title: title}
		for _, word := range strings.FieldsFunc(lower, func(r rune) bool { return strings.ContainsRune(" ()", r) }) {
			if _, size := unitOf(word); size > 0 {
				s.unit = word
			}
		}
		return s, true
	}
	return saying{}, false
}
