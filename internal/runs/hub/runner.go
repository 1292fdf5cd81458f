package hub

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/runs/queue"
	"github.com/conclave-bench/conclave/pkg/bus"
)

// Runner is the queue of the hub with that folder, for a runner of the user whose folder it is.
func (f Folder) Runner() (s queue.Server, err error) {
	id, err := f.read()
	if err != nil {
		return s, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return s, err
	}
	cert, err := id.authority.Admit(Runner, Runner, &key.PublicKey)
	if err != nil {
		return s, err
	}
	p := pinOf(id.authority.Certificate())
	m := &Member{Address: id.Listens, Hub: p[:], Name: Runner, Role: Runner, Password: id.Passwords[Runner]}
	if m.TLS, err = bus.Client(cert, key); err != nil {
		return s, err
	}
	s = m.Server()
	return s, m.Try(context.Background())
}

// Find is the queue of a hub, for a runner. Which is the folder of a hub, its address, or an invitation
// that was made for a runner. What comes of an invitation is kept for the address, in the user's
// state folder.
func Find(ctx context.Context, which string) (s queue.Server, err error) {
	if !isAddress(which) {
		if isFolder(which) {
			return Folder(which).Runner()
		}
		return s, mistaken("--hub %q, expected the address of a hub as lab1:7000, or its folder", which)
	}
	address, _, invited := strings.Cut(which, "#")
	kept, err := keptAt(address)
	if err != nil {
		return s, err
	}
	if invited {
		i, err := ParseInvitation(which)
		if err != nil {
			return s, err
		}
		return enroll(ctx, i, kept)
	}
	for _, folder := range []func() (Folder, error){DefaultFolder, FleetFolder} {
		f, err := folder()
		if err != nil {
			return s, err
		}
		if id, err := f.read(); err == nil && (address == id.Invites || address == id.Listens) {
			return f.Runner()
		}
	}
	data, err := files.Read(kept, mostIdentity)
	if errors.Is(err, fs.ErrNotExist) {
		return s, mistaken("this machine has no credentials for the hub at %s; on the machine of the hub, "+
			"name its folder, as --hub DIR; elsewhere, have bench hub token --runner print a token there, "+
			"and use it once, as --hub %s#TOKEN", address, address)
	}
	if err != nil {
		return s, err
	}
	m, err := ReadMember(strings.NewReader(string(data)))
	if err != nil {
		return s, mistaken("%s: %v; remove it, and use a new token (bench hub token --runner)", kept, err)
	}
	return m.Server(), m.Try(ctx)
}

// keptAt is the file with the credentials of a runner for a hub.
func keptAt(address string) (string, error) {
	dir, err := StateFolder()
	name := strings.NewReplacer(":", "_", "[", "", "]", "").Replace(address) + ".json"
	return filepath.Join(dir, "hubs", name), err
}

// enroll joins a hub as a runner, and keeps the credentials.
func enroll(ctx context.Context, i Invitation, file string) (s queue.Server, err error) {
	name, err := HostName("")
	if err != nil {
		return s, err
	}
	m, _, err := Join(ctx, i, name)
	if err != nil {
		return s, err
	}
	if m.Role != Runner {
		return s, mistaken("the token is for workers; have bench hub token --runner print one for --hub")
	}
	data, err := json.Marshal(m)
	if err == nil {
		err = writeSecret(file, data)
	}
	return m.Server(), err
}
