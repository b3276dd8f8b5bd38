package main

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"assay/internal/redact"
)

// escaped returns each character of s in a form of escapes.
func escaped(form, s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, form, c)
	}
	return b.String()
}

// mixed returns s with some of its characters escaped, in several forms.
func mixed(rnd *rand.Rand, s string) string {
	forms := []string{`\u%04x`, `\x%02x`, `\u%04X`, `\u{%x}`, `\%03o`, "%%%02X", "%c"}
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, forms[rnd.IntN(len(forms))], c)
	}
	return b.String()
}

// disguised are settings whose name, separator or value something interrupts that a
// screen does not show, or a line break.
var disguised = []string{
	"\x1b[31m--api-key %s", "\x1b[1;31mapi_key=%s", "[31mapi_key=%s", "\x1b(Bapi_key=%s", "abc_--api-key %s",
	"\x1b[36mapi_key\x1b[0m=\x1b[35m%s\x1b[0m", "[36mapi_key[0m=[35m%s[0m", `\x1b[36mapi_key\x1b[0m=\x1b[35m%s\x1b[0m`,
	"API_KEY\x00=%s", "API_KEY=\x00%s", "A=1\x00API_KEY=%s\x00B=2", "train.py\x00--api-key\x00%s\x00--lr\x001",
	"API_KEY=\u200b%s", "API\u200b_KEY=%s", "\ufeffAPI_KEY=%s", "API_KEY=\u00a0%s", "API_KEY\u2060: %s",
	"API_KEY=\n%s", "api_key=\n  %s\n", "api_key:\n  %s", "\"api_key\":\n  \"%s\"", `API_KEY=\n%s`,
	"API_KEY=\\\n%s", "train.py --api-key \\\n  %s", "train.py --api-key \\\r\n  %s", "train.py --api-key `\n  %s", `--api-key \\\n %s`,
}

// spoken are settings as logs, tables, commands and markup have them.
var spoken = []string{
	"│ api_key │ %s │", "| HF_TOKEN | %s |", "hf_token -> %s", "(b'x-api-key', b'%s')", "[b'authorization', b'Bearer %s']", "ENV HF_TOKEN %s", "aws configure set aws_secret_access_key %s",
	"Using API key %s", "api_key is %s", "Incorrect API key provided: %s. You can find", "<Password type=\"x\">%s</Password>", `<entry name="password">%s</entry>`, `<add key="ApiKey" value="%s" />`,
	"bob:%s@tcp(h:3306)/db", "dsn: 'bob:%s@unix(/run/s)/db'", "echo %s | docker login -u bob --password-stdin", "echo '%s' | sudo -S x", "zip -P %s x.zip y", "7z x a.7z -p%s",
	"Namespace(api_key='%s', tp=1)", "args: ['--api-key', '%s', '--port']", "api_key=SecretStr('%s')", "{'api_key': ['%s'], 'port': 1}", "Set-Cookie: session=%s; Path=/", "GET /v1?key=%s HTTP/1.1",
	"jdbc:postgresql://h/db?user=bob&password=%s", "AccountName=a;AccountKey=%s==;", "openssl rsa -passin pass:%s", "gpg --passphrase %s x", "docker run -e HF_TOKEN=%s x", "srun --export=ALL,HF_TOKEN=%s x", "$env:HF_TOKEN = \"%s\"",
	"HF%%255FTOKEN%%253D%s", "Bearer%%20%s", "${HF_TOKEN:=%s}", "mount -o username=bob,password=%s //h/s", "metadata=(('authorization','%s'),)",
}

