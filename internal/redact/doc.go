// Package redact masks data that should not leave a machine: secrets always, and names of users on
// demand.
//
// A secret is a token of a published format (the table in [Formats]), the value of a variable, flag
// or header with a name such as PASSWORD, a password in an address, or a private key. The search
// decodes escapes, base64 and hexadecimal digits, and ignores characters that a screen does not
// show. A secret is replaced by its kind only.
//
//   - redact.go: [Mask], and [Redactor], which hides names of users too
//   - find.go: searches a text in one pass
//   - marks.go: the places where a secret may begin
//   - form.go, formats.go: tokens of published formats
//   - names.go, values.go, nested.go: names of secrets, and the values that follow them
//   - places.go, commands.go, containers.go: addresses, command lines, key files
//   - hidden.go, unescape.go, broken.go: disguised secrets: invisible characters, escapes,
//     line breaks
//   - walk.go: rewrites all texts of a Go value
//   - scanner.go: counts the secrets of a stream
//   - cut.go: shortens a text without cutting a secret, which could then not be recognized
//
// The search errs on the side of masking, except in names of kernels and operators, which are the
// data that users look for. Every text is searched, so speed matters: one pass over the bytes looks
// for marks, and only their neighborhood is examined.
package redact
