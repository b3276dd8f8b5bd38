package stats

import "strings"

// A grid is a table that "nsys stats --format table" and tools like it draw with lines:
//
//	+----------+-------+
//	| Time (%) | Name  |
//	+----------+-------+
//	|     72.9 | gemm  |
//	+----------+-------+
//
// It is read as a table in text, without its "+" and "|".
type grid struct{ corners []int } // the positions of "+" in the last line between rows, in characters

// isRule reports whether a line separates rows of a grid.
func isRule(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) > 6 && strings.HasPrefix(line, "+-") && strings.HasSuffix(line, "-+") && strings.Trim(line, "+-") == ""
}

// text returns a line of a grid without the characters that draw it, and whether it separates rows. Other lines
// stay as they are.
func (g *grid) text(line string) (text string, rule bool) {
	if rule = isRule(line); !rule && len(g.corners) == 0 {
		return line, false
	}
	runes := []rune(line)
	if rule {
		g.corners = g.corners[:0]
		for i, c := range runes {
			if c == '+' {
				g.corners = append(g.corners, i)
				runes[i] = ' '
			}
		}
		return string(runes), true
	}
	for _, at := range g.corners {
		if at >= len(runes) || runes[at] != '|' {
			g.corners = g.corners[:0]
			return line, false
		}
	}
	for _, at := range g.corners {
		runes[at] = ' '
	}
	return string(runes), false
}
