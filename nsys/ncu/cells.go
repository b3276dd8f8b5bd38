package ncu

import "strings"

// cells splits a line of CSV into cells, which it stores in the memory of out.
// Two quotes within a quoted cell stand for one. Whole is false if a quote is
// still open at the end: then the cell continues in the next line.
func cells(line string, comma byte, out []string) (list []string, whole bool) {
	out = out[:0]
	for {
		if line = strings.TrimLeft(line, " "); !strings.HasPrefix(line, `"`) {
			end := strings.IndexByte(line, comma)
			if end < 0 {
				return append(out, strings.TrimSpace(line)), true
			}
			out, line = append(out, strings.TrimSpace(line[:end])), line[end+1:]
			continue
		}
		end, doubled := closing(line)
		if end < 0 {
			return out, false
		}
		cell := line[1:end]
		if doubled {
			cell = strings.ReplaceAll(cell, `""`, `"`)
		}
		out, line = append(out, cell), line[end+1:]
		next := strings.IndexByte(line, comma)
		if next < 0 {
			return out, true
		}
		line = line[next+1:]
	}
}

// closing returns the index of the quote that closes the cell at the start of
// line, or -1, and whether doubled quotes precede it.
func closing(line string) (end int, doubled bool) {
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 == len(line) || line[i+1] != '"' {
			return i, doubled
		}
		doubled = true
		i++
	}
	return -1, doubled
}
