// Package agent answers questions of language models about captures, by the Model Context Protocol.
//
// A tool is a command line: [tools] lists for each its command, its arguments and what they are, as data. A call checks
// the arguments, finds the files within the folders that may be read, and runs the command, whose JSON is the answer;
// nothing is measured or judged here. Answers are parts of that JSON (package excerpt) within a number of bytes. The
// JSON is kept for the next question, until the files change.
//
//   - tools.go: the tools
//   - arguments.go: the arguments of a call, and the command line that they make
//   - folders.go: which files may be read
//   - cache.go, kept.go: what was read before
//   - server.go: the server and its answers
//   - resources.go: rules, codes, schemas and prompts
package agent
