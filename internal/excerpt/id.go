package excerpt

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
)

// identified returns the rows with their ids in front. The id of a row is the path of its list and what identifies
// the row in it: its key if that is short, or else a hash. Rows with the same key are distinguished by all of their
// content, and equal rows are numbered.
func (o Options) identified(doc *object, path string, rows []node) []node {
	var names []string
	if o.Keys != nil {
		names = o.Keys(path, doc.texts)
	}
	ids, seen := make([]string, len(rows)), map[string]int{}
	for i, row := range rows {
		ids[i] = path + "/" + keyOf(row.(*object), names)
		seen[ids[i]]++
	}
	numbered := map[string]int{}
	out := make([]node, len(rows))
	for i, row := range rows {
		id := ids[i]
		if seen[id] > 1 {
			id += "." + hash(string(appendTo(nil, row)))
			if numbered[id]++; numbered[id] > 1 {
				id += "." + strconv.Itoa(numbered[id])
			}
		}
		members := append([]member{{RowID, scalar(`"` + id + `"`)}}, row.(*object).members...)
		out[i] = &object{members}
	}
	return out
}

// longestKey is the length in bytes up to which a key is written as it is.
const longestKey = 60

// keyOf returns what identifies a row.
func keyOf(row *object, names []string) string {
	var parts, short []string
	for _, name := range names {
		text := string(appendTo(nil, row.get(name))) // "" if the row does not have it
		parts = append(parts, text)
		if text != "" {
			short = append(short, strings.Trim(text, `"`))
		}
	}
	if len(short) == 0 {
		return hash(string(appendTo(nil, row)))
	}
	if key := strings.Join(short, "/"); len(key) <= longestKey && len(short) <= 2 && !strings.ContainsAny(key, `"\`) {
		return key
	}
	return hash(strings.Join(parts, "\x00"))
}

// hash returns 50 bits of a hash: of a million rows, two are equal once in 2,000 runs.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:10])
}
