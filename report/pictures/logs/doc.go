// Package logs makes the pictures of logged values and of results of benchmarks. The picture
// log-steps.png is drawn by steps.go; lines.go has what log-server.png and log-monitor.png share.
// Package pictures has the list of all pictures.
package logs

import "strings"

// joinSentences joins two texts. Both may be empty.
func joinSentences(a, b string) string { return strings.TrimSpace(a + " " + b) }
