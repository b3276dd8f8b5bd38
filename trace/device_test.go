package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestUnreadableDevice checks that a device that is not a number has an issue, and
// that one that is absent, null or a number in quotes has none.
func TestUnreadableDevice(t *testing.T) {
	for device, want := range map[string]int64{`"device":"one",`: 1, `"device":1.5,`: 1, `"device":[0],`: 1, `"device":"1",`: 0, `"device":0,`: 0, `"device":null,`: 0, ``: 0} {
		in := fmt.Sprintf(`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5,"args":{%s"stream":7}}]`, device)
		tr, err := Read(strings.NewReader(in), "t.json", SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for _, is := range tr.Issues {
			if is.Code == "device-unreadable" {
				n = is.Count
			}
		}
		if n != want || tr.Activities.Len() != 1 {
			t.Errorf("%s: %d issues, want %d", device, n, want)
		}
	}
}

// TestImplausibleDevice checks that a device number that no GPU has is not counted as
// another device, and has an issue. A thread with a usual device is before it.
func TestImplausibleDevice(t *testing.T) {
	for text, want := range map[string]struct {
		code   string
		device int64 // of the second kernel
	}{
		"1":                    {"", 1},
		"-1":                   {"device-implausible", -1},
		"1048577":              {"device-implausible", 1048577},
		"9223372036854775807":  {"device-implausible", 1<<63 - 1},
		"9223372036854775808":  {"device-unreadable", 5},
		"9223372036854775809":  {"device-unreadable", 5},
		"18446744073709551616": {"device-unreadable", 5},
		"-9223372036854775808": {"device-unreadable", 5},
	} {
		for _, args := range []string{`"device":%s,"stream":7`, `"device":"%s","stream":7`} {
			event := `{"ph":"X","cat":"kernel","name":"k","pid":5,"tid":7,"ts":%d,"dur":5,"args":{` + args + `}}`
			in := "[" + fmt.Sprintf(event, 1, "0") + "," + fmt.Sprintf(event, 10, text) + "," + fmt.Sprintf(event, 20, text) + "]"
			tr, err := Read(strings.NewReader(in), "t.json", SelectAll())
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, is := range tr.Issues {
				got += is.Code
			}
			var devices []int64
			for a := range tr.Activities.All() {
				devices = append(devices, tr.Tracks[a.Track].Device)
			}
			if got != want.code || !slices.Equal(devices, []int64{0, want.device, want.device}) {
				t.Errorf("%s: issues %q, want %q; devices %d, want 0 and %d", text, got, want.code, devices, want.device)
			}
		}
	}
}
