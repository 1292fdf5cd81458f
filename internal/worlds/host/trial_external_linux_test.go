package host_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/conclave-bench/conclave/internal/repo/slowtest"
	"github.com/conclave-bench/conclave/internal/worlds/host"
	"github.com/conclave-bench/conclave/pkg/bus"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// TestTrial_ExternalServer: over TLS on both sides, as a user of an account of an
// operator, which is how NATS is run by those who sell it.
func TestTrial_ExternalServer(t *testing.T) {
	options, external := operated(t)
	ns := startNATS(t, options)
	external.URL = "tls://" + ns.Addr().String()
	m := newMachine(t, 3, func(c *host.MachineConfig) { c.External = external })
	p := plan(t, "mutex/naimi-trehel", 3, harness.Scenario{Plot: &harness.Sequential{
		Requests: 20, Hold: link.Constant(ms(1)),
	}}, nil)
	o := run(t, m, p)
	if err := same(simulate(t, p), o); err != nil || o.Status != trace.OK {
		t.Errorf("%s: %s: %v", o.Status, o.Reason, err)
	}
	if len(children(t, "trial-bus")) > 0 {
		t.Error("a bus of its own runs beside")
	}
	if figures, err := m.Baseline(); err != nil || figures["round_trip_p50_us"] == nil {
		t.Errorf("baseline: %v, %v", figures, err)
	} else {
		t.Logf("baseline over TLS: %v", figures)
	}
}

// TestTrial_HostsOfAnExternalCluster: each host's nodes connect to a server of the user's own
// cluster, with the files of this machine alone; a trial begins when each server passes on to
// each node, and is invalid if one does not.
func TestTrial_HostsOfAnExternalCluster(t *testing.T) {
	slowtest.Skip(t, "starts a cluster of buses")
	t.Parallel()
	options, external := operated(t)
	external, err := external.WithoutFiles()
	must(t, err)
	var servers []*server.Server
	var urls []string
	for i := range 3 {
		o := options.Clone()
		o.ServerName = fmt.Sprint("server", i)
		o.Cluster = server.ClusterOpts{Name: "users", Host: "127.0.0.1", Port: server.RANDOM_PORT}
		for _, s := range servers {
			o.Routes = append(o.Routes, server.RoutesFromStr("nats://"+s.ClusterAddr().String())...)
		}
		servers = append(servers, startNATS(t, o))
		urls = append(urls, "tls://"+servers[i].Addr().String())
	}
	external.URL = urls[0]
	p := plan(t, "mutex/ricart-agrawala", 6, harness.Scenario{Plot: &harness.Sequential{Requests: 12}}, nil)
	cfg := host.MachineConfig{Nodes: 6, Ready: 2 * time.Second, External: external}
	m := labAt(t, cfg, urls, "0s 0", "5h 50", "-30h -20")
	runs := &counted{runsTrials: m} // the machine may spoil some
	o := run(t, runs, p)
	if want := simulate(t, p); o.Status != trace.OK || o.Totals.Sent != want.Totals.Sent {
		t.Errorf("%s: %s: %d messages, want %d", o.Status, o.Reason, o.Totals.Sent, want.Totals.Sent)
	}
	for i, s := range servers {
		v, err := s.Varz(nil)
		must(t, err)
		if want := 3 * runs.n; v.TotalConnections != want { // per trial: two nodes, and the runner
			t.Errorf("%d connections to server %d, want %d", v.TotalConnections, i, want)
		}
	}
	baseline, err := m.Baseline()
	must(t, err)
	if pairs, _ := baseline["pairs"].([]map[string]any); len(pairs) != 6 {
		t.Errorf("the bus of three hosts alone: %v", baseline)
	}
	lone := startNATS(t, options)
	m = labAt(t, cfg, []string{urls[0], urls[1], "tls://" + lone.Addr().String()}, "0s 0", "0s 0", "0s 0")
	o, err = attempt(t.Context(), m, p)
	must(t, err)
	if err := spoiled(o, "after 2s, the bus does not deliver messages from each host to each node: p3 from lab1, "+
		"p6 from lab1"); err != nil {
		t.Error(err)
	}
}

