// Package excerpt takes a part of a JSON document: some members, the first rows of each list, at most a number of
// bytes. It is for readers with little room, such as language models.
//
// A document is one object. Its lists of rows are the lists of objects that no other list contains: "kernels" and
// "efficiency.rows", but not the places of a finding. Each row gets an id, which follows from the row alone: it stays
// the same when other rows are left out or their order changes. What a limit leaves out is counted in the member
// "excerpt", with the way to get it; the result is valid JSON and never longer than the limit.
//
//   - node.go: documents as trees whose texts and numbers are as they were written
//   - fields.go: the choice of members and rows
//   - id.go: ids of rows
//   - fit.go: the limit of bytes, and the counts of what was left out
package excerpt
