package queue_test

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// signed lets in a client that signs with this key what the server has sent, as credentials have it do. The
// server discards the JWT, since it has no operator.
type signed struct{ public string }

func (s signed) Check(c server.ClientAuthentication) bool {
	key, err := nkeys.FromPublicKey(s.public)
	if err != nil {
		return false
	}
	sig, err := base64.RawURLEncoding.DecodeString(c.GetOpts().Sig)
	return err == nil && c.GetOpts().Nkey == "" && key.Verify(c.GetNonce(), sig) == nil
}

// TestLogins: a context has every login of the nats CLI; a wrong one is refused with one sentence, which has
// no secret.
func TestLogins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	user := func() (seed, public string) {
		pair, err := nkeys.CreateUser()
		must(t, err)
		secret, err := pair.Seed()
		must(t, err)
		public, err = pair.PublicKey()
		must(t, err)
		return string(secret), public
	}
	seed, public := user()
	other, _ := user()
	creds := func(name, seed string) string {
		return write(name, "-----BEGIN NATS USER JWT-----\naaa.bbb.ccc\n------END NATS USER JWT------\n\n"+
			"-----BEGIN USER NKEY SEED-----\n"+seed+"\n------END USER NKEY SEED------\n")
	}
	authority, err := bus.NewAuthority()
	must(t, err)
	certificate := func(name string) (fields string, proof *bus.TLS) {
		proof, err := authority.Issue("127.0.0.1")
		must(t, err)
		return fmt.Sprintf(`"cert": %q, "key": %q, "ca": %q`, write(name+".pem", string(proof.Cert)),
			write(name+".key", string(proof.Key)), write("ca.pem", string(proof.CA))), proof
	}
	ours, proof := certificate("ours")
	secured := func(o *server.Options) (err error) {
		o.TLS, o.TLSVerify, o.TLSTimeout = true, true, 5
		var config *tls.Config
		config, err = proof.Server(true)
		o.TLSConfig = config
		return err
	}
	for name, test := range map[string]struct {
		server       func(*server.Options) error
		right, wrong string // fields of the context
		why          string // of the refusal
	}{
		"password": {func(o *server.Options) error { o.Username, o.Password = "u", "the secret"; return nil },
			`"user": "u", "password": "the secret"`, `"user": "u", "password": "a secret"`, "refuses this login"},
		"token": {func(o *server.Options) error { o.Authorization = "the secret"; return nil },
			`"token": "the secret"`, `"token": "a secret"`, "refuses this login"},
		"nkey": {func(o *server.Options) error { o.Nkeys = []*server.NkeyUser{{Nkey: public}}; return nil },
			fmt.Sprintf(`"nkey": %q`, write("user.nk", seed)), fmt.Sprintf(`"nkey": %q`, write("other.nk", other)),
			"refuses this login"},
		"creds": {func(o *server.Options) error {
			o.CustomClientAuthentication, o.AlwaysEnableNonce = signed{public}, true
			return nil
		}, fmt.Sprintf(`"creds": %q`, creds("user.creds", seed)), fmt.Sprintf(`"creds": %q`, creds("other.creds", other)),
			"refuses this login"},
		"certificate": {secured, ours, fmt.Sprintf(`"ca": %q`, filepath.Join(dir, "ca.pem")), "certificate"},
		"TLS first": {func(o *server.Options) error { o.TLSHandshakeFirst = true; return secured(o) },
			ours + `, "tls_first": true`, ours, "connect to NATS at "},
	} {
		o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true}
		must(t, test.server(o))
		s, err := server.NewServer(o)
		must(t, err)
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatal("NATS is not ready")
		}
		url := "nats://" + s.Addr().String()
		for _, fields := range []string{test.right, test.wrong} {
			at := queue.Server{Context: write("context.json", fmt.Sprintf(`{"url": %q, %s}`, url, fields))}
			must(t, at.ReadContext())
			must(t, at.Check())
			_, err := queue.Workers(t.Context(), at, time.Millisecond)
			switch {
			case fields == test.right && err != nil:
				t.Errorf("%s: %v", name, err)
			case fields == test.wrong && (err == nil || !strings.Contains(err.Error(), test.why) ||
				strings.Contains(err.Error(), "a secret") || strings.Contains(err.Error(), "\n")):
				t.Errorf("a wrong %s: %v, want %s", name, err, test.why)
			}
		}
		if name == "certificate" { // the flags say the same
			at := queue.Server{URL: strings.Replace(url, "nats", "tls", 1), CA: filepath.Join(dir, "ca.pem"),
				Cert: filepath.Join(dir, "ours.pem"), Key: filepath.Join(dir, "ours.key")}
			_, err := queue.Workers(t.Context(), at, time.Millisecond)
			must(t, err)
		}
	}
	if err := (queue.Server{URL: "nats://127.0.0.1:1", Cert: "x"}).Check(); err == nil || !strings.Contains(err.Error(), "give both") {
		t.Errorf("half a certificate: %v", err)
	}
}
