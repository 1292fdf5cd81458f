//go:build unix

package misdeeds

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/conclave-bench/conclave/pkg/algo"
)

func init() {
	Deeds = append(Deeds, []Deed{
		{"kill itself", Blamed, func(*process, algo.Env) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}},
		{"close files", Blamed, func(*process, algo.Env) {
			for fd := range 30 {
				_ = syscall.Close(fd)
			}
		}},
		{"kill parent", Lost, func(*process, algo.Env) {
			_ = syscall.Kill(os.Getppid(), syscall.SIGKILL)
			time.Sleep(time.Minute)
		}},
		{"fork", Lost, func(*process, algo.Env) {
			c := exec.Command("sleep", "600")
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			_ = c.Start()
		}},
	}...)
}
