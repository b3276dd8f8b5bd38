// Package longtest says whether tests run at full size. Usually a test that counts many
// cases, or fills memory, takes fewer or is skipped.
package longtest

import "os"

// Wanted reports whether ASSAY_LONG is set, as make long and the checks of a change do.
func Wanted() bool { return os.Getenv("ASSAY_LONG") != "" }
