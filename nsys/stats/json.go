package stats

import (
	"strings"

	"assay/internal/diag"
)

// maxArray is the maximum size in bytes of an array of rows in JSON, which is
// assembled before it is read.
const maxArray = 64 << 20

// opensArray reports whether a line may begin rows in JSON.
func opensArray(line string) bool {
	line = strings.TrimSpace(line)
	return line == "[" || strings.HasPrefix(line, "[{") || strings.HasPrefix(line, "[ {")
}

// array reads rows in JSON from line up to the line that closes them. It
// returns false if they are not rows of a table.
func (r *reader) array(line string) bool {
	var text strings.Builder
	text.WriteString(line)
	at := r.lines.N
	for !strings.HasSuffix(strings.TrimSpace(line), "]") {
		next, _, err := r.lines.Next()
		if text.Len()+len(next) > maxArray {
			r.issue("input-limit", diag.DataLoss, "An array of rows in JSON of more than 64 MiB ends there. Print the tables with --format csv.")
			break
		}
		line = next
		text.WriteString("\n" + next)
		if err != nil {
			break // the end will be read again
		}
	}
	rows := arrayRows(text.String())
	if len(rows) == 0 || rows[0] == nil {
		return false
	}
	var keys []string
	index := make(map[string]int)
	for i, m := range rows[0] {
		keys = append(keys, m.key)
		index[m.key] = i
	}
	l := newLayout(keys, r.next.unit)
	if l == nil {
		return false
	}
	r.close()
	l.at = at
	r.open = newOpenTable(l, r.next)
	r.next = message{}
	for _, row := range rows {
		cells := make([]string, len(keys))
		for _, m := range row {
			if i, ok := index[m.key]; ok {
				cells[i] = m.value
			}
		}
		if row == nil || !l.fits(cells) {
			cells = nil
		}
		r.cells(cells)
	}
	r.close()
	return true
}

// A member is one member of an object, its value without quotes.
type member struct{ key, value string }

// arrayRows splits an array of objects into rows. The formatter of nsys does
// not escape the quotes of names, so this is not a JSON parser: a text ends at
// a quote that is followed by the next member or the end of the object. After
// invalid text the rows end with one that is nil.
func arrayRows(text string) (rows [][]member) {
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(text, "[")
	for {
		text = strings.TrimLeft(text, " \t\r\n,")
		rest, ok := strings.CutPrefix(text, "{")
		if !ok {
			return rows
		}
		row, rest, whole := objectMembers(rest)
		if !whole {
			return append(rows, nil)
		}
		rows = append(rows, row)
		text = rest
	}
}

// objectMembers returns the members of the object whose content text begins
// with, and the text after it. Whole is false if the text ends within it.
func objectMembers(text string) (row []member, rest string, whole bool) {
	for {
		text = strings.TrimLeft(text, " \t\r\n,")
		if after, ok := strings.CutPrefix(text, "}"); ok {
			return row, after, len(row) > 0
		}
		key, after, ok := memberKey(text)
		if !ok {
			return row, "", false
		}
		after = strings.TrimLeft(after, " \t\r\n")
		var value string
		if inside, ok := strings.CutPrefix(after, `"`); ok {
			end := textEnd(inside)
			if end < 0 {
				return append(row, member{key, ""}), "", false
			}
			value, text = unescape(inside[:end]), inside[end+1:]
		} else {
			end := strings.IndexAny(after, ",}\n")
			if end < 0 {
				return append(row, member{key, ""}), "", false
			}
			value, text = strings.TrimSpace(after[:end]), after[end:]
		}
		row = append(row, member{key, value})
	}
}

// memberKey splits a key and the colon after it off text.
func memberKey(text string) (key, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	key, rest, ok = strings.Cut(text[1:], `"`)
	if !ok {
		return "", "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), ":")
	return key, rest, ok
}

// textEnd returns the index of the quote that ends a text, or -1.
func textEnd(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
			continue
		}
		if text[i] != '"' {
			continue
		}
		after := strings.TrimLeft(text[i+1:], " \t\r\n")
		if rest, ok := strings.CutPrefix(after, "}"); ok {
			if rest = strings.TrimLeft(rest, " \t\r\n"); rest == "" || rest[0] == ',' || rest[0] == ']' {
				return i
			}
		}
		if rest, ok := strings.CutPrefix(after, ","); ok {
			if _, _, ok := memberKey(strings.TrimLeft(rest, " \t\r\n")); ok {
				return i
			}
		}
	}
	return -1
}

// unescape decodes the escapes of quotes and backslashes; others are kept.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
}

// sniffArray reports whether text begins with rows in JSON whose keys are
// columns of nsys.
func sniffArray(text string) bool {
	text = strings.TrimSpace(text)
	if !opensArray(strings.SplitN(text, "\n", 2)[0]) {
		return false
	}
	text = strings.TrimLeft(strings.TrimPrefix(text, "["), " \t\r\n")
	row, _, _ := objectMembers(strings.TrimPrefix(text, "{"))
	var keys []string
	for _, m := range row {
		keys = append(keys, m.key)
	}
	return newLayout(keys, "") != nil
}
