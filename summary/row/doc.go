// Package row describes the rows of a summary by the tags of their fields: which fields are keys,
// which are measures, and how the values of several rows become one. Tables, gates and filters read
// these descriptions, so a new field needs no code of its own there.
//
//	Op      string `json:"op,omitempty" row:"launched by,name"`
//	TotalNS int64  `json:"total_ns" row:"total,sum,main"`
//
// A tag has the display name, followed by words. A field without the word sum, max or min is a key.
// The unit of a measure follows from its name in JSON, which ends in "ns" or "bytes".
//
//	sum, max, min  how the values of several rows become one
//	main           the measure that sorts rows, and the denominator of shares
//	then           the measure that sorts rows with equal main measures
//	nested         sums over rows with different names have no meaning, because the rows contain each other
//	with=NAME      tables print it in the unit of another column
//	name, symbol, place
//	               the form of a key that comes from the input: any text, a C++ symbol, a place in a file
//
// [Describe] in row.go reads the tags into a [Kind]. [Kind.By] in by.go adds up rows by any keys into
// a [Table]. The kinds themselves are listed in summary/described.go; report/show prints the tables.
package row
