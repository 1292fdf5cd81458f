package bus

import (
	"fmt"
	"log/slog"

	"github.com/nats-io/nkeys"
)

// An Identity is what a process proves to the server. Identities are made for one
// run and are worth nothing after it. However an Identity is printed, logged or
// encoded, its secret is not.
type Identity struct {
	ID     uint32 // of the process
	Public string // the public key, which the server learns

	seed []byte
}

// NewIdentities makes identities for the processes 1 to n; that of process i
// stands at i-1.
func NewIdentities(n int) ([]Identity, error) {
	ids := make([]Identity, n)
	for i := range ids {
		id, err := newIdentity(uint32(i + 1))
		if err != nil {
			return nil, fmt.Errorf("make identity of p%d: %w", i+1, err)
		}
		ids[i] = id
	}
	return ids, nil
}

func newIdentity(process uint32) (Identity, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return Identity{}, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return Identity{}, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return Identity{}, err
	}
	return Identity{ID: process, Public: public, seed: seed}, nil
}

// Secret is the seed of the key, for DialConfig.Seed. It goes to the process that
// it belongs to, through a pipe, and nowhere else.
func (id Identity) Secret() []byte { return id.seed }

func (id Identity) String() string { return fmt.Sprintf("p%d (%s)", id.ID, id.Public) }

// GoString is what %#v prints.
func (id Identity) GoString() string { return id.String() }

// LogValue is what package slog logs.
func (id Identity) LogValue() slog.Value { return slog.StringValue(id.String()) }

// MarshalText is what package json and others encode.
func (id Identity) MarshalText() ([]byte, error) { return []byte(id.String()), nil }
