package zookeeper

import (
	"context"
	"errors"
	"io"
	"log"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/conclave-bench/conclave/systems/service"
)

// valueNode is the node of what is written.
const valueNode = "/value"

// everybody may do all.
var everybody = zk.WorldACL(zk.PermAll)

// line is the node whose children stand in line for a key: the recipe of ZooKeeper's documentation.
func line(key service.Key) string { return "/" + string(key) }

// A client has a session, to which its nodes belong.
type client struct {
	service.Queue
	conn   *zk.Conn
	length time.Duration // of the session
}

// Dial implements service.System.
func (System) Dial(ctx context.Context, cluster service.Cluster, name string) (service.Client, error) {
	c := &client{length: cluster.Options.Or(defaults).Session}
	c.Queue = service.Queue{Line: c, Name: name}
	conn, _, err := zk.Connect(cluster.At(clientPort), c.length, zk.WithLogger(log.New(io.Discard, "", 0)),
		zk.WithLogInfo(false), zk.WithEventCallback(c.happened))
	if err != nil {
		return nil, err
	}
	c.conn = conn
	for _, node := range []string{line(service.Lock), line(service.Election), valueNode} {
		err := service.Await(ctx, func() error {
			_, err := conn.Create(node, nil, 0, everybody)
			return err
		})
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// happened follows the session. The library notices that a server is silent after two thirds of the session,
// so that another third later nobody knows whether it is over.
func (c *client) happened(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	switch e.State {
	case zk.StateHasSession:
		c.Stands()
	case zk.StateDisconnected:
		c.Silent(c.length / 3)
	case zk.StateExpired:
		c.Over()
	}
}

// Join implements service.Line: the node goes with the session, and ZooKeeper numbers it.
func (c *client) Join(key service.Key, name, value string) (string, error) {
	node, err := c.conn.Create(path.Join(line(key), name), []byte(value), zk.FlagEphemeral|zk.FlagSequence,
		everybody)
	return path.Base(node), err
}

// Places implements service.Line.
func (c *client) Places(key service.Key) ([]string, error) {
	all, _, err := c.conn.Children(line(key))
	slices.SortFunc(all, func(a, b string) int { return int(c.Token(a) - c.Token(b)) })
	return all, err
}

// Token implements service.Line: numbers begin with 0, which is no token.
func (*client) Token(place string) int64 {
	n, err := strconv.Atoi(place[strings.LastIndexByte(place, '-')+1:])
	if err != nil {
		return 0
	}
	return 1 + int64(n)
}

// Value implements service.Line.
func (c *client) Value(key service.Key, place string) (string, error) {
	b, _, err := c.conn.Get(path.Join(line(key), place))
	return string(b), err
}

// Gone implements service.Line.
func (c *client) Gone(ctx context.Context, key service.Key, place string) error {
	there, _, event, err := c.conn.ExistsW(path.Join(line(key), place))
	if err != nil || !there {
		return err
	}
	select {
	case e := <-event:
		return e.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave implements service.Line.
func (c *client) Leave(key service.Key, place string) error {
	err := c.conn.Delete(path.Join(line(key), place), -1)
	if errors.Is(err, zk.ErrNoNode) {
		return service.ErrLost
	}
	return err
}

// Write implements service.Client: all or nothing, the node that stands for the lock is there, and the value
// is written.
func (c *client) Write(ctx context.Context, token int64, value string) error {
	place, own := c.Place(service.Lock, token)
	if !own {
		return service.ErrFenced
	}
	node := path.Join(line(service.Lock), place)
	err := service.Await(ctx, func() error {
		_, err := c.conn.Multi(&zk.CheckVersionRequest{Path: node, Version: -1},
			&zk.SetDataRequest{Path: valueNode, Data: []byte(value), Version: -1})
		return err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return service.ErrFenced
	}
	return err
}

// Close implements service.Client.
func (c *client) Close() error {
	c.conn.Close()
	c.Queue.Session.Close()
	return nil
}
