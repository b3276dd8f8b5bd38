package stats

import (
	"strings"

	"assay/internal/lazyregexp"
)

// The lines that nsys prints between tables. They may follow the prefix of a
// log.
var (
	processing = lazyregexp.New(`Processing \[(.*)\] with \[(.*)\]\.\.\.`)
	executing  = lazyregexp.New(`Executing '([\w:.=-]+)' stats report`)
	banner     = lazyregexp.New(`^(?:.* )?\*\* (\S.*) \(([a-z0-9_]+)(?::[^)]*)?\):\s*$`)
	skipped    = lazyregexp.New(`(?:^|\s)SKIPPED: (.*)$`)
	failed     = lazyregexp.New(`(?:^|\s)(?:ERROR|FATAL): `)
	generating = lazyregexp.New(`(?:Generating SQLite file|Existing SQLite export found|Exporting data to|Using .*\.sqlite (?:file )?for SQL queries)`)
)

// A message is the content of one line that nsys prints between tables.
type message struct {
	report   string // the report that follows
	run      string // the input of the report, or ""
	title    string
	unit     string // the unit of the next table, if the title has it
	skipped  string // the reason why the report has no table
	failed   bool   // nsys failed
	progress bool   // a message of nsys without further effect
}

// parseMessage parses a line outside tables. It returns false if the line is not from
// nsys. Lines of any program are passed here, so a required substring is
// checked before each expression.
func parseMessage(line string) (s message, ok bool) {
	has := func(text string) bool { return strings.Contains(line, text) }
	if has("Processing [") {
		if m := processing().FindStringSubmatch(line); m != nil {
			return message{report: scriptName(m[2]), run: runName(m[1])}, true
		}
	}
	if has("Executing '") {
		if m := executing().FindStringSubmatch(line); m != nil {
			return message{report: m[1]}, true
		}
	}
	if has("** ") {
		if m := banner().FindStringSubmatch(line); m != nil {
			return message{report: m[2], title: m[1]}, true
		}
	}
	if has("SKIPPED: ") {
		if m := skipped().FindStringSubmatch(line); m != nil {
			return message{skipped: strings.TrimSpace(m[1])}, true
		}
	}
	if (has("ERROR: ") || has("FATAL: ")) && failed().MatchString(line) {
		return message{failed: true}, true
	}
	if (has("SQLite") || has("Exporting data to") || has("Using ")) && generating().MatchString(line) {
		return message{progress: true}, true
	}
	return oldTitle(line)
}

// runName returns the name of a run from the path of its report or export.
func runName(report string) string {
	name := report[strings.LastIndexAny(report, `/\`)+1:]
	for _, end := range []string{".sqlite", ".nsys-rep", ".qdrep"} {
		name = strings.TrimSuffix(name, end)
	}
	return clip(name)
}

// scriptName returns the id of a report from the path of its script, which may
// have arguments after a colon.
func scriptName(script string) string {
	script = script[strings.LastIndexAny(script, `/\`)+1:]
	id, _, _ := strings.Cut(script, ":")
	return strings.TrimSuffix(id, ".py")
}

// oldTitle parses the titles of the versions until 2021, such as "CUDA API
// Statistics (nanoseconds)".
func oldTitle(line string) (message, bool) {
	title := strings.TrimSuffix(strings.TrimSpace(line), ":")
	lower := strings.ToLower(title)
	for _, h := range headings() {
		rest, ok := strings.CutPrefix(lower, h.title)
		if !ok || rest != "" && !strings.ContainsRune(" )(", rune(rest[0])) {
			continue
		}
		s := message{report: h.report, title: title}
		for _, word := range strings.FieldsFunc(lower, func(r rune) bool { return strings.ContainsRune(" ()", r) }) {
			if _, size := unitOf(word); size > 0 {
				s.unit = word
			}
		}
		return s, true
	}
	return message{}, false
}
