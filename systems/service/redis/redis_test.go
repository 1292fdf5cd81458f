package redis

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, &System{}, &System{Redlock: true}) }

func TestSystem(t *testing.T) {
	for _, s := range []*System{{}, {Redlock: true}} {
		t.Run(s.About().Name, func(t *testing.T) {
			sizes := s.About().Sizes
			servicetest.Test(t, servicetest.Case{System: s, Size: sizes[len(sizes)-1], Port: port,
				Options: service.Options{Session: 2 * time.Second}, Start: time.Minute,
				Failover: 30 * time.Second})
		})
	}
}
