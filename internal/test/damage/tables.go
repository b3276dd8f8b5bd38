package damage

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A TableKind is one kind of damage to a database of a profiler, as statements of SQL. In them, @kernels and @calls
// stand for the tables of kernels and of calls.
type TableKind struct {
	Name       string
	Hidden     bool // as that of [Kind]
	Statements []string
}

// TableKinds returns the kinds of damage to databases whose rows have a start and an end in ns.
func TableKinds() (out []TableKind) {
	add := func(hidden bool, name string, statements ...string) {
		out = append(out, TableKind{name, hidden, statements})
	}
	for _, f := range []string{"0.0001", "0.01", "1000"} {
		add(false, "kernel durations times "+f, `UPDATE @kernels SET "end" = start + MAX(1, CAST(("end" - start) * `+f+` AS INTEGER))`)
	}
	add(true, "kernel durations times 0.1", `UPDATE @kernels SET "end" = start + ("end" - start) / 10`)
	for _, ns := range []string{"1000000000", "-1000000000", "3600000000000000"} {
		add(false, "GPU clock off by "+ns+" ns", `UPDATE @kernels SET start = start + `+ns+`, "end" = "end" + `+ns)
	}
	add(false, "kernel times in us", `UPDATE @kernels SET start = start / 1000, "end" = "end" / 1000`)
	for _, n := range []int{2, 5} {
		add(false, fmt.Sprintf("every %d. kernel lost", n), fmt.Sprintf(`DELETE FROM @kernels WHERE rowid %% %d = 0`, n))
	}
	add(false, "all kernels lost", `DELETE FROM @kernels`)
	add(false, "all calls lost", `DELETE FROM @calls`)
	add(false, "kernels of the last half lost", `DELETE FROM @kernels WHERE start > (SELECT (MIN(start) + MAX(start)) / 2 FROM @kernels)`)
	add(false, "longest twentieth of the kernels lost", `DELETE FROM @kernels WHERE rowid IN (SELECT rowid FROM @kernels ORDER BY "end" - start DESC LIMIT (SELECT COUNT(*) / 20 FROM @kernels))`)
	add(false, "no duration in every 3. kernel", `UPDATE @kernels SET "end" = start WHERE rowid % 3 = 0`)
	add(false, "negative duration in every 3. kernel", `UPDATE @kernels SET "end" = start - 1000 WHERE rowid % 3 = 0`)
	add(false, "a kernel of years", `UPDATE @kernels SET "end" = start + 100000000000000000 WHERE rowid = 7`)
	add(false, "a kernel years later", `UPDATE @kernels SET start = start + 100000000000000000, "end" = "end" + 100000000000000000 WHERE rowid = 7`)
	add(false, "a kernel of half the capture", `UPDATE @kernels SET "end" = start + (SELECT (MAX("end") - MIN(start)) / 2 FROM @kernels) WHERE rowid = 7`)
	return out
}

// A TextKind is one kind of damage to a text of lines: a log, a table, JSON with an object in each line.
type TextKind struct {
	Name   string
	Hidden bool
	Apply  func(text string) string
}

// TextKinds returns the kinds of damage to logs. unit matches the number of a time in its first group.
func TextKinds(unit *regexp.Regexp) (out []TextKind) {
	add := func(hidden bool, name string, apply func(string) string) {
		out = append(out, TextKind{name, hidden, apply})
	}
	numbers := func(change func(i int, v float64) string) func(string) string {
		return func(text string) string {
			i := 0
			return replaceGroup(unit, text, func(number string) string {
				v, err := strconv.ParseFloat(number, 64)
				if err != nil {
					return number
				}
				i++
				return change(i, v)
			})
		}
	}
	add(true, "every 3. line lost", lines(func(i int, line string) []string {
		if i%3 == 2 {
			return nil
		}
		return []string{line}
	}))
	add(true, "the last half lost in the middle of a line", func(text string) string { return text[:len(text)/2+7] })
	add(false, "each line twice", lines(func(_ int, line string) []string { return []string{line, line} }))
	add(false, "lines with their halves exchanged", lines(func(i int, line string) []string {
		if i%4 == 1 {
			return []string{line[len(line)/2:] + line[:len(line)/2]}
		}
		return []string{line}
	}))
	for _, f := range []float64{1000, 1e6} {
		add(false, fmt.Sprintf("times in the last two thirds of the log times %g", f), func(text string) string {
			at := len(text) / 3
			at += strings.IndexByte(text[at:], '\n') + 1
			return text[:at] + numbers(func(_ int, v float64) string { return fmt.Sprint(v * f) })(text[at:])
		})
	}
	add(false, "times times 1000", numbers(func(_ int, v float64) string { return fmt.Sprint(v * 1000) }))
	add(false, "times negative", numbers(func(_ int, v float64) string { return fmt.Sprint(-v) }))
	add(false, "every 4. time 1e30", numbers(func(i int, v float64) string {
		if i%4 == 0 {
			return "1e30"
		}
		return fmt.Sprint(v)
	}))
	add(false, "every 4. time not a number", numbers(func(i int, v float64) string {
		if i%4 == 0 {
			return "nan"
		}
		return fmt.Sprint(v)
	}))
	add(false, "NUL bytes and a broken code point", func(text string) string {
		return strings.Replace(text, "\n", "\x00\x00\xff\n", 3)
	})
	add(false, "line ends of Windows", func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") })
	return out
}

func lines(change func(i int, line string) []string) func(string) string {
	return func(text string) string {
		var out []string
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			out = append(out, change(i, line)...)
		}
		return strings.Join(out, "\n") + "\n"
	}
}

// replaceGroup replaces the first group of each match.
func replaceGroup(pattern *regexp.Regexp, text string, by func(string) string) string {
	var b bytes.Buffer
	last := 0
	for _, m := range pattern.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[last:m[2]])
		b.WriteString(by(text[m[2]:m[3]]))
		last = m[3]
	}
	b.WriteString(text[last:])
	return b.String()
}
