package textscan

import "strings"

// Cells appends the cells of a line of comma-separated values to out. A cell in quotes may have commas, and quotes as two.
func Cells(out []string, line string) []string {
	for {
		if !strings.HasPrefix(line, `"`) {
			cell, rest, more := strings.Cut(line, ",")
			out = append(out, cell)
			if !more {
				return out
			}
			line = rest
			continue
		}
		end := 1
		for end < len(line) && (line[end] != '"' || strings.HasPrefix(line[end+1:], `"`)) {
			if line[end] == '"' {
				end++
			}
			end++
		}
		if end >= len(line) {
			return append(out, strings.ReplaceAll(line[1:], `""`, `"`))
		}
		out = append(out, strings.ReplaceAll(line[1:end], `""`, `"`))
		if line = strings.TrimLeft(line[end+1:], " \t"); !strings.HasPrefix(line, ",") {
			return out
		}
		line = line[1:]
	}
}
