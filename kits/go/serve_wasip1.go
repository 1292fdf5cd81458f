package kit

import (
	"fmt"
	"os"
	"unsafe"
)

var (
	server *Server
	input  = make([]byte, 1<<16)
	said   []byte // of the last panic
)

// Serve has the module be the algorithm of an ID. Call it from init: of a module that is called from outside,
// main does not run.
func Serve(id string, options ...Option) {
	s, err := NewServer(id, options...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	server = s
}

//go:wasmexport conclave_room
func room(n uint32) uint32 {
	if int(n) > len(input) {
		input = make([]byte, n)
	}
	return uint32(uintptr(unsafe.Pointer(&input[0])))
}

//go:wasmexport conclave_call
func call(n uint32) uint64 {
	defer func() {
		if r := recover(); r != nil {
			said = []byte(fmt.Sprint(r))
			panic(r)
		}
	}()
	return at(server.Call(input[:n]))
}

//go:wasmexport conclave_panic
func panicked() uint64 { return at(said) }

func at(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	return uint64(uintptr(unsafe.Pointer(&b[0])))<<32 | uint64(len(b))
}
