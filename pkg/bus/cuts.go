package bus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Change cuts links or heals them at one instant.
type Change struct {
	At time.Duration `json:"at"`
	// Heal restores links; otherwise they are cut.
	Heal bool `json:"heal,omitempty"`
	// Groups are the sides. The links between processes of different groups are
	// meant; processes that stand in none form one further group. A heal without
	// groups restores every link.
	Groups [][]uint32 `json:"groups,omitempty"`
	// Links are meant instead of groups, each in one direction: from, to.
	Links [][2]uint32 `json:"links,omitempty"`
}

// means says whether the change is about the link between i and j.
func (c *Change) means(i, j uint32) bool {
	if len(c.Groups) == 0 {
		return c.Heal
	}
	return side(c.Groups, i) != side(c.Groups, j)
}

func side(groups [][]uint32, p uint32) int {
	for g, members := range groups {
		if slices.Contains(members, p) {
			return g
		}
	}
	return -1
}

// Cuts is the history of cut links. The zero value is a whole network.
type Cuts struct{ changes []Change }

// Add puts c into the history, behind the changes of the same instant.
func (c *Cuts) Add(change Change) {
	i := len(c.changes)
	for i > 0 && c.changes[i-1].At > change.At {
		i--
	}
	c.changes = slices.Insert(c.changes, i, change)
}

// Severed says whether the link between i and j is cut at any instant in
// [from, to]. A cut takes effect at its instant; so does a heal: a link that is
// cut over [a, b) carries a message that is sent at b.
func (c *Cuts) Severed(i, j uint32, from, to time.Duration) bool {
	cut, since := false, time.Duration(0)
	for k := range c.changes {
		change := &c.changes[k]
		if change.At > to {
			break
		}
		if cut && change.At > max(from, since) {
			return true
		}
		if change.means(i, j) {
			cut, since = !change.Heal, change.At
		}
	}
	return cut
}

// Whole says that no link was ever cut.
func (c *Cuts) Whole() bool { return len(c.changes) == 0 }

// String is the change's sides as they stand in a trace: "1 2|3 4".
func (c Change) String() string {
	sides := make([]string, len(c.Groups))
	for i, members := range c.Groups {
		sides[i] = strings.Trim(fmt.Sprint(members), "[]")
	}
	return strings.Join(sides, "|")
}

// ParseGroups reads what String wrote.
func ParseGroups(text string) (groups [][]uint32, err error) {
	if text == "" {
		return nil, nil
	}
	for _, side := range strings.Split(text, "|") {
		var members []uint32
		for _, word := range strings.Fields(side) {
			p, err := strconv.ParseUint(word, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("groups %q: %w", text, err)
			}
			members = append(members, uint32(p))
		}
		groups = append(groups, members)
	}
	return groups, nil
}
