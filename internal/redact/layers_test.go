package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// layers are encodings that programs put on texts.
var layers = []func(string) string{
	url.QueryEscape,
	func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		return strings.Trim(string(b), `"`)
	},
}
