// Package history follows metrics over many runs of a program: where their level changes, by how
// much, and what the runs before and after it do differently.
//
//   - history.go: the model, and how runs become one
//   - changes.go: changes of single metrics, and changes of several at one place
//   - cause.go: the comparison of the runs on both sides of a change
package history
