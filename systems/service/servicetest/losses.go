package servicetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
)

// handOver: a client that waits gets the lock when it is given back, and not before.
func (r *trial) handOver(t *testing.T) {
	const times = 5
	a, b := r.dial(t), r.dial(t)
	var took []time.Duration
	for range times {
		acquire(t, a, r.Failover)
		got := make(chan time.Time, 1)
		ctx, stop := context.WithTimeout(t.Context(), r.Failover)
		go func() {
			if _, err := b.Acquire(ctx, service.Lock, ""); err == nil {
				got <- time.Now()
			}
			close(got)
		}()
		select {
		case <-got:
			t.Error("a second client did not have to wait")
		case <-time.After(300 * time.Millisecond):
		}
		released := time.Now()
		release(t, a)
		at, ok := <-got
		stop()
		if !ok {
			t.Fatalf("the client that waited did not get the lock within %v", r.Failover)
		}
		took = append(took, at.Sub(released).Round(100*time.Microsecond))
		release(t, b)
	}
	t.Logf("from the call of Release to the next holder: %v", took)
}

// cancelled: a client that no longer waits does not stand in the way of others.
func (r *trial) cancelled(t *testing.T) {
	a, b, c := r.dial(t), r.dial(t), r.dial(t)
	acquire(t, a, r.Failover)
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	_, err := b.Acquire(ctx, service.Lock, "")
	stop()
	if err == nil {
		t.Fatal("two clients hold the lock")
	}
	release(t, a)
	acquire(t, c, slack)
	release(t, c)
	acquire(t, b, slack)
	release(t, b)
}

// closed: a client that is closed while it waits, or while it holds, ends soon and is in nobody's way.
func (r *trial) closed(t *testing.T) {
	a, b, c := r.dial(t), r.dial(t), r.dial(t)
	acquire(t, a, r.Failover)
	ended := make(chan error, 1)
	go func() { _, err := b.Acquire(t.Context(), service.Lock, ""); ended <- err }()
	select {
	case err := <-ended:
		t.Fatalf("a second client did not have to wait: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	for _, closes := range []service.Client{b, a} {
		if err := closes.Close(); err != nil {
			t.Error(err)
		}
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a client that was closed has the lock")
		}
	case <-time.After(slack):
		t.Error("a client that was closed still waits")
	}
	acquire(t, c, r.System.Facts(r.Options).Session+slack)
	release(t, c)
}

const holderName = "servicetest-holder"

func init() { service.Program(holderName, hold) }

// hold is a program that takes the lock, says so, and keeps it until it is killed.
func hold(args []string) error {
	c := service.Cluster{Options: service.Options{}}
	if _, err := fmt.Sscan(args[1], &c.Options.Session); err != nil {
		return err
	}
	if _, err := fmt.Sscan(args[2], &c.Options.Replicas); err != nil {
		return err
	}
	for _, a := range args[3:] {
		c.Servers = append(c.Servers, netip.MustParseAddr(a))
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	client, err := service.Dial(ctx, tested[args[0]], c, "holder")
	if err != nil {
		return err
	}
	if _, err = client.Acquire(ctx, service.Lock, ""); err != nil {
		return err
	}
	fmt.Println("held")
	time.Sleep(time.Hour)
	return nil
}

// holder starts that program and waits until it holds the lock.
func (r *trial) holder(t *testing.T) *exec.Cmd {
	t.Helper()
	o := r.Options
	args := []string{r.System.About().Name, fmt.Sprint(int64(o.Session)), fmt.Sprint(o.Replicas)}
	for _, a := range r.cluster.Client().Servers {
		args = append(args, a.String())
	}
	own, err := service.Own(holderName, args...)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(own.Path, own.Args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), own.Env...), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "held" {
		t.Fatalf("the client that is to be killed did not get the lock: %q, %v", line, err)
	}
	return cmd
}

// gone: the lock of a client that is killed is free after its session, and no earlier.
func (r *trial) gone(t *testing.T) {
	b := r.dial(t)
	a := r.holder(t)
	session := r.System.Facts(r.Options).Session
	killed := time.Now()
	if err := a.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	acquire(t, b, session+slack)
	took := time.Since(killed)
	release(t, b)
	// The last sign of life was at most the time between two of them before its end.
	if took < session/2 {
		t.Errorf("the lock of a client that is gone was free after %v; its session is %v", took, session)
	}
	t.Logf("the lock of a client that was killed was free after %v", took.Round(time.Millisecond))
}

