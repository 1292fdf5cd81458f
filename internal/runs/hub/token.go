package hub

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"strings"
)

// A Mistake is why a hub cannot be started, joined or used, and what its user can do about it.
type Mistake string

func (m Mistake) Error() string { return string(m) }

// Exit is the exit code of a command that ends so: that of a wrong command line.
func (Mistake) Exit() int { return 2 }

func mistaken(format string, args ...any) Mistake { return Mistake(fmt.Sprintf(format, args...)) }

// A pin is the beginning of the SHA-256 of the public key of a hub's authority. 128 bits are
// enough: nobody finds another key with the same pin.
type pin [16]byte

func pinOf(authority *x509.Certificate) (p pin) {
	sum := sha256.Sum256(authority.RawSubjectPublicKeyInfo)
	copy(p[:], sum[:])
	return p
}

// A token is what a machine needs to join a hub: by its pin it knows the hub, and by its secret
// the hub knows it.
type token struct {
	hub    pin
	secret [16]byte
}

func newToken(hub pin) token {
	t := token{hub: hub}
	_, _ = rand.Read(t.secret[:]) // it never fails
	return t
}

const (
	tokenVersion = 1
	// sumBytes of a checksum tell a token that was cut or mistyped before anything is sent. With them
	// the text of a token has no odd character at its end.
	sumBytes = 3
	// tokenBytes is the size of all: version, pin, secret and checksum.
	tokenBytes = 1 + len(pin{}) + len(token{}.secret) + sumBytes
)

var tokenText = base64.RawURLEncoding.Strict()

func (t token) text() string {
	data := append([]byte{tokenVersion}, t.hub[:]...)
	data = append(data, t.secret[:]...)
	sum := sha256.Sum256(data)
	return tokenText.EncodeToString(append(data, sum[:sumBytes]...))
}

// name is how a hub remembers a token whose secret it forgets.
func (t token) name() string {
	sum := sha256.Sum256(t.secret[:])
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func parseToken(text string) (t token, err error) {
	const whole = "copy the whole line that bench hub has printed"
	if want := tokenText.EncodedLen(tokenBytes); len(text) != want {
		return t, mistaken("the token has %d characters, expected %d; %s", len(text), want, whole)
	}
	data, err := tokenText.DecodeString(text)
	if err != nil {
		return t, mistaken("the token is mistyped; %s", whole)
	}
	body := data[:tokenBytes-sumBytes]
	sum := sha256.Sum256(body)
	switch {
	case string(data[len(body):]) != string(sum[:sumBytes]):
		return t, mistaken("the token is mistyped; %s", whole)
	case data[0] != tokenVersion:
		return t, mistaken("the token is of form %d, and this program knows form %d; use the program of the "+
			"hub", data[0], tokenVersion)
	}
	copy(t.hub[:], body[1:])
	copy(t.secret[:], body[1+len(t.hub):])
	return t, nil
}

// An Invitation is the address of a hub and a token: HOST:PORT#TOKEN.
type Invitation struct {
	Address string
	token   token
}

// String has the secret.
func (i Invitation) String() string { return i.Address + "#" + i.token.text() }

// ParseInvitation reads the line that a hub has printed, without the command.
func ParseInvitation(text string) (i Invitation, err error) {
	address, secret, found := strings.Cut(strings.TrimSpace(text), "#")
	if err := checkAddress(address); err != nil {
		return i, err
	}
	if !found {
		return i, mistaken("%s is without a token; expected HOST:PORT#TOKEN, as bench hub and bench hub "+
			"token print it", address)
	}
	i.Address = address
	i.token, err = parseToken(secret)
	return i, err
}

// Names says whether text is the address or the folder of a hub, and not the name of a file.
func Names(text string) bool { return isAddress(text) || isFolder(text) }

func isAddress(text string) bool {
	address, _, _ := strings.Cut(text, "#")
	return checkAddress(address) == nil
}

func isFolder(text string) bool {
	info, err := os.Stat(text)
	return err == nil && info.IsDir()
}

func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || strings.ContainsAny(host, "/\\ ") || !isPort(port) {
		return mistaken("%q is not the address of a hub; expected HOST:PORT, as lab1:7000", address)
	}
	return nil
}

func isPort(text string) bool {
	n, err := net.LookupPort("tcp", text)
	return err == nil && n > 0 && strings.Trim(text, "0123456789") == ""
}
