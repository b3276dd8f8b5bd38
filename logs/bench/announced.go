package bench

import (
	"bytes"
	"slices"
	"strings"

	"assay/logs"
)

// announcements are the settings that vLLM prints when a benchmark starts.
var announcements = []string{"Traffic request rate", "Maximum request concurrency"}

// announces reports whether a line has a setting of the next result.
func announces(line []byte) bool {
	return bytes.Contains(line, []byte("Traffic request rate: ")) || bytes.Contains(line, []byte("Maximum request concurrency: "))
}

// announce keeps a setting of the next result. A limit of None is that of a result without the setting.
func (f *Finder) announce(line string) {
	name, value, ok := strings.Cut(withoutPrefix(line), ": ")
	if !ok || !slices.Contains(announcements, name) || f.open != nil {
		return
	}
	value, _, _ = strings.Cut(strings.TrimSpace(value), " ") // "10.0 RPS."
	f.announced = slices.DeleteFunc(f.announced, func(l logs.Label) bool { return l.Name == name })
	if _, ok := parseNumber(value); ok || value == "inf" {
		f.announced = append(f.announced, logs.Label{Name: name, Value: value})
	}
}

// takeAnnounced gives the result that ends the announced settings that its own table does not have: newer versions
// repeat the load there by another name.
func (f *Finder) takeAnnounced() {
	for _, l := range f.announced {
		own := f.out.Setting(l.Name) != "" || l.Name == announcements[0] && f.out.Setting("Request rate configured (RPS)") != ""
		if !own {
			f.out.Settings = append(f.out.Settings, l)
		}
	}
	f.announced = nil
}
