package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/conclave-bench/conclave/internal/base/files"
)

// A natsContext is what the nats CLI keeps of a server, as ADR-21 of NATS describes its files. The last
// fields would change how a connection works, and are refused. Package natscontext of NATS reads these files
// too, but starts programs (nsc, op) for them, and needs the whole of jsm.go.
type natsContext struct {
	URL      string `json:"url"`
	User     string `json:"user"`
	Password string `json:"password"`
	Token    string `json:"token"`
	Creds    string `json:"creds"`
	NKey     string `json:"nkey"` // file with a seed
	Cert     string `json:"cert"`
	Key      string `json:"key"`
	CA       string `json:"ca"`
	TLSFirst bool   `json:"tls_first"`

	NSC       string `json:"nsc"`
	UserJWT   string `json:"user_jwt"`
	Proxy     string `json:"socks_proxy"`
	Domain    string `json:"jetstream_domain"`
	APIPrefix string `json:"jetstream_api_prefix"`
	Inbox     string `json:"inbox_prefix"`
	WinStore  string `json:"windows_cert_store"`
}

// unsupported is the first key that has a value which Conclave would ignore; "": none.
func (c *natsContext) unsupported() string {
	for _, f := range [][2]string{{"nsc", c.NSC}, {"user_jwt", c.UserJWT}, {"socks_proxy", c.Proxy},
		{"jetstream_domain", c.Domain}, {"jetstream_api_prefix", c.APIPrefix}, {"inbox_prefix", c.Inbox},
		{"windows_cert_store", c.WinStore}} {
		if f[1] != "" {
			return f[0]
		}
	}
	if strings.HasPrefix(c.Password, "op://") {
		return "password: op://"
	}
	return ""
}

// ReadContext is the server and the login of a context of the nats CLI: of that name, or in that file. The
// URL that it returns has no secret, and is tls:// where the context has a certificate.
func ReadContext(name string) (c DialConfig, err error) {
	path, err := contextPath(name)
	if err != nil {
		return c, err
	}
	data, err := files.Read(path, maxSecret)
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("there is no NATS context %s: %s is missing; nats context ls lists those that "+
			"there are", name, path)
	}
	var from natsContext
	if err == nil {
		err = json.Unmarshal(data, &from)
	}
	if err != nil { // an error of package json quotes no value
		return c, fmt.Errorf("NATS context %s: %w", name, err)
	}
	if key := from.unsupported(); key != "" {
		return c, fmt.Errorf("NATS context %s: %s is not supported; log in with a user, token, nkey, creds "+
			"or certificate", name, key)
	}
	if (from.Cert == "") != (from.Key == "") {
		return c, fmt.Errorf("NATS context %s: it has one of cert and key; give both, or neither", name)
	}
	c = DialConfig{CAFile: home(from.CA), CertFile: home(from.Cert), KeyFile: home(from.Key),
		TLSFirst: from.TLSFirst}
	switch { // in the order of the nats CLI
	case from.User != "":
		c.User, c.Password = from.User, from.Password
	case from.Creds != "":
		c.CredentialsFile = home(from.Creds)
	case from.NKey != "":
		c.Seed, err = seedIn(home(from.NKey))
	case from.Token != "":
		c.Token = from.Token
	}
	for _, path := range []string{c.CredentialsFile, c.CAFile, c.CertFile, c.KeyFile} {
		if _, missing := os.Stat(path); path != "" && missing != nil {
			err = errors.Join(err, missing)
		}
	}
	if err == nil {
		err = c.servers(from.URL)
	}
	if err != nil {
		return DialConfig{}, fmt.Errorf("NATS context %s: %w", name, err)
	}
	return c, nil
}

// servers takes over the addresses, and the login that one of them may have.
func (c *DialConfig) servers(list string) error {
	if list == "" {
		list = nats.DefaultURL
	}
	all := strings.Split(list, ",")
	for i, one := range all {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil {
			return fmt.Errorf("address %d cannot be read", i+1) // it may have a password
		}
		if password, both := u.User.Password(); both {
			c.User, c.Password = u.User.Username(), password
		} else if u.User != nil {
			c.Token = u.User.Username()
		}
		u.User = nil
		if u.Scheme == "nats" && (c.CAFile != "" || c.CertFile != "" || c.TLSFirst) {
			u.Scheme = "tls"
		}
		all[i] = u.String()
	}
	c.URL = strings.Join(all, ",")
	return nil
}

// contextPath is the file of a context.
func contextPath(name string) (string, error) {
	if strings.HasSuffix(name, ".json") || strings.ContainsRune(name, filepath.Separator) {
		return name, nil
	}
	folder := os.Getenv("XDG_CONFIG_HOME")
	if folder == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("NATS context %s: %w", name, err)
		}
		folder = filepath.Join(user, ".config")
	}
	return filepath.Join(folder, "nats", "context", name+".json"), nil
}

// home is a path whose ~ is the user's folder.
func home(path string) string {
	if rest, short := strings.CutPrefix(path, "~/"); short {
		if user, err := os.UserHomeDir(); err == nil {
			return filepath.Join(user, rest)
		}
	}
	return path
}

// seedIn is the seed of the nkey in a file.
func seedIn(path string) ([]byte, error) {
	data, err := files.Read(path, maxSecret)
	if err != nil {
		return nil, err
	}
	pair, err := nkeys.ParseDecoratedNKey(data)
	if err != nil {
		return nil, fmt.Errorf("%s has no seed of an nkey: %w", path, err)
	}
	return pair.Seed()
}
