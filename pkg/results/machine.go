package results

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/conclave-bench/conclave/internal/base/program"
)

// A Machine is where a run took place. What the system does not tell is empty.
// The name of the host is left out, since results are published.
type Machine struct {
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	Distro      string `json:"distribution,omitempty"`
	Kernel      string `json:"kernel,omitempty"`
	CPU         string `json:"cpu,omitempty"`
	Cores       int    `json:"cores"` // that the scheduler may use
	MaxProcs    int    `json:"gomaxprocs"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
	Governor    string `json:"cpu_governor,omitempty"`
	Turbo       string `json:"cpu_turbo,omitempty"`      // on or off
	SMT         string `json:"cpu_smt,omitempty"`        // on, off, notsupported, as Linux says
	Virtual     string `json:"virtualisation,omitempty"` // the product, or yes
	Clock       string `json:"clock_source,omitempty"`
	CPULimit    string `json:"cgroup_cpu_max,omitempty"` // quota and period, microseconds
	MemoryLimit string `json:"cgroup_memory_max,omitempty"`
}

func thisMachine() Machine {
	memory, _ := strconv.ParseInt(strings.TrimSuffix(valueIn("/proc/meminfo", "MemTotal", ":"), " kB"),
		10, 64)
	return Machine{
		OS:          runtime.GOOS,
		Arch:        runtime.GOARCH,
		Distro:      strings.Trim(valueIn("/etc/os-release", "PRETTY_NAME", "="), `"`),
		Kernel:      firstLine("/proc/sys/kernel/osrelease"),
		CPU:         valueIn("/proc/cpuinfo", "model name", ":"),
		Cores:       runtime.NumCPU(),
		MaxProcs:    runtime.GOMAXPROCS(0),
		MemoryBytes: memory << 10,
		Governor:    firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
		Turbo:       turbo(),
		SMT:         firstLine("/sys/devices/system/cpu/smt/control"),
		Virtual:     virtual(),
		Clock:       firstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		CPULimit:    firstLine("/sys/fs/cgroup/cpu.max"),
		MemoryLimit: firstLine("/sys/fs/cgroup/memory.max"),
	}
}

// turbo says whether the processor may go faster than its nominal frequency.
func turbo() string {
	switch firstLine("/sys/devices/system/cpu/intel_pstate/no_turbo") + "/" +
		firstLine("/sys/devices/system/cpu/cpufreq/boost") {
	case "0/", "/1", "0/1":
		return "on"
	case "1/", "/0", "1/0":
		return "off"
	}
	return ""
}

// virtual names the machine that this one is simulated on, if it is.
func virtual() string {
	if !slices.Contains(strings.Fields(valueIn("/proc/cpuinfo", "flags", ":")), "hypervisor") {
		return ""
	}
	return cmp.Or(firstLine("/sys/class/dmi/id/product_name"), firstLine("/sys/class/dmi/id/sys_vendor"),
		"yes")
}

// alike says whether figures of the two machines may stand in one table.
func (m Machine) alike(o Machine) bool {
	return m.OS == o.OS && m.Arch == o.Arch && m.CPU == o.CPU && m.Kernel == o.Kernel &&
		m.Cores == o.Cores && m.MaxProcs == o.MaxProcs
}

func (m Machine) String() string {
	return fmt.Sprintf("%s/%s %s, %d cores of %q, GOMAXPROCS %d",
		m.OS, m.Arch, m.Kernel, m.Cores, m.CPU, m.MaxProcs)
}

// LoadAverage is how busy the machine is, over 1, 5 and 15 minutes; "" if it does not say.
func LoadAverage() string {
	f := strings.Fields(firstLine("/proc/loadavg"))
	return strings.Join(f[:min(3, len(f))], " ")
}

// firstLine returns that of a file of the system, or nothing.
func firstLine(path string) string {
	b, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(b), "\n")
	return clean(line)
}

// valueIn returns the first value of key in a file of the system, or nothing.
func valueIn(path, key, separator string) string {
	b, _ := os.ReadFile(path)
	for line := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(line, separator)
		if ok && strings.TrimSpace(k) == key {
			return clean(v)
		}
	}
	return ""
}

// binaryDigest identifies the running program, or is empty.
var binaryDigest = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	sum, err := fileDigest(filepath.Clean(path))
	if err != nil {
		return ""
	}
	return sum
})

// thisSource is what the running program was built from. Tests put another function in its place.
var thisSource = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return program.Source(info)
})

// thisBuild identifies the running program.
func thisBuild() Tool { return Tool{Source: thisSource(), Binary: binaryDigest()} }
