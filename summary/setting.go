package summary

import (
	"cmp"
	"slices"
	"strconv"
)

// A Setting is one value of the configuration that a program printed into its log. (Input, Producer, Key) is its key.
type Setting struct {
	Input    int    `json:"input"`
	Producer string `json:"producer"`         // the program whose setting it is, such as "veRL"
	Key      string `json:"key"`              // the program's name, with its path
	Name     string `json:"name"`             // canonical, such as "engine.memory_share"
	Value    string `json:"value"`            // a number, a word, "true" or "false"
	Line     int64  `json:"line,omitempty"`   // where it was printed first
	Varies   bool   `json:"varies,omitempty"` // it was printed with several values, of which this is the last
}

// Number returns the value as a number, or false if it is none.
func (s *Setting) Number() (float64, bool) {
	v, err := strconv.ParseFloat(s.Value, 64)
	return v, err == nil
}

// SettingOf returns the setting of a name that a program printed for an input, or nil if there is none or its value
// varies.
func (s *Summary) SettingOf(input int, producer, name string) *Setting {
	i := slices.IndexFunc(s.Settings, func(r Setting) bool { return r.Input == input && r.Producer == producer && r.Name == name })
	if i < 0 || s.Settings[i].Varies {
		return nil
	}
	return &s.Settings[i]
}

// order sorts the settings of an input.
func (s *Setting) order(other *Setting) int {
	return cmp.Or(cmp.Compare(s.Producer, other.Producer), cmp.Compare(s.Name, other.Name), cmp.Compare(s.Key, other.Key))
}