// containers are files that hold keys and passwords.
var containers = []string{
	"machine h login bob password %s", "machine h\n  login bob\n  password %s", "machine api.wandb.ai password %s", "machine h login a-long-name-of-a-user-at-a@host.example password %s",
	"db.host:5432:train:bob:%s", "*:*:*:bob:%s", "db:*:train:bob:%s", ".pgpass:7:db.host:*:train:bob:%s",
	`{"auths":{"h":{"identitytoken":"%s"}}}`, `{"auths":{"h":{"registrytoken":"%s"}}}`,
	"    client-key-data: %s", "    user: {token: %s}", "aws_secret_access_key = %s", "aws_session_token=%s",
	"//registry.example/:_authToken=%s", "//r/:_password=%s", "index-url = https://bob:%s@h/simple", "protocol=https\nhost=h\nusername=bob\npassword=%s",
	`{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\nMIIEv%s\n-----END PRIVATE KEY-----\n"}`,
	`{"kty":"EC","crv":"P-256","x":"abc","y":"def","d":"%s","kid":"1"}`, `{"d": "%s", "kty": "RSA", "n": "abc"}`, `{"kty":"oct","k":"%s"}`, `{\"kty\":\"RSA\",\"n\":\"abc\",\"qi\":\"%s\"}`,
	"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\nAAAAC3\nPrivate-Lines: 1\nAAAAIG%s\nPrivate-MAC: 00ff",
	"PuTTY-User-Key-File-2: ssh-rsa\r\nEncryption: none\r\nPrivate-Lines: 2\r\nAAAAIG\r\n%s\r\nPrivate-MAC: 00ff",
	"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: c\n%s\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
	"hftoken=%s", "masterkey: %s", "appsecret=%s",
}

// hiddenPlants draws secrets that are written in ways that hide them from a search.
func hiddenPlants(rnd *rand.Rand) (all []planted) {
	add := func(text, secret string) { all = append(all, planted{text, secret}) }
	for _, s := range slices.Concat(disguised, spoken, containers) {
		value := valueOf(rnd, "") + valueOf(rnd, "") // two do not read like a word
		add(fmt.Sprintf(s, value), value)
	}
	for i, f := range redact.Formats() {
		token := f.Example(rnd)
		if f.Unmistakable() {
			for range 100 { // behind a letter, and over lines, only what alternates is a token
				if alternates(token) {
					break
				}
				token = f.Example(rnd)
			}
			cut := len(token) / 2
			between := []string{"\n", "\r\n  ", "\\\n", "\x00", "\u200b", "\x1b[0m"}
			add("a "+token[:cut]+between[i%len(between)]+token[cut:]+" b", token[cut:])
			add([]string{"x", "7"}[i%2]+token, token[cut:])
		}
		ways := []string{
			escaped(`\u%04x`, token), escaped(`\x%02x`, token), escaped(`\\u%04X`, token), escaped(`\u{%02x}`, token),
			mixed(rnd, token), hex.EncodeToString([]byte(token)), "0x" + strings.ToUpper(hex.EncodeToString([]byte(token))),
		}
		text := ways[rnd.IntN(len(ways))]
		add("a "+text+" b", text[max(0, len(text)-36):])
	}
	for _, name := range []string{"API_KEY", "hf_token", "password"} {
		for range 8 {
			value := mixed(rnd, valueOf(rnd, "")+valueOf(rnd, ""))
			add(mixed(rnd, name+"=")+value, value[len(value)-20:])
		}
		value := valueOf(rnd, "")
		add(escaped(`\u%04x`, name)+"="+value, value)
		value = escaped(`\x%02x`, value)
		add(name+"="+value, value)
		code := hex.EncodeToString([]byte(name + "=" + valueOf(rnd, "")))
		add(code, code)
	}
	return all
}

// alternates reports whether upper case, lower case and digits alternate in a token at
// least four times, as in nearly every token that is drawn at random.
func alternates(token string) bool {
	kind := func(r rune) int {
		switch {
		case r >= '0' && r <= '9':
			return 1
		case r >= 'A' && r <= 'Z':
			return 2
		case r >= 'a' && r <= 'z':
			return 3
		}
		return 0
	}
	changes, before := 0, 0
	for _, r := range token {
		now := kind(r)
		if now != before && now != 0 && before != 0 {
			changes++
		}
		before = now
	}
	return changes >= 4
}

// brokenLines reports whether a line break is part of what hides a secret. A format of
// lines has such a text with the escape.
func brokenLines(text string) bool {
	for _, s := range []string{"=\n", "\\\n", "`\n", ":\n", "\r\n  "} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return strings.HasPrefix(text, "a ") && strings.Contains(text, "\n")
}
