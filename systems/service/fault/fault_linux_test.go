package fault

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conclave-bench/conclave/internal/base/proc"
	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/etcd"
	"github.com/conclave-bench/conclave/systems/service/patroni"
	"github.com/conclave-bench/conclave/systems/service/redis"
	"github.com/conclave-bench/conclave/systems/service/servers"
	"github.com/conclave-bench/conclave/systems/service/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m) }

const insideKey = "CONCLAVE_FAULT_INSIDE"

// inside has the test go on in a process of its own, in namespaces in which it may mount without being root;
// false: this is the process outside, and the test is over.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideKey) != "" {
		if os.Getuid() == 0 {
			t.Fatal("the test is root")
		}
		return true
	}
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skipf("no file systems in user space: %v", err)
	} else {
		_ = f.Close() // nothing was written
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spawner := proc.NewSpawner()
	defer func() { _ = spawner.Close() }()
	child, err := spawner.Start(proc.Command{Path: self, Apart: true,
		Args: []string{"-test.run=^" + t.Name() + "$", "-test.v"},
		Env:  append(os.Environ(), insideKey+"=1", "TMPDIR="+t.TempDir())})
	if err != nil {
		t.Skipf("no namespaces: %v", err)
	}
	said, err := io.ReadAll(child.Stdout)
	t.Logf("inside:\n%s", proc.Harmless(string(said)))
	if exit := child.Exit(); exit.Code != 0 || err != nil {
		t.Fatalf("inside: %v, %v: %s", exit, err, child.Stderr())
	}
	return false
}

