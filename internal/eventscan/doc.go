// Package eventscan parses one trace event in a single pass over its bytes.
//
// It knows the members of an event and of its args that assay uses ([Field]) and skips all others.
// There are three functions that fill [Fields]:
//
//   - [Decode] walks the event with package jsonscan, member by member. It is short, and
//     accepts everything that a profiler may write: escapes, numbers in quotes, exponents,
//     keys written twice.
//   - [Scan] reads usual events in one pass and returns false at the first unusual byte; the
//     event must then be read by Decode. Its results are those of Decode, which tests check.
//   - [Memo.Scan] does the same as Scan and remembers the bytes between values, which is
//     faster for many events of one shape. The same tests apply.
//
// [Repair] escapes the unescaped quotes of an event that none of them can read.
//
//   - fields.go, keys.go, values.go: the fields, their keys, how values are stored
//   - decode.go, scan.go: Decode and Scan
//   - memo.go, learn.go, node.go: Memo, a trie of the bytes between values
//   - number.go, time.go: digits eight at a time; exact times
//   - repair.go: Repair
//
// # States of Scan
//
// An event is read in two similar levels: the event's own members, and the members of its args. At
// either level Scan is always in one of four states, and each is entered at one point of the code:
//
//	member    after "{" or ",": white space, then a quoted key
//	colon     after the key: white space, a colon, white space
//	value     at the first byte of a value; the key determines the field
//	separator after the value: white space, then "," (member) or "}" (out)
//
// Between any two of them, every byte before the index was read and accepted, and b[i:] is unread.
// Scan never reads past len(b): if the block ends first, it returns false.
package eventscan
