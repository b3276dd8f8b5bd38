package health

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"assay/logs"
)

// results are those of tests, the worst last. The first stands for a test that did not run.
var results = []string{"Not Run", "Skip", "Pass", "Warn", "Fail"}

// maxDiag is the largest output of "dcgmi diag --json" that is read.
const maxDiag = 64 << 20

// SniffDiag reports whether head begins the output of "dcgmi diag --json".
func SniffDiag(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\ufeff")
	return bytes.HasPrefix(head, []byte("{")) && (bytes.Contains(head, []byte(`"DCGM Diagnostic"`)) ||
		bytes.Contains(head, []byte(`"DCGM GPU Diagnostic"`)))
}

// A diagnostic is the part of the output that is kept. The identity of a GPU is gpu_id before version 4.
type diagnostic struct {
	Categories []struct {
		Tests []struct {
			Name    string `json:"name"`
			Results []struct {
				GPU    any    `json:"gpu_id"`
				Entity any    `json:"entity_id"`
				Group  string `json:"entity_group"`
				Status string `json:"status"`
			} `json:"results"`
		} `json:"tests"`
	} `json:"test_categories"`
}

// ReadDiag reads the output of "dcgmi diag --json".
func ReadDiag(r io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxDiag))
	if err != nil {
		return nil, err
	}
	var docs map[string]json.RawMessage
	if err := json.Unmarshal(b, &docs); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f := NewFinder(name, limits)
	for _, key := range []string{"DCGM Diagnostic", "DCGM GPU Diagnostic"} {
		var d diagnostic
		if json.Unmarshal(docs[key], &d) != nil {
			continue
		}
		for _, c := range d.Categories {
			for _, t := range c.Tests {
				var parts []string
				worst := map[string]int{} // of several entities of the host, such as its CPUs
				for _, res := range t.Results {
					part := "host"
					if id := idOf(res.GPU, res.Entity); id != "" && (res.Group == "" || res.Group == "GPU") {
						part = "GPU " + id
					}
					if !slices.Contains(parts, part) {
						parts = append(parts, part)
					}
					worst[part] = max(worst[part], slices.Index(results, title(res.Status)))
				}
				for _, part := range parts {
					f.result(part, t.Name, results[worst[part]])
				}
			}
		}
	}
	return f.Log(), nil
}

// software are the tests of "dcgmi diag" that check the installation of a host, by words of their names.
var software = []string{"denylist", "blacklist", "library", "libraries", "permissions", "persistence", "environment", "processes", "software"}

// result adds the result of a test: of a GPU, or of what is installed on the host.
func (f *Finder) result(part, name, result string) {
	property := "diag.result"
	if words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' }); slices.ContainsFunc(words, func(w string) bool { return slices.Contains(software, w) }) {
		property = "diag.software"
	}
	f.add(part, property, name, result)
}

// idOf returns the first identity, which is the number of a GPU, as a number or as text.
func idOf(ids ...any) string {
	for _, id := range ids {
		if n, err := strconv.Atoi(fmt.Sprint(id)); err == nil && n >= 0 && n < 1000 {
			return strconv.Itoa(n)
		}
	}
	return ""
}

// title writes a result like the table: "Fail".
func title(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
}
