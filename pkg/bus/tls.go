package bus

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// A TLS is how one party of a run proves its identity, and which authority it trusts: PEM.
// The key is a secret: it goes to its owner through a pipe, and printed it is not shown.
type TLS struct {
	CA   []byte `json:"ca"`             // empty: a client that trusts the authorities of the system
	Cert []byte `json:"cert,omitempty"` // empty: a client that proves itself otherwise
	Key  []byte `json:"key,omitempty"`
}

// String shows no secret.
func (t TLS) String() string {
	return fmt.Sprintf("TLS with %d certificates", bytes.Count(t.Cert, pemBegin))
}

// GoString is what %#v prints.
func (t TLS) GoString() string { return t.String() }

// The kinds of blocks in PEM.
const certBlock, keyBlock = "CERTIFICATE", "EC PRIVATE KEY"

var pemBegin = []byte("-----BEGIN " + certBlock)

// An Authority signs the certificates of one run, and is forgotten with it; or those of a hub, which
// keeps it.
type Authority struct {
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	public []byte // PEM
}

// Certificates are believed from two days before they are made, since the wall clocks of
// the machines may differ, and for 90 days: no run takes longer.
const (
	CertBefore = 48 * time.Hour
	CertAfter  = 90 * 24 * time.Hour
)

// NewAuthority makes an authority for a run.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make certificates: %w", err)
	}
	a := &Authority{key: key}
	t := template("conclave")
	t.IsCA, t.BasicConstraintsValid, t.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err == nil {
		a.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		return nil, fmt.Errorf("make certificates: %w", err)
	}
	a.public = pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: der})
	return a, nil
}

// template is a certificate that is to be signed. Its number is drawn with its signature.
func template(name string) *x509.Certificate {
	return &x509.Certificate{Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-CertBefore), NotAfter: time.Now().Add(CertAfter)}
}

// ParseAuthority is the authority that Marshal has written.
func ParseAuthority(text []byte) (*Authority, error) {
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, fmt.Errorf("read the authority: %w", err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA {
		return nil, errors.New("read the authority: it is none")
	}
	return &Authority{cert: pair.Leaf, key: key,
		public: pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: pair.Leaf.Raw})}, nil
}

// Marshal is the authority with its key, as PEM: a secret.
func (a *Authority) Marshal() ([]byte, error) {
	key, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		return nil, err
	}
	return slices.Concat(a.public, pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: key})), nil
}

// Certificate is that of the authority itself.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// Admit makes the certificate of a client, who has made the key and keeps it: PEM. Role is its unit.
func (a *Authority) Admit(name, role string, key crypto.PublicKey) ([]byte, error) {
	t := template(name)
	t.Subject.OrganizationalUnit = []string{role}
	t.KeyUsage, t.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key, a.key)
	if err != nil {
		return nil, fmt.Errorf("make certificate of %s: %w", name, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: der}), nil
}

// Believer is for a client that proves its identity by its Identity.
func (a *Authority) Believer() *TLS { return &TLS{CA: a.public} }

// Issue makes the certificate of a party that is reached at an address: a name or an IP. It
// may be the client or the server of a connection.
func (a *Authority) Issue(address string) (*TLS, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make certificate of %s: %w", address, err)
	}
	t := template(address)
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	if ip := net.ParseIP(address); ip != nil {
		t.IPAddresses = []net.IP{ip}
	} else {
		t.DNSNames = []string{address}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("make certificate of %s: %w", address, err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make certificate of %s: %w", address, err)
	}
	return &TLS{CA: a.public,
		Cert: pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: secret}),
	}, nil
}

// Server is the configuration of a listener. Where mutual, a client has to have a
// certificate of the same authority.
func (t *TLS) Server(mutual bool) (*tls.Config, error) {
	c, err := t.Client()
	if err != nil {
		return nil, err
	}
	if len(c.Certificates) == 0 || c.RootCAs == nil {
		return nil, errors.New("TLS: a server needs a certificate, and that of its authority")
	}
	if mutual {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, c.RootCAs
	}
	return c, nil
}

// Client is the configuration of a party that connects.
func (t *TLS) Client() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS13}
	if len(t.CA) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(t.CA) {
			return nil, errors.New("TLS: the certificate of the authority cannot be read")
		}
	}
	if len(t.Cert) > 0 {
		pair, err := tls.X509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("TLS: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Client is how the owner of a key proves its identity with a certificate that was made for it (see
// Authority.Admit).
func Client(cert []byte, key *ecdsa.PrivateKey) (TLS, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return TLS{Cert: cert, Key: pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der})}, err
}