// mount is a disk over an empty folder.
func mount(t *testing.T, spawner *proc.Spawner, at string) *Disk {
	t.Helper()
	d, err := Mount(spawner, t.TempDir(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func newSpawner(t *testing.T) *proc.Spawner {
	spawner := proc.NewSpawner()
	t.Cleanup(func() { _ = spawner.Close() })
	return spawner
}

// set has the disk be in a state.
func set(t *testing.T, d *Disk, s DiskState) {
	t.Helper()
	if err := d.Set(s); err != nil {
		t.Fatal(err)
	}
}

// write writes a file, forces it to the disk, and says how long that took.
func write(name string, b []byte) (time.Duration, error) {
	begun := time.Now()
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	_, err = f.Write(b)
	return time.Since(begun), errors.Join(err, f.Sync(), f.Close())
}

// TestDisk: a disk is full, slow and hung, and what hung is done when it goes on.
func TestDisk(t *testing.T) {
	if !inside(t) {
		return
	}
	store, at := t.TempDir(), t.TempDir()
	d, err := Mount(newSpawner(t), store, at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write(filepath.Join(at, "a"), []byte("one")); err != nil {
		t.Fatal(err)
	}
	set(t, d, DiskState{Full: true})
	if _, err := write(filepath.Join(at, "b"), []byte("two")); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("a write to a full disk: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(at, "a")); string(b) != "one" || err != nil {
		t.Errorf("a full disk does not read: %q, %v", b, err)
	}
	const slow = 200 * time.Millisecond
	set(t, d, DiskState{Slow: slow})
	if took, err := write(filepath.Join(at, "c"), []byte("three")); took < slow || err != nil {
		t.Errorf("a write to a slow disk took %v: %v", took, err)
	}
	set(t, d, DiskState{Hung: true})
	done := make(chan error, 1)
	go func() { _, err := write(filepath.Join(at, "d"), []byte("four")); done <- err }()
	select {
	case err := <-done:
		t.Errorf("a write to a hung disk has ended: %v", err)
	case <-time.After(2 * slow):
	}
	set(t, d, DiskState{})
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(store, "d")); string(b) != "four" || err != nil {
		t.Errorf("in the store: %q, %v", b, err)
	}
	if list, _ := os.ReadDir(at); len(list) > 0 {
		t.Errorf("still mounted: %v", list)
	}
}

// TestDisk_Leader: when the disk of etcd's leader hangs, another server leads, and the old one follows when
// its disk goes on.
func TestDisk_Leader(t *testing.T) {
	servicetest.Need(t, &etcd.System{})
	if !inside(t) {
		return
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	c, err := servers.NewCluster(&etcd.System{}, 3, t.TempDir(), service.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spawner := newSpawner(t)
	var disks []*Disk
	for i := range 3 {
		disks = append(disks, mount(t, spawner, c.Member(i).Folder))
	}
	t.Cleanup(func() { // before the disks are gone, which it needs not wait for
		for _, d := range disks {
			_ = d.Set(DiskState{})
		}
		_ = c.Close()
	})
	if err := c.Up(ctx); err != nil {
		t.Fatal(err)
	}
	next := func(not int) int {
		for ctx.Err() == nil {
			if l := c.Leader(ctx); l >= 0 && l != not {
				return l
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Fatalf("no leader but server %d: %v", not+1, ctx.Err())
		return -1
	}
	leader := next(-1)
	begun := time.Now()
	set(t, disks[leader], DiskState{Hung: true})
	client, err := service.Dial(ctx, c.System, c.Client(), "c")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	for { // what a follower sends on to a leader that hangs is lost, and fails after 7 s
		if _, err = client.Acquire(ctx, service.Lock, ""); err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	now := next(leader)
	t.Logf("server %d leads %v after the disk of server %d hung; the lock is served", now+1,
		time.Since(begun).Round(time.Millisecond), leader+1)
	set(t, disks[leader], DiskState{})
	if err := c.Servers[leader].Await(ctx); err != nil {
		t.Error(err)
	}
}

// seconds is the time that a Redis server has, in seconds since 1970.
func seconds(t *testing.T, a netip.Addr) int64 {
	t.Helper()
	c, err := net.DialTimeout("tcp", netip.AddrPortFrom(a, 6379).String(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "TIME\r\n"); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	line := ""
	for range 3 { // *2, the length, the seconds
		if line, err = r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sharedMemories are what libfaketime has in the memory that all programs share.
func sharedMemories(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("/dev/shm/*faketime*")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestClock: the clock of a Redis server is set while it runs.
func TestClock(t *testing.T) {
	s := &redis.System{}
	servicetest.Need(t, s)
	if !inside(t) {
		return
	}
	clock, err := NewClock(t.TempDir())
	if err != nil {
		servicetest.Lacks(t, err)
	}
	c, err := servers.NewCluster(s, 1, t.TempDir(), service.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	c.Wrap = clock.Wrap
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	before := sharedMemories(t)
	if err := c.Up(ctx); err != nil {
		t.Fatal(err)
	}
	if now := sharedMemories(t); len(now) > len(before) {
		t.Errorf("in the memory that all share: %q", now)
	}
	for _, ahead := range []time.Duration{0, time.Hour, -time.Hour} {
		if err := clock.Set(ahead, 1); err != nil {
			t.Fatal(err)
		}
		if by := seconds(t, c.Member(0).Addr) - time.Now().Unix(); by < int64(ahead/time.Second)-10 ||
			by > int64(ahead/time.Second)+10 {
			t.Errorf("the server's clock is ahead by %d s; expected %v", by, ahead)
		}
	}
}

// TestDeaf: programs in Go are refused, with the reason.
func TestDeaf(t *testing.T) {
	servicetest.Need(t, &etcd.System{})
	servicetest.Need(t, &redis.System{})
	a := netip.MustParseAddr("127.0.0.1")
	m := service.Member{Addr: a, Peers: []netip.Addr{a}}
	if err := Deaf((&redis.System{}).Commands(m)); err != nil {
		t.Errorf("Redis: %v", err)
	}
	err := Deaf((&etcd.System{}).Commands(m))
	if err == nil || !strings.Contains(err.Error(), "etcd: a program in Go") {
		t.Errorf("etcd: %v", err)
	}
	servicetest.Need(t, &patroni.System{})
	if err = Deaf((&patroni.System{}).Commands(m)); err == nil || strings.Contains(err.Error(), "patroni:") {
		t.Errorf("Patroni: %v; expected that its etcd alone is deaf", err)
	}
}

var burnt atomic.Uint64

func init() {
	service.Program("fault-burn", func([]string) error {
		fmt.Println("burns")
		for n := uint64(0); ; n++ {
			burnt.Store(n)
		}
	})
}

// TestProcessor: a process that is busy gets its share, by a control group if there are any, and by turns.
func TestProcessor(t *testing.T) {
	for _, turns := range []bool{false, true} {
		own, err := service.Own("fault-burn")
		if err != nil {
			t.Fatal(err)
		}
		child, err := newSpawner(t).Start(proc.Command{Path: own.Path, Apart: true,
			Env: append(os.Environ(), own.Env...)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := child.Stdout.Read(make([]byte, 100)); err != nil {
			t.Fatal(err, child.Epitaph())
		}
		p, err := NewProcessor(func() []int { return []int{child.Pid()} }, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if turns && p.group != "" {
			if err := os.Remove(p.group); err != nil {
				t.Error(err)
			}
			p.group = ""
		}
		const share, length = 0.2, 2 * time.Second
		if err := p.Set(share); err != nil {
			t.Fatal(err)
		}
		before := spent(t, child.Pid())
		time.Sleep(length)
		got := float64(spent(t, child.Pid())-before) / float64(length)
		if got > 2*share || got < share/8 {
			t.Errorf("%s: it has had %.2f of a processor; expected %v", p.How(), got, share)
		}
		t.Logf("%s: %.2f of a processor", p.How(), got)
		if err := p.Set(0); err != nil {
			t.Error(err)
		}
		child.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// spent is the processor time of a process until now.
func spent(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	const tick = 10 * time.Millisecond // of all Linux systems
	return time.Duration(user+system) * tick
}
