// Package zookeeper runs ZooKeeper: its servers, and the recipe of its documentation for locks and elections,
// with nodes that are ephemeral and numbered.
package zookeeper

import (
	"context"
	"errors"
	"fmt"
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

// About implements service.System.
func (System) About() service.About {
	return service.About{Name: "zookeeper", Title: "ZooKeeper", Packages: []string{"zookeeper"},
		Sizes: []int{1, 3, 5, 7}}
}

const jars = "/usr/share/java"

// Version implements service.System: that in the name of its archive. To ask the program would take a second.
func (System) Version(context.Context) (string, error) {
	jar, err := service.Find(jars+"/zookeeper-[0-9]*.jar", "zookeeper")
	if err == nil {
		_, err = service.Find("java", "zookeeper")
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(jar), "zookeeper-"), ".jar"), err
}

// defaults are the tick and, in ticks, the syncLimit of the example of a configuration that comes with
// ZooKeeper; its session is that of kazoo, the client for Python, since ZooKeeper itself has none.
var defaults = service.Options{Heartbeat: 2 * time.Second, ElectionTimeout: 5 * 2 * time.Second,
	Session: 10 * time.Second}

// timing is a tick, and how many of them may pass without an answer of the other side.
func timing(o service.Options) (beat time.Duration, patience int) {
	o = o.Or(defaults)
	return o.Heartbeat, max(1, int(o.ElectionTimeout/o.Heartbeat))
}

// Facts implements service.System.
func (System) Facts(o service.Options) service.Facts {
	beat, patience := timing(o)
	return service.Facts{Fsync: !o.NoSync, Session: o.Or(defaults).Session, Fencing: true,
		Heartbeat: beat, ElectionTimeout: time.Duration(patience) * beat,
		Client: service.Library("github.com/go-zookeeper/zk"), Predicted: "zab-fle", Set: "zookeeper"}
}

const (
	configName = "zoo.cfg"
	dataFolder = "data"
)

// Prepare implements service.System.
func (System) Prepare(_ context.Context, m service.Member) error {
	return service.WriteFiles(m.Folder, map[string]string{
		filepath.Join(dataFolder, "myid"): strconv.Itoa(m.Index + 1), configName: config(m)})
}

// config is a server's configuration.
func config(m service.Member) string {
	beat, patience := timing(m.Options)
	var b strings.Builder
	fmt.Fprintf(&b, "tickTime=%d\ninitLimit=10\nsyncLimit=%d\ndataDir=%s\n", beat.Milliseconds(), patience,
		filepath.Join(m.Folder, dataFolder))
	fmt.Fprintf(&b, "clientPort=%d\nclientPortAddress=%s\n", clientPort, m.Addr)
	fmt.Fprintf(&b, "admin.serverPort=%d\nadmin.serverAddress=%s\n", adminPort, m.Addr)
	if session := m.Options.Or(defaults).Session; session < 2*beat {
		fmt.Fprintf(&b, "minSessionTimeout=%d\n", session.Milliseconds())
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

// ask gets an answer of the server's administration. A server that takes part in no majority says so.
func ask(ctx context.Context, m service.Member, what string) (leader int, err error) {
	answer := struct {
		Leader int    `json:"leader_id"`
		Error  string `json:"error"`
	}{}
	err = service.Get(ctx, m, adminPort, "/commands/"+what, &answer)
	if err == nil && answer.Error != "" {
		err = errors.New(answer.Error)
	}
	return answer.Leader, err
}

// Ready implements service.System.
func (System) Ready(ctx context.Context, m service.Member) error {
	_, err := ask(ctx, m, "stats")
	return err
}

// Leader implements service.Electing.
func (System) Leader(ctx context.Context, m service.Member) (service.Leadership, error) {
	leader, err := ask(ctx, m, "leader")
	if err != nil {
		return service.Nobody, err
	}
	return m.Led(fmt.Sprintf("s%d", leader), epoch(m)), nil
}

// epoch is what the server has written down when it joined the present leader; 0: that cannot be read.
func epoch(m service.Member) (n uint64) {
	b, err := os.ReadFile(filepath.Join(m.Folder, dataFolder, "version-2", "currentEpoch"))
	if err == nil {
		n, _ = strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64) // 0 after an error
	}
	return n
}
