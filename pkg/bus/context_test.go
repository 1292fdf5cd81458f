package bus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

// TestReadContext: what the nats CLI has written, in its folder or in a file.
func TestReadContext(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", folder)
	write := func(name, text string) string {
		path := filepath.Join(folder, "nats", "context", name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	pair, err := nkeys.CreateUser()
	must(t, err)
	seed, err := pair.Seed()
	must(t, err)
	key, file := write("user.nk", string(seed)+"\n"), write("file", "x")
	for name, test := range map[string]struct {
		text, want string // of the error: beginning with !
		check      func(c DialConfig) bool
	}{
		"nothing": {"{}", "nats://127.0.0.1:4222", func(c DialConfig) bool { return c.User+c.Token == "" }},
		"password": {`{"url": "nats://a:1,nats://b:2", "user": "u", "password": "secret", "color_scheme": "red"}`,
			"nats://a:1,nats://b:2", func(c DialConfig) bool { return c.User == "u" && c.Password == "secret" }},
		"in the address": {`{"url": "nats://u:secret@a:1"}`, "nats://a:1",
			func(c DialConfig) bool { return c.User == "u" && c.Password == "secret" }},
		"token in it": {`{"url": "nats://secret@a:1"}`, "nats://a:1", func(c DialConfig) bool { return c.Token == "secret" }},
		"token":       {`{"url": "nats://a:1", "token": "secret"}`, "nats://a:1", func(c DialConfig) bool { return c.Token == "secret" }},
		"nkey":        {`{"url": "nats://a:1", "nkey": "` + key + `"}`, "nats://a:1", func(c DialConfig) bool { return string(c.Seed) == string(seed) }},
		"creds": {`{"url": "nats://a:1", "creds": "` + file + `"}`, "nats://a:1",
			func(c DialConfig) bool { return c.CredentialsFile == file }},
		"certificate": {`{"url": "nats://a:1", "cert": "` + file + `", "key": "` + file + `", "ca": "` + file + `", "tls_first": true}`,
			"tls://a:1", func(c DialConfig) bool {
				return c.CertFile == file && c.KeyFile == file && c.CAFile == file && c.TLSFirst
			}},

		"half a certificate": {text: `{"cert": "x"}`, want: "!give both, or neither"},
		"no seed":            {text: `{"nkey": "` + file + `"}`, want: "!has no seed of an nkey"},
		"no creds":           {text: `{"creds": "/nowhere.creds"}`, want: "!/nowhere.creds: no such file"},
		"a proxy":            {text: `{"socks_proxy": "x"}`, want: "!socks_proxy is not supported"},
		"a password store":   {text: `{"user": "u", "password": "op://x"}`, want: "!password: op:// is not supported"},
		"no JSON":            {text: `secret`, want: "!NATS context "},
		"a bad address":      {text: `{"url": "nats://u:secret@a:x"}`, want: "!address 1 cannot be read"},
	} {
		write(name+".json", test.text)
		for _, from := range []string{name, filepath.Join(folder, "nats", "context", name+".json")} {
			c, err := ReadContext(from)
			if why, bad := strings.CutPrefix(test.want, "!"); bad {
				if err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: %v, want %s", name, err, why)
				}
			} else if err != nil || c.URL != test.want || !test.check(c) || strings.Contains(c.String(), "secret") {
				t.Errorf("%s: %v of %s, %v", name, c, c.URL, err)
			}
		}
	}
	if _, err := ReadContext("lab"); err == nil || !strings.Contains(err.Error(), "there is no NATS context lab") {
		t.Error(err)
	}
}
