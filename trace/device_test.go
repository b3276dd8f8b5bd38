package trace

import (
	"fmt"
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
