package row

import (
	"fmt"
	"strings"
	"testing"
)

// TestNoun: the noun of a kind is one of its keys.
func TestNoun(t *testing.T) {
	type pause struct {
		Cause string `json:"name" row:"cause,name"`
		NS    int64  `json:"ns" row:"paused,sum,main"`
	}
	for noun, want := range map[string]string{
		"cause":  "",
		"pause":  `the noun "pause" of pauses is not the name of a key; the keys are cause`,
		"paused": `the noun "paused" of pauses is not the name of a key`, // a measure
		"name":   `the noun "name" of pauses is not the name of a key`,   // the JSON's name of the key
	} {
		t.Run(noun, func(t *testing.T) {
			defer func() {
				got := recover()
				if (got == nil) != (want == "") || got != nil && !strings.Contains(fmt.Sprint(got), want) {
					t.Errorf("got %v, want %q", got, want)
				}
			}()
			Describe[pause]("pauses", noun, "paused time")
		})
	}
}
