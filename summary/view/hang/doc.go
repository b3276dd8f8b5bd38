// Package hang finds the calls that some ranks of a group made and others did not. A program with such
// a call waits forever.
//
// It takes the groups that flight recorders, watchdogs and logs of NCCL describe ([summary.Group]).
// [In] returns a [Hang] for each such call, the likely cause first. hang.go compares the calls of the
// members of a group, unpaired.go balances sends and receives, and runs.go separates the dumps of
// different runs: a rank writes one dump per hang, so two dumps of a rank cannot be compared with the
// same peers.
//
// The rule in judge/logs and the report take their text from here.
package hang
