package natsraft

import (
	"fmt"
	"net"
	"net/url"

	"github.com/nats-io/nats-server/v2/server/ats"
)

// A hub is what a server connects to while it starts. It lives outside of the bubble, as do its channels.
type hub struct {
	url          *url.URL
	greet, leave chan struct{} // closed: it tells the server that it is connected; it ends the connection
}

var (
	wanted = make(chan struct{})
	hubs   = make(chan hub)
)

func init() {
	go func() {
		for range wanted {
			ats.Register() // the clock of all servers: in a bubble that starts it, time stands still
			hubs <- serve()
		}
	}()
}

func newHub() hub {
	wanted <- struct{}{}
	return <-hubs
}

// serve waits for one connection.
func serve() hub {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("listen for a NATS server: %v", err))
	}
	h := hub{&url.URL{Scheme: "nats-leaf", Host: l.Addr().String()}, make(chan struct{}), make(chan struct{})}
	go func() {
		<-h.greet
		c, err := l.Accept()
		_ = l.Close()
		if err != nil {
			return
		}
		_, _ = fmt.Fprintf(c, "INFO {\"server_id\":\"hub\",\"domain\":\"another\",\"client_id\":1,"+
			"\"max_payload\":%d,\"leafnode_urls\":[%q]}\r\n", limit, l.Addr())
		<-h.leave
		_ = c.Close()
	}()
	return h
}
