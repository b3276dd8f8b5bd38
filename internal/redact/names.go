package redact

import (
	"slices"
	"strings"
	"sync"
)

// A trust is how likely the value of a variable is secret, judging by its name.
type trust int

const (
	noSecret trust = iota
	maybe          // secret unless the value reads like words or a number
	surely         // any value is secret
	header         // like surely, but a scheme such as "Bearer" may precede the value
)

// A vocabulary decides what a name means. Names are split at punctuation and before upper-case
// letters.
type vocabulary struct {
	alone, keys, tokens, plainKeys, plainTokens, facts, accounts, services, schemes map[string]bool
}

// words returns the vocabulary, built at first use.
var words = sync.OnceValue(func() *vocabulary {
	return &vocabulary{
		// alone has words that mark a secret anywhere in a name.
		alone: set("password passwd passwort passphrase passcode pword secret secrets credential credentials " +
			"creds bearer apikey apikeys accesskey secretkey privatekey authkey authtoken accesstoken " +
			"refreshtoken apitoken accountkey sharedaccesskey clientsecret pgpassword sshpass userpass " +
			"dbpass storepass keypass jwtsecret authorization cookie connectionstring"),

		// keys has the words before "key" that mark a secret key.
		keys: set("api apis access secret private auth encryption encrypt signing " +
			"sign master account shared ssh gpg rsa license client deploy " +
			"subscription service session app application consumer admin host " +
			"hmac jwt x authorization " + services),

		// tokens has the words before "token" that mark a secret token.
		tokens: set("access auth oauth api refresh session id bearer security secret " +
			"personal private identity user hub bot jwt csrf xsrf webhook registry " +
			"deploy ci job runner push login client app service signing vault " +
			"kube k8s notebook jupyter " + services),

		// plainKeys and plainTokens have the words before "key" and "token" that mark no secret:
		// keys of tables, and tokens of language models.
		plainKeys: set("cache hash sort partition primary foreign dict state lookup public group graph kernel op shape " +
			"index query kv value compile config autotune triton fx sub column row join map meta attn " +
			"attention mask head hot print press seq sequence layer object routing shard node worker rank " +
			"param option field event record data json yaml env per num max min"),
		plainTokens: set("per max min num pad eos bos unk sep cls mask stop special next last first new prompt input output total " +
			"start end image audio video vision text think draft spec cur current prev one each all by bad good begin ending decode " +
			"prefill gen generated sampled context valid batch seq sequence single multi total expert experts extra dummy " +
			"mean avg time ms us sec latency throughput cancellation flash speculative accepted rejected"),

		// facts has last words of names for properties of a secret, such as its length.
		facts: set("type types id ids name names file files path paths dir count counts len length size num number limit budget " +
			"layout env url uri expiry expires expiration ttl padding mask index idx embedding embeddings dim dims shape usage rate " +
			"throughput latency time ms policy field version mode format required enabled class classes manager provider store " +
			"bytes sock socket dtype strategy position positions ratio logits probs attempts rotation header kernel kernels gemm conv capture masked searched"),

		// accounts has the words before "pass" that mark a password; a pass may also be one over
		// data.
		accounts: set("db database user admin root smtp mail email imap mysql pg postgres redis ftp ssh http https proxy login svc " +
			"service rabbitmq mongo mongodb ldap account sudo vnc app my the"),
		services: set(services),
		// schemes has words that precede the value of a header.
		schemes: set("basic bearer token digest negotiate apikey key bot oauth hmac aws4-hmac-sha256 hawk ntlm snowflake splunk"),
	}
})

// tails are endings of words that were written as one.
var tails = strings.Fields("password passwd passphrase apikey secretkey accesskey privatekey authtoken accesstoken secret")

// services are words with which variables name the owner of a secret.
const services = "hf huggingface hugging openai anthropic claude gemini google gcp aws azure wandb comet neptune nvidia ngc groq " +
	"mistral cohere together deepseek openrouter replicate perplexity fireworks xai cerebras pinecone qdrant weaviate " +
	"langchain langsmith langfuse clearml mlflow runpod modal anyscale lambda databricks snowflake datadog dd sentry newrelic " +
	"grafana honeycomb stripe twilio sendgrid mailgun github gh gitlab git bitbucket npm pypi twine docker dockerhub slack " +
	"discord devops ado telegram serper tavily civitai kaggle ray prefect dagster vercel netlify heroku digitalocean cloudflare"

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// longestName is the maximum length of the name of a variable.
const longestName = 128

// isNameByte reports whether c can be in the name of a variable, flag or header.
func isNameByte(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '.' }

// name examines a word that may name a secret: the whole name around it, and the text after that.
func (t *text) name(from, to int) {
	if from < t.named {
		return
	}
	low, mark := max(t.named, from-longestName), from
	for from > low && isNameByte(t.s[from-1]) {
		from--
	}
	if i := strings.LastIndex(t.s[from:mark], "--"); i >= 0 {
		from += i + len("--") // a flag without a blank before it
	}
	for end := min(len(t.s), to+longestName); to < end && isNameByte(t.s[to]); {
		to++
	}
	t.named = to
	end := to
	for from < to && !isAlnum(t.s[from]) && t.s[from] != '_' {
		from++
	}
	for to > from && !isAlnum(t.s[to-1]) && t.s[to-1] != '_' {
		to--
	}
	if to == end || t.s[to] != '.' {
		t.variable(from, to)
	}
}

