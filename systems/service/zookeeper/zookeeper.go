// Package zookeeper runs ZooKeeper: its servers, and the recipe of its documentation for locks and elections,
// with nodes that are ephemeral and numbered.
package zookeeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
)

// A System is ZooKeeper.
type System struct{}

// The ports of each server.
const (
	clientPort   = 2181
	peerPort     = 2888
	electionPort = 3888
	adminPort    = 8080
)

// Name implements service.System.
func (System) Name() string { return "zookeeper" }

// Title implements service.System.
func (System) Title() string { return "ZooKeeper" }

// Packages implements service.System.
func (System) Packages() []string { return []string{"zookeeper"} }

// Sizes implements service.System.
func (System) Sizes() []int { return []int{1, 3, 5, 7} }

const jars = "/usr/share/java"

// Version implements service.System: that in the name of its archive. To ask the program would take a second.
func (System) Version(context.Context) (string, error) {
	if _, err := service.Find("java", "zookeeper"); err != nil {
		return "", err
	}
	found, err := filepath.Glob(jars + "/zookeeper-[0-9]*.jar")
	if err != nil || len(found) == 0 {
		return "", &service.MissingError{Program: "zookeeper.jar", Package: "zookeeper"}
	}
	name := filepath.Base(found[len(found)-1])
	return strings.TrimSuffix(strings.TrimPrefix(name, "zookeeper-"), ".jar"), nil
}

// session is the default of kazoo, the client for Python; ZooKeeper itself has none.
const session = 10 * time.Second

func sessionOf(o service.Options) time.Duration {
	if o.Session > 0 {
		return o.Session
	}
	return session
}

// Facts implements service.System.
func (System) Facts(o service.Options) service.Facts {
	beat, patience := timing(o)
	return service.Facts{Fsync: !o.NoSync, Session: sessionOf(o), Fencing: true,
		Heartbeat: beat, ElectionTimeout: time.Duration(patience) * beat,
		Client: service.Library("github.com/go-zookeeper/zk"), Predicted: "zab-fle"}
}

// Defaults of the example of a configuration that comes with ZooKeeper.
const (
	tick      = 2000 * time.Millisecond
	syncLimit = 5
)

// timing is a tick, and how many of them may pass without an answer of the other side.
func timing(o service.Options) (beat time.Duration, patience int) {
	beat, patience = tick, syncLimit
	if o.Heartbeat > 0 {
		beat = o.Heartbeat
	}
	if o.ElectionTimeout > 0 {
		patience = max(1, int(o.ElectionTimeout/beat))
	}
	return beat, patience
}

const (
	configName = "zoo.cfg"
	dataFolder = "data"
)

// Prepare implements service.System.
func (System) Prepare(_ context.Context, m service.Member) error {
	data := filepath.Join(m.Folder, dataFolder)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(data, "myid"), []byte(strconv.Itoa(m.Index+1)), 0o600),
		os.WriteFile(filepath.Join(m.Folder, configName), []byte(config(m)), 0o600))
}

// config is a server's configuration.
func config(m service.Member) string {
	beat, patience := timing(m.Options)
	var b strings.Builder
	fmt.Fprintf(&b, "tickTime=%d\ninitLimit=10\nsyncLimit=%d\ndataDir=%s\n", beat.Milliseconds(), patience,
		filepath.Join(m.Folder, dataFolder))
	fmt.Fprintf(&b, "clientPort=%d\nclientPortAddress=%s\n", clientPort, m.Addr)
	fmt.Fprintf(&b, "admin.serverPort=%d\nadmin.serverAddress=%s\n", adminPort, m.Addr)
	b.WriteString("4lw.commands.whitelist=srvr\n")
	if least := 2 * beat; sessionOf(m.Options) < least {
		fmt.Fprintf(&b, "minSessionTimeout=%d\n", sessionOf(m.Options).Milliseconds())
	}
	if len(m.Peers) > 1 {
		for i, a := range m.Peers {
			fmt.Fprintf(&b, "server.%d=%s:%d:%d\n", i+1, a, peerPort, electionPort)
		}
	}
	return b.String()
}

// Commands implements service.System. Debian's zkServer.sh would look for its configuration in /etc.
func (System) Commands(m service.Member) []service.Command {
	path := jars + "/zookeeper.jar:" + jars + "/slf4j-simple.jar:" + jars + "/servlet-api.jar"
	args := []string{"-Xmx256m", "-cp", path}
	if m.Options.NoSync {
		args = append(args, "-Dzookeeper.forceSync=no")
	}
	return []service.Command{{Name: "zookeeper", Path: "java",
		Args: append(args, "org.apache.zookeeper.server.quorum.QuorumPeerMain", configName)}}
}

// Ready implements service.System: a server that does not take part in a majority says so.
func (System) Ready(ctx context.Context, m service.Member) error {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(m.Addr, clientPort).String())
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // all was read
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(c, "srvr"); err != nil {
		return err
	}
	answer, err := io.ReadAll(io.LimitReader(c, 64<<10))
	if strings.Contains(string(answer), "Mode: ") {
		return nil
	}
	return errors.Join(fmt.Errorf("it answers %q", answer), err)
}

// Leader implements service.System: what the server's administration says.
func (s System) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	none := service.Leadership{Leader: -1}
	if len(m.Peers) == 1 {
		if err := s.Ready(ctx, m); err != nil {
			return none, err
		}
		return service.Leadership{Leader: 0}, nil
	}
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	at := "http://" + netip.AddrPortFrom(m.Addr, adminPort).String() + "/commands/leader"
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return none, err
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return none, err
	}
	defer func() { _ = r.Body.Close() }() // all was read
	answer := struct {
		ID    int    `json:"leader_id"`
		Error string `json:"error"`
	}{}
	if err := json.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&answer); err != nil {
		return none, err
	}
	if answer.Error != "" || answer.ID < 1 || answer.ID > len(m.Peers) {
		return none, nil
	}
	return service.Leadership{Leader: answer.ID - 1, Term: epoch(m)}, nil
}

// epoch is what the server has written down when it joined the present leader; 0: that cannot be read.
func epoch(m service.Member) uint64 {
	b, err := os.ReadFile(filepath.Join(m.Folder, dataFolder, "version-2", "currentEpoch"))
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
