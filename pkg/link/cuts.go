package link

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
	// Links are meant instead of groups, each in one direction: from, to. A heal
	// of links restores those and no others.
	Links [][2]uint32 `json:"links,omitempty"`
}

// means says whether the change is about the link from i to j.
func (c *cut) means(i, j uint32) bool {
	switch {
	case len(c.Links) > 0:
		return c.links.has(i, j)
	case len(c.Groups) > 0:
		return side(c.Groups, i) != side(c.Groups, j)
	}
	return c.Heal
}

func side(groups [][]uint32, p uint32) int {
	for g, members := range groups {
		if slices.Contains(members, p) {
			return g
		}
	}
	return -1
}

// A linkSet is links in one direction each, in ascending order: a cut in a large
// system may name most of them.
type linkSet []uint64

func newLinkSet(links [][2]uint32) linkSet {
	set := make(linkSet, len(links))
	for k, l := range links {
		set[k] = uint64(l[0])<<32 | uint64(l[1])
	}
	slices.Sort(set)
	return set
}

func (s linkSet) has(from, to uint32) bool {
	_, found := slices.BinarySearch(s, uint64(from)<<32|uint64(to))
	return found
}

// Cuts is the history of cut links. The zero value is a whole network.
type Cuts struct{ changes []cut }

// A cut is a change, ready to be asked about links.
type cut struct {
	Change
	links linkSet
}

// Add puts c into the history, behind the changes of the same instant.
func (c *Cuts) Add(change Change) {
	i := len(c.changes)
	for i > 0 && c.changes[i-1].At > change.At {
		i--
	}
	c.changes = slices.Insert(c.changes, i, cut{change, newLinkSet(change.Links)})
}

// Severed says whether the link from i to j is cut at any instant in [from, to].
// A cut takes effect at its instant; so does a heal: a link that is cut over
// [a, b) carries a message that is sent at b.
func (c *Cuts) Severed(i, j uint32, from, to time.Duration) bool {
	next, _ := slices.BinarySearchFunc(c.changes, from, func(change cut, from time.Duration) int {
		if change.At <= from {
			return -1
		}
		return 1
	})
	for k := next - 1; k >= 0; k-- { // the last word on the link by then
		if c.changes[k].means(i, j) {
			if !c.changes[k].Heal {
				return true
			}
			break
		}
	}
	down, since := false, from
	for k := next; k < len(c.changes) && c.changes[k].At <= to; k++ {
		change := &c.changes[k]
		if down && change.At > since {
			return true
		}
		if change.means(i, j) {
			down, since = !change.Heal, change.At
		}
	}
	return down
}

// Cuts says whether the change is about the link from process i to process j.
func (c *Change) Cuts(i, j uint32) bool {
	change := cut{*c, newLinkSet(c.Links)}
	return change.means(i, j)
}

// Whole says that no link was ever cut.
func (c *Cuts) Whole() bool { return len(c.changes) == 0 }

// String is what the change means as it stands in a trace: the sides, "1 2|3 4",
// or the links, "1>2 3>4". When, and whether it heals, the trace says by itself.
func (c Change) String() string {
	if len(c.Links) > 0 {
		return linksText(c.Links)
	}
	sides := make([]string, len(c.Groups))
	for i, members := range c.Groups {
		sides[i] = strings.Trim(fmt.Sprint(members), "[]")
	}
	return strings.Join(sides, "|")
}

func linksText(links [][2]uint32) string {
	var b []byte
	for k, l := range links {
		if k > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, uint64(l[0]), 10)
		b = append(b, '>')
		b = strconv.AppendUint(b, uint64(l[1]), 10)
	}
	return string(b)
}

// ParseChange reads what String wrote.
func ParseChange(text string) (c Change, err error) {
	switch {
	case text == "":
	case strings.Contains(text, ">"):
		c.Links, err = parseLinks(text)
	default:
		c.Groups, err = parseGroups(text)
	}
	if err != nil {
		return Change{}, err
	}
	return c, nil
}

func parseLinks(text string) (links [][2]uint32, err error) {
	for _, word := range strings.Fields(text) {
		from, to, _ := strings.Cut(word, ">")
		var link [2]uint32
		for k, p := range []string{from, to} {
			id, err := strconv.ParseUint(p, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("links %.80q: %.40q: expected FROM>TO, as 1>2", text, word)
			}
			link[k] = uint32(id)
		}
		links = append(links, link)
	}
	return links, nil
}

func parseGroups(text string) (groups [][]uint32, err error) {
	for _, side := range strings.Split(text, "|") {
		var members []uint32
		for _, word := range strings.Fields(side) {
			p, err := strconv.ParseUint(word, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("groups %.80q: %w", text, err)
			}
			members = append(members, uint32(p))
		}
		groups = append(groups, members)
	}
	return groups, nil
}