// election: an observer sees who leads, and the next one when the first resigns.
func (r *trial) election(t *testing.T) {
	a, b, watcher := r.dial(t), r.dial(t), r.dial(t)
	seen := make(chan service.Observed, 100)
	ctx, stop := context.WithTimeout(t.Context(), 4*r.Failover)
	defer stop()
	watched := make(chan error, 1)
	go func() { watched <- watcher.Observe(ctx, service.Election, func(o service.Observed) { seen <- o }) }()
	for i, c := range []service.Client{a, b} {
		value := fmt.Sprintf("value-%d", i)
		if _, err := c.Acquire(ctx, service.Election, value); err != nil {
			t.Fatal(err)
		}
		for o := (service.Observed{}); o.Value != value; {
			select {
			case o = <-seen:
			case <-time.After(slack):
				t.Fatalf("the observer saw no leader with %s", value)
			}
		}
		if err := c.Release(ctx, service.Election); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	select {
	case err := <-watched:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Observe: %v; expected that its context has ended", err)
		}
	case <-time.After(slack):
		t.Error("Observe goes on after its context")
	}
}

// fencing: the holder can write; a holder of old cannot, or the system says that it cannot tell.
func (r *trial) fencing(t *testing.T) {
	a, b := r.dial(t), r.dial(t)
	old := acquire(t, a, r.Failover)
	err := a.Write(t.Context(), old.Token, "first")
	if !r.System.Facts(r.Options).Fencing {
		if !errors.Is(err, service.ErrUnfenced) {
			t.Errorf("a write without fencing: %v", err)
		}
		release(t, a)
		return
	}
	if err != nil {
		t.Fatalf("the holder's write: %v", err)
	}
	release(t, a)
	now := acquire(t, b, r.Failover)
	if err := b.Write(t.Context(), now.Token, "second"); err != nil {
		t.Errorf("the next holder's write: %v", err)
	}
	if err := a.Write(t.Context(), old.Token, "late"); !errors.Is(err, service.ErrFenced) {
		t.Errorf("a late write: %v; expected that it is refused", err)
	}
	release(t, b)
}

// leader: when the leader is killed, the lock is served again, and the leader returns from its folder.
func (r *trial) leader(t *testing.T) {
	leader := -1
	ctx, stop := context.WithTimeout(t.Context(), r.Failover)
	defer stop()
	err := service.Retry(ctx, retryEvery, func() error {
		if leader = r.cluster.Leader(ctx); leader < 0 {
			return errors.New("no majority agrees on a leader")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c := r.dial(t)
	killed := time.Now()
	r.cluster.Kill(leader)
	if r.Size == 1 {
		if err := r.cluster.Start(t.Context(), leader); err != nil {
			t.Fatal(err)
		}
	}
	acquire(t, c, r.Failover)
	t.Logf("after the kill of server %d of %d the lock was got after %v", leader+1, r.Size,
		time.Since(killed).Round(time.Millisecond))
	release(t, c)
	if r.Size > 1 {
		if err := r.cluster.Start(t.Context(), leader); err != nil {
			t.Fatal(err)
		}
	}
	r.await(t, leader)
}

// await waits until a server that was started again serves.
func (r *trial) await(t *testing.T, i int) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), r.Start)
	defer stop()
	if err := r.cluster.Servers[i].Await(ctx); err != nil {
		t.Fatal(err)
	}
}

// restart: when all servers are killed, the holder learns that it cannot be sure of its lock; when all return
// from their folders, the lock is served again.
func (r *trial) restart(t *testing.T) {
	a := r.dial(t)
	g := acquire(t, a, r.Failover)
	for i := range r.Size {
		r.cluster.Kill(i)
	}
	killed := time.Now()
	select {
	case <-g.Lost:
		t.Logf("the holder knew that its lock is lost %v after the end of all servers",
			time.Since(killed).Round(time.Millisecond))
	case <-time.After(r.System.Facts(r.Options).Session + slack):
		t.Error("the holder does not learn that it has lost the lock")
	}
	begun := time.Now()
	for i := range r.Size {
		if err := r.cluster.Start(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	for i := range r.Size {
		r.await(t, i)
	}
	b := r.dial(t)
	acquire(t, b, r.System.Facts(r.Options).Session+r.Failover)
	t.Logf("after the restart of all servers the lock was got after %v",
		time.Since(begun).Round(time.Millisecond))
	release(t, b)
}
