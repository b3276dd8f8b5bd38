package clocks

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"assay/internal/label"
)

// Settings are the values of --clock-offset.
type Settings []settingOf

type settingOf struct {
	pattern string // a path, a file name, or a pattern of one of them
	setting Setting
}

// ParseSettings checks the values of --clock-offset, each INPUT=OFFSET.
func ParseSettings(list []string) (out Settings, err error) {
	for _, text := range list {
		i := strings.LastIndexByte(text, '=')
		if i <= 0 {
			return nil, fmt.Errorf("--clock-offset is %q, want INPUT=OFFSET, such as dmon.csv=+1.5s or 'dmon.csv=UTC+02:00'",
				text)
		}
		c := settingOf{pattern: slashed(text[:i])}
		if _, err := path.Match(c.pattern, ""); err != nil {
			return nil, fmt.Errorf("--clock-offset is %q, whose pattern is malformed; want a file name, or a pattern with * and ?", text)
		}
		if c.setting, err = ParseSetting(text[i+1:]); err != nil {
			return nil, fmt.Errorf("--clock-offset is %q: %w", text, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// matches reports whether the pattern matches an input.
func (c settingOf) matches(input string) bool {
	input = slashed(input)
	for _, name := range []string{input, path.Base(input)} {
		if ok, _ := path.Match(c.pattern, name); ok || name == c.pattern {
			return true
		}
	}
	return false
}

// Check returns an error if a pattern matches no input.
func (list Settings) Check(inputs []string) error {
	for _, c := range list {
		if slices.ContainsFunc(inputs, c.matches) {
			continue
		}
		const shown = 3
		var names []string
		for _, in := range inputs[:min(shown, len(inputs))] {
			names = append(names, label.Printable(in))
		}
		if len(inputs) > shown {
			names = append(names, fmt.Sprintf("%d more", len(inputs)-shown))
		}
		return fmt.Errorf("--clock-offset names %q, which is none of the inputs: %s", c.pattern, strings.Join(names, ", "))
	}
	return nil
}

// Of returns the setting for an input, combined from all patterns that match it.
func (list Settings) Of(input string) (s Setting) {
	for _, c := range list {
		if c.matches(input) {
			s = s.And(c.setting)
		}
	}
	return s
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }
