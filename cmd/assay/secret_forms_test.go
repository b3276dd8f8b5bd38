package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"

	"assay/internal/redact"
)

// A planted is a text with a secret in it.
type planted struct{ text, secret string }

// written are ways to write a secret value, drawn from words and marks that
// passwords have; what stands for the value is "%s".
var written = []string{
	"PASSWORD=%s", "password=%s", "HF_TOKEN=%s", "hf_token=%s", "Hf_Token = %s", "export HF_TOKEN=%s", "export WANDB_API_KEY='%s'", `OPENAI_API_KEY="%s"`,
	"{'HF_TOKEN': '%s'}", "{'api_key': '%s', 'a': 1}", `{"HF_TOKEN": "%s"}`, `{"apiKey":"%s"}`, `{\"api_key\": \"%s\"}`, "environ({'DB_PASSWORD': '%s'})",
	"HF_TOKEN:  %s", "api_key: %s", "HF_TOKEN=  %s", "- name: HF_TOKEN\n  value: %s", `{"name": "HF_TOKEN", "value": "%s"}`, "('HF_TOKEN', '%s')",
	`os.environ["HF_TOKEN"] = "%s"`, "PGPASSWORD=%s psql", "MYSQL_PWD=%s mysql", "SSHPASS=%s", "sshpass -p %s ssh h", "train.py --api-key %s", "train.py --token=%s",
	"train.py --password '%s'", "train.py --hf-token %s --lr 1", "curl -u bob:%s https://h", "curl --user bob:%s https://h", "mysql -u bob -p%s db", "docker login -u bob -p %s", "redis-cli -a %s", "curl --oauth2-bearer %s", "setenv HF_TOKEN %s", "setx HF_TOKEN %s",
	"Authorization: Bearer %s", "authorization: BEARER %s", `-H "Authorization: Token %s"`, "Proxy-Authorization: Basic %s", "x-api-key: %s", "X-Auth-Token: %s",
	"redis://:%s@h:6379/0", "postgres://bob:%s@h/db", "https://h/x?access_token=%s&a=1", "https://h/x?a=1&token=%s", "https://h/x?X-Amz-Signature=%s", "https://h/x?sv=1&sig=%s",
	"clientSecret=%s", "AWS_SECRET_ACCESS_KEY=%s", "AccountKey=%s;EndpointSuffix=core", "<password>%s</password>", "api key: %s", "private_key=%s", "secret: %s", "DB_PASS=%s",
	"credentials=%s", "HF_TOKEN=b'%s'", `password = """%s"""`, "jwtSecret: '%s'", "env HF_TOKEN%%3D%s", `env\nHF_TOKEN=%s\nA=1`, "\x1b[31mHF_TOKEN=%s\x1b[0m", "x=1 GITHUB_TOKEN=%s y=2",
}

// valueOf draws a value for a setting.
func valueOf(rnd *rand.Rand, setting string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	chars, n := plain, 5+rnd.IntN(12)
	switch {
	case strings.Contains(setting, "sig") || strings.Contains(setting, "Sig"):
		n = 43
	case strings.HasPrefix(setting, "PASSWORD") || strings.HasPrefix(setting, "export") || strings.HasPrefix(setting, "{'"):
		chars, n = plain+",&;:!#*+-./@^_~", 10+rnd.IntN(300)
	case strings.Contains(setting, "://"):
		chars = plain + "-_"
	}
	b := []byte{plain[rnd.IntN(26)]}
	for len(b) < n {
		b = append(b, chars[rnd.IntN(len(chars))])
	}
	return string(append(b, plain[rnd.IntN(26)], plain[52+rnd.IntN(10)]))
}

