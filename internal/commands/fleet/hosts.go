package fleet

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/conclave-bench/conclave/internal/answers/answer"
	"github.com/conclave-bench/conclave/internal/base/files"
	"github.com/conclave-bench/conclave/internal/base/text"
)

// A Host is a machine of the list.
type Host struct {
	Target  string  `json:"target"`            // what ssh takes: [user@]host
	Name    string  `json:"name"`              // in the results; unique
	Address string  `json:"address,omitempty"` // at which other hosts reach it; "": it hosts no nodes
	Cores   int     `json:"cores,omitempty"`   // that it simulates with; 0: all
	Price   float64 `json:"price,omitempty"`   // per hour; 0: none is known
}

var (
	// names are those of machines: they become parts of paths and subjects.
	names = text.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	// hostnames are addresses that are no numbers.
	hostnames = text.Lazy(`^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$`)
)

// options are what may follow a host on its line.
var options = map[string]func(h *Host, value string) error{
	"name": func(h *Host, value string) error {
		h.Name = value
		return nil // checked with those that follow from the target
	},
	"address": func(h *Host, value string) error {
		if h.Address = value; net.ParseIP(value) == nil && !hostnames().MatchString(value) {
			return errors.New("expected an address or a host name")
		}
		return nil
	},
	"cores": func(h *Host, value string) (err error) {
		if h.Cores, err = strconv.Atoi(value); err != nil || h.Cores < 1 {
			return errors.New("expected 1 or more")
		}
		return nil
	},
	"price": func(h *Host, value string) (err error) {
		if h.Price, err = strconv.ParseFloat(value, 64); err != nil || !Priced(h.Price) {
			return errors.New("expected a price per hour, as 0.04")
		}
		return nil
	},
}

// Priced says whether a price per hour can be one.
func Priced(price float64) bool { return price >= 0 && price < 1e6 }

// Read is the list of hosts in r, which messages call name.
func Read(name string, r io.Reader) (list []Host, err error) {
	b, err := io.ReadAll(io.LimitReader(r, files.MiB+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > files.MiB {
		return nil, answer.Mistaken("%s: larger than 1 MiB; expected one host a line", name)
	}
	targets, called := map[string]int{}, map[string]int{}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		h, err := host(words)
		if err != nil {
			return nil, answer.Mistaken("%s: line %d: %v", name, n, err)
		}
		if before := targets[h.Target]; before > 0 {
			return nil, answer.Mistaken("%s: line %d: host %s is on line %d already; remove one of the lines",
				name, n, h.Target, before)
		}
		if before := called[h.Name]; before > 0 {
			return nil, answer.Mistaken("%s: line %d: the host on line %d is called %s, too; give one of "+
				"them another name, as name=%s-2", name, n, before, h.Name, h.Name)
		}
		targets[h.Target], called[h.Name] = n, n
		list = append(list, *h)
	}
	if len(list) == 0 {
		return nil, answer.Mistaken("%s: no hosts; expected one a line, as lab1 or me@lab1 address=10.0.0.1",
			name)
	}
	return list, nil
}

// host is that of one line.
func host(words []string) (*Host, error) {
	h := &Host{Target: words[0], Name: words[0][strings.LastIndexByte(words[0], '@')+1:]}
	if strings.HasPrefix(h.Target, "-") || strings.Contains(h.Target, "=") {
		return nil, fmt.Errorf("%q is no host; expected [user@]host first", h.Target)
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		set := options[key]
		if set == nil {
			return nil, fmt.Errorf("%q, expected address=A, cores=N, name=N or price=P", word)
		}
		if err := set(h, value); err != nil {
			return nil, fmt.Errorf("%s: %w", word, err)
		}
	}
	if !names().MatchString(h.Name) {
		return nil, fmt.Errorf("%q cannot be the name of a machine; give it one of letters, digits, \".\", "+
			"\"-\" and \"_\", as name=lab1", h.Name)
	}
	return h, nil
}
