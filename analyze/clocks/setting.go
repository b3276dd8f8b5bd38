package clocks

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Setting is what the user states about the clock of an input.
type Setting struct {
	Shift time.Duration // to add to its times
	Zone  *int64        // offset of its clock from UTC in ns; nil if not stated
	Given bool          // the user stated anything
}

// Set sets the user's setting for the clock of the track.
func (t *Track) Set(s Setting) { t.setting = s }

const wantOffset = "want a time such as +1.5s or -2h that is added, or a zone such as UTC or UTC+02:00"

// ParseSetting parses a value of --clock-offset.
func ParseSetting(text string) (Setting, error) {
	if rest, ok := strings.CutPrefix(text, "UTC"); ok {
		zone, err := parseZone(rest)
		if err != nil {
			return Setting{}, err
		}
		return Setting{Zone: &zone, Given: true}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d > 400*24*time.Hour || d < -400*24*time.Hour {
		return Setting{}, errors.New("that is no time; " + wantOffset)
	}
	return Setting{Shift: d, Given: true}, nil
}

// parseZone parses the part after "UTC": "", "+2", "+02:00" or "+0530".
func parseZone(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	digits := strings.Replace(text[1:], ":", "", 1)
	if n := len(digits); n == 1 || n == 2 {
		digits += "00"
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	hours, minutes := int64(n/100), int64(n%100)
	if err != nil || text[0] != '+' && text[0] != '-' || hours > 14 || minutes > 59 {
		return 0, fmt.Errorf("%q is no zone; %s", "UTC"+text, wantOffset)
	}
	ns := (hours*60 + minutes) * 60 * second
	if text[0] == '-' {
		ns = -ns
	}
	return ns, nil
}

// And combines two settings for one input: shifts add up, and the zone of other takes precedence.
func (s Setting) And(other Setting) Setting {
	s.Shift += other.Shift
	if other.Zone != nil {
		s.Zone = other.Zone
	}
	s.Given = s.Given || other.Given
	return s
}