// classify judges by the name s[from:to] how likely its value is secret.
func (t *text) classify(from, to int) trust {
	name := t.s[from:to]
	list := split(name)
	for len(list) > 1 && strings.Trim(list[len(list)-1], digits) == "" {
		list = list[:len(list)-1] // TOKEN_1
	}
	if len(list) == 0 {
		return noSecret
	}
	last := list[len(list)-1]
	switch {
	case slices.Contains(list, "authorization"):
		return header
	case last == "cookie":
		return surely
	case slices.Contains(list, "webhook") && (last == "webhook" || last == "url" || last == "uri"):
		return maybe // whoever has the address of a webhook can use it
	case len(list) > 1 && words().facts[last] && !(last == "id" && list[len(list)-2] == "key"):
		return noSecret
	}
	best := noSecret
	for i, w := range list {
		before := ""
		if i > 0 {
			before = list[i-1]
		} else if w == "key" || w == "token" {
			before = wordBefore(t.s[:from])
		}
		best = max(best, means(w, before, list))
	}
	// Names in upper case are environment variables, whose values are rarely words.
	if best == maybe && len(name) >= 3 && name == strings.ToUpper(name) {
		return surely
	}
	return best
}

// means judges one word of a name, together with the word before it.
func means(w, before string, list []string) trust {
	switch {
	case words().alone[w], w == "pass" && (words().accounts[before] || words().services[before]), w == "pwd" &&
		len(list) > 1:
		return surely
	case slices.ContainsFunc(tails, func(tail string) bool { return strings.HasSuffix(w, tail) }), written(w):
		return surely
	case w == "key" && words().keys[before], w == "keys" && (before == "api" || before == "access"):
		return surely
	case (w == "token" || w == "tokens" && before != "id" && before != "user") && words().tokens[before]:
		return surely
	case w == "key" && !words().plainKeys[before] && len(list) > 1, w == "key" && before == "":
		return maybe
	case w == "token" && !words().plainTokens[before], w == "tokens" && w == list[len(list)-1] &&
		!words().plainTokens[before]:
		return maybe
	case w == "pat" && words().services[before]:
		return surely
	case w == "sessionid" || w == "phpsessid" || w == "jsessionid":
		return maybe
	case w == "auth" || w == "jwt" || w == "dsn" || w == "pwd" || w == "pass", (w == "sig" || w == "signature") &&
		w == list[len(list)-1]:
		return maybe
	}
	return noSecret
}

// written reports whether w is a secret written as one word with "token" or "key" at its end:
// hftoken, masterkey.
func written(w string) bool {
	const shortest = 2
	if before, ok := strings.CutSuffix(w, "token"); ok {
		return len(before) >= shortest && words().tokens[before]
	}
	before, ok := strings.CutSuffix(w, "key")
	return ok && len(before) >= shortest && words().keys[before]
}

// wordBefore returns the word before a space at the end of s: "API key".
func wordBefore(s string) string {
	if s == "" || s[len(s)-1] != ' ' {
		return ""
	}
	s = s[max(0, len(s)-16) : len(s)-1]
	i := strings.LastIndexFunc(s, func(r rune) bool { return !(r < 0x80 && isAlnum(byte(r))) })
	if w := lowerCase(s[i+1:]); words().keys[w] || words().plainTokens[w] || words().plainKeys[w] {
		return w
	}
	return ""
}

// split returns the words of a name in lower case.
func split(name string) (list []string) {
	from := 0
	cut := func(to int) {
		if to > from {
			list = append(list, lowerCase(name[from:to]))
		}
		from = to
	}
	for i := range len(name) {
		switch c := name[i]; {
		case !isAlnum(c):
			cut(i)
			from = i + 1
		case i > 0 && kindOf(c) == 1 && kindOf(name[i-1]) == 0 && isAlnum(name[i-1]):
			cut(i)
		case i > 1 && kindOf(c) == 0 && kindOf(name[i-1]) == 1 && kindOf(name[i-2]) == 1 && isAlnum(name[i-2]) &&
			isAlnum(name[i-1]):
			cut(i - 1) // APIKey
		}
	}
	cut(len(name))
	return list
}

// wordy reports whether a value reads like words, numbers and sizes, as names of kernels and
// options do, and not like a secret.
func wordy(s string) bool {
	const most = 256
	if len(s) > most {
		return false
	}
	for seg := range strings.FieldsFuncSeq(s, func(r rune) bool { return r < 0x80 && !isAlnum(byte(r)) }) {
		changes, digit, letter := 0, false, false
		for i := range len(seg) {
			isDigit := '0' <= seg[i] && seg[i] <= '9'
			digit, letter = digit || isDigit, letter || !isDigit
			if i > 0 && kindOf(seg[i]) != kindOf(seg[i-1]) {
				changes++
			}
		}
		switch {
		case digit && letter && sized(seg):
		case !digit && len(seg) <= 40 && changes*100 <= 33*len(seg) && (len(seg) <= 16 || changes > 1):
		case !letter && len(seg) <= 12:
		case digit && letter && (changes <= 1 && len(seg) <= 12 || changes <= 2 && len(seg) <= 8 || len(seg) <= 5):
		default:
			return false
		}
	}
	return true
}

// sized reports whether a word is a size such as 1024x4096.
func sized(s string) bool {
	for part := range strings.SplitSeq(s, "x") {
		if part == "" || len(part) > 6 || strings.Trim(part, digits) != "" {
			return false
		}
	}
	return true
}