// counted counts the trials that are run.
type counted struct {
	runsTrials
	n uint64
}

func (c *counted) Run(ctx context.Context, s *harness.Setup, sink trace.Sink) (harness.End, harness.Quality, error) {
	c.n++
	return c.runsTrials.Run(ctx, s, sink)
}

func startNATS(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	ns, err := server.NewServer(o.Clone())
	must(t, err)
	go ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	if !ns.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server is not ready")
	}
	return ns
}

// operated is a server with an account of an operator, and how its user connects.
func operated(t *testing.T) (*server.Options, bus.DialConfig) {
	dir := t.TempDir()
	serverTLS := certificates(t, dir)
	operator, account, user := keyPair(t, nkeys.CreateOperator), keyPair(t, nkeys.CreateAccount),
		keyPair(t, nkeys.CreateUser)
	resolver := &server.MemAccResolver{}
	unlimited := map[string]any{"subs": -1, "conn": -1, "leaf": -1, "imports": -1, "exports": -1,
		"data": -1, "payload": -1, "wildcards": true}
	must(t, resolver.Store(public(t, account), token(t, operator, account, map[string]any{
		"type": "account", "version": 2, "limits": unlimited,
	})))
	seed, err := user.Seed()
	must(t, err)
	creds := filepath.Join(dir, "user.creds")
	must(t, os.WriteFile(creds, fmt.Appendf(nil, "-----BEGIN NATS USER JWT-----\n%s\n"+
		"------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n%s\n"+
		"------END USER NKEY SEED------\n", token(t, account, user, map[string]any{
		"type": "user", "version": 2, "pub": map[string]any{}, "sub": map[string]any{},
		"subs": -1, "data": -1, "payload": -1,
	}), seed), 0o600))
	return &server.Options{
			Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
			TLSConfig: serverTLS, TLSTimeout: 5, TLSVerify: true,
			TrustedKeys: []string{public(t, operator)}, AccountResolver: resolver,
		}, bus.DialConfig{CredentialsFile: creds, CAFile: filepath.Join(dir, "ca.pem"),
			CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
}

func TestMachine_Baseline(t *testing.T) {
	figures, err := newMachine(t, 2).Baseline()
	must(t, err)
	p50, _ := figures["round_trip_p50_us"].(float64)
	p99, _ := figures["round_trip_p99_us"].(float64)
	if p50 <= 0 || p99 < p50 {
		t.Errorf("%v", figures)
	}
	if figures, err := newMachine(t, 1).Baseline(); err != nil || len(figures) > 0 {
		t.Errorf("alone: %v, %v", figures, err)
	}
}

func keyPair(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	pair, err := create()
	must(t, err)
	return pair
}

func public(t *testing.T, pair nkeys.KeyPair) string {
	t.Helper()
	key, err := pair.PublicKey()
	must(t, err)
	return key
}

// token is a JWT in which issuer says of subject what claims say.
func token(t *testing.T, issuer, subject nkeys.KeyPair, claims map[string]any) string {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	body, err := json.Marshal(map[string]any{
		"jti": "TEST", "iat": time.Now().Unix(), "iss": public(t, issuer), "sub": public(t, subject),
		"name": "test", "nats": claims,
	})
	must(t, err)
	text := encode([]byte(`{"typ":"JWT","alg":"ed25519-nkey"}`)) + "." + encode(body)
	signature, err := issuer.Sign([]byte(text))
	must(t, err)
	return text + "." + encode(signature)
}

// certificates writes ca.pem, cert.pem and key.pem, good for both sides, and
// returns the server's.
func certificates(t *testing.T, dir string) *tls.Config {
	t.Helper()
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	must(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, IPAddresses: []net.IP{{127, 0, 0, 1}},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	must(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	write := func(name, kind string, der []byte) {
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	write("ca.pem", "CERTIFICATE", caDER)
	write("cert.pem", "CERTIFICATE", der)
	write("key.pem", "EC PRIVATE KEY", keyDER)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}))
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	must(t, err)
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	}
}
