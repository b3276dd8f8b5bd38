package finding

import (
	"fmt"
)

// levelNames has the name of each level at its index.
var levelNames = [...]string{Info: "info", Warn: "warn", Critical: "critical"}

// String returns "info", "warn" or "critical".
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return fmt.Sprintf("level(%d)", int(l))
	}
	return levelNames[l]
}

// MarshalText writes the name of the level.
func (l Level) MarshalText() ([]byte, error) {
	if l < 0 || int(l) >= len(levelNames) {
		return nil, fmt.Errorf("level %d does not exist, want 0 to %d", int(l), len(levelNames)-1)
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (l *Level) UnmarshalText(text []byte) error {
	for i, name := range levelNames {
		if string(text) == name {
			*l = Level(i)
			return nil
		}
	}
	return fmt.Errorf("unknown level %q, want info, warn or critical", text)
}
