//go:build !linux

package proc

import "errors"

// startIn says that there are no network namespaces.
func startIn(r spawnRequest) {
	r.result <- spawnResult{nil, errors.New("this system has no network namespaces")}
}
