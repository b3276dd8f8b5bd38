package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestWritten: values are masked in the forms in which programs, shells and files of
// settings write them.
func TestWritten(t *testing.T) {
	v := fake(20)
	for _, form := range []string{
		"x api_key:\n  %s: no such file", "API_KEY=\r%s", "API_KEY=\x0b%s", "API_KEY=\x0c%s", "token=\r%s", "token: \r%s", "HF_TOKEN\n%s", "HF_TOKEN\r\n%s",
		"password: |\n  %s", "password: >-\n  %s", "x: 1\npassword: |2\n    %s\ny: 1", "tokens:\n  - %s", "api_keys:\n- '%s'", "TOKENS=%s", "TOKENS=a,%s",
		`{"token":{"value":"%s"}}`, `{"token": {"type": "x", "value": "%s"}}`, `{"tokens":["%s"]}`, `{"tokens":["a", "%s"]}`, `{\"token\":{\"value\":\"%s\"}}`,
		`token: str = "%s"`, `let token: &str = "%s"`, `const token: string = "%s"`, `token: Optional[str] = '%s'`, `static API_KEY: &'static str = "%s"`, `token: String = "%s"`,
		`SecretStr("%s")`, `SecretStr('%s')`, `SecretBytes(b'%s')`, `HTTPBasicAuth('bob','%s')`, `HTTPBasicAuth("bob", "%s")`, `BasicAuth('bob', '%s')`,
		"token：%s", "GH_PAT=%s", "gh_pat: %s", "storepass=%s", "keypass=%s", "-storepass %s", "sessionid=%s", "PHPSESSID=%s", "JSESSIONID: %s",
		"SLACK_WEBHOOK_URL=https://example.com/services/%s", "DISCORD_WEBHOOK=https://h.io/a/%s", "webhook_url: 'https://h.io/a/%s'",
		"huggingface_hub.login('%s')", `huggingface_hub.login(token="%s")`, "login('%s')", "huggingface-cli login --token %s", "wandb login <<< %s", "wandb login <<<'%s'", `wandb login --relogin <<< "%s"`,
	} {
		text := strings.ReplaceAll(form, "%s", v)
		if strings.Count(form, "%") != strings.Count(form, "%s") {
			t.Fatal(fmt.Errorf("%q", form))
		}
		got := Mask(text)
		if strings.Contains(got, v[:8]) || !strings.HasPrefix(got, text[:4]) {
			t.Errorf("%q became %q", text, got)
		}
		if again := Mask(got); again != got {
			t.Errorf("%q became %q", got, again)
		}
	}
}

// TestRawJSON: texts in JSON that is kept as written are looked at as they are, not as they
// are escaped.
func TestRawJSON(t *testing.T) {
	const token = "W75jZkumJI40shcuX2DRfBBLT1hJCD6"
	v := struct{ Types, Dims, Broken json.RawMessage }{
		json.RawMessage(`["float", "\u001b[1;31mapi_key=` + token + `", ["<b>"]]`),
		json.RawMessage(`[[1, 2], [3.0]]`),
		json.RawMessage(`["cut`),
	}
	New(false).Strings(&v)
	if strings.Contains(string(v.Types), token) || !json.Valid(v.Types) || !strings.Contains(string(v.Types), `"<b>"`) {
		t.Errorf("types are %s", v.Types)
	}
	if string(v.Dims) != `[[1, 2], [3.0]]` || string(v.Broken) != "null" {
		t.Errorf("dims are %s, broken %s", v.Dims, v.Broken)
	}
}