// plants draws a secret of each form: tokens of all formats, values of all settings,
// keys, and those that are encoded.
func plants(rnd *rand.Rand) (all []planted) {
	for _, f := range redact.Formats() {
		token := f.Example(rnd)
		all = append(all, planted{token, token})
	}
	for _, s := range written {
		value := valueOf(rnd, s)
		all = append(all, planted{fmt.Sprintf(s, value), value})
	}
	all = append(all, hiddenPlants(rnd)...)
	for _, s := range []string{"HF_TOKEN=%s=%s", "API_KEY=%s==%s=", "export DB_PASSWORD=%s=%s==", "--api-key %s=%s", "password=%s=%s, user=bob", "?sig=%s=%s&x=1", `{"secret": "%s=%s"}`} {
		first, second := valueOf(rnd, ""), valueOf(rnd, "") // a value may hold the sign that parts it from its name
		text := fmt.Sprintf(s, first, second)
		all = append(all, planted{text, first}, planted{text, second})
	}
	value := valueOf(rnd, "")
	key := strings.Repeat(valueOf(rnd, ""), 4)
	basic := base64.StdEncoding.EncodeToString([]byte("bob:" + value))
	coded := base64.StdEncoding.EncodeToString([]byte("HF_TOKEN=" + value))
	token := redact.Formats()[0].Example(rnd)
	whole := base64.RawURLEncoding.EncodeToString([]byte(token))
	for _, between := range []string{"\x1b]8;;https://h/x\x1b\\", "\x1b]8;id=1;https://h/x\a", "\x1b]8;;\a", "\x1b[0m", "[0m", "\x1bPq\x1b\\"} {
		half := len(token) / 2
		all = append(all, planted{"a " + token[:half] + between + token[half:], token[half:]})
	}
	return append(all,
		planted{"\x1b]8;;https://h/" + token + "\x1b\\x\x1b]8;;\x1b\\", token}, planted{"Basic " + basic, basic}, planted{"x " + coded, coded}, planted{"x/" + whole, whole},
		planted{"q=" + url.QueryEscape("HF_TOKEN="+value+"/x"), value},
		planted{"https://" + token + "@h/x", token}, planted{"https://bob:p@" + value + "@h/x", value}, planted{"https://bob:p/" + value + "@h/x", value},
		planted{"a\x1b[1;31m" + token + "\x1b[0m", token}, planted{"a%3D" + token, token}, planted{`a\n` + token, token}, planted{"a_" + token, token},
		planted{"wandb login 0123456789abcdef0123456789abcdef01234567", "0123456789abcdef0123456789abcdef01234567"},
		planted{"-----BEGIN RSA PRIVATE KEY-----\n" + key + "\n-----END RSA PRIVATE KEY-----", key},
		planted{"-----BEGIN ENCRYPTED PRIVATE KEY-----\n" + key + "\n-----END ENCRYPTED PRIVATE KEY-----", key},
		planted{"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + key + "\n-----END PGP PRIVATE KEY BLOCK-----", key},
		planted{"-----BEGIN OPENSSH PRIVATE KEY-----\n" + key, key},
	)
}

// plantedTrace returns a trace that has each text in metadata, arguments and in names
// of kernels, operators, annotations, files, processes and threads.
func plantedTrace(all []planted) []byte {
	type object = map[string]any
	events := []object{}
	add := func(e object) { events = append(events, e) }
	env := object{}
	for i, p := range all {
		ts, name := i*100, p.text
		env[fmt.Sprint("v", i)] = name
		add(object{"ph": "M", "name": "process_name", "pid": i + 10, "tid": 0, "args": object{"name": name}})
		add(object{"ph": "M", "name": "thread_name", "pid": 1, "tid": i + 10, "args": object{"name": name}})
		add(object{"ph": "X", "cat": "cpu_op", "name": "op " + name, "pid": 1, "tid": 1, "ts": ts, "dur": 90, "args": object{"External id": i, "Input type": []string{name}, "x": name}})
		add(object{"ph": "X", "cat": "user_annotation", "name": "range " + name, "pid": 1, "tid": 2, "ts": ts, "dur": 95})
		add(object{"ph": "X", "cat": "python_function", "name": name + "/model.py(12): forward", "pid": 1, "tid": 3, "ts": ts, "dur": 95, "args": object{"Python id": i + 1}})
		add(object{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts + 1, "dur": 1, "args": object{"correlation": i + 1, "External id": i}})
		add(object{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts + 5, "dur": 80, "args": object{"device": 0, "stream": 7, "correlation": i + 1, "External id": i}})
	}
	text, err := json.Marshal(object{"schemaVersion": 1, "env": env, "deviceProperties": []object{{"id": 0, "name": all[0].text}}, "traceEvents": events})
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	return text
}
