package config

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// server is a language of its own: nothing of this package knows its keys.
type server struct {
	name    string
	port    int
	timeout time.Duration
	mode    string
	users   []user
	limit   limit
	deep    bool
}

type user struct {
	name string
	age  *int
}

type limit struct {
	rate  float64
	burst int
}

func schemaOf(s *server) *Schema {
	users := Block[user]{Like: "{name: ann}", Fields: func(u *user) []Field {
		return []Field{
			{Name: "name", Required: true, Of: SomeText("a name").To(&u.name)},
			{Name: "age", Of: Optional(Whole[int](0, 150)).To(&u.age)},
		}
	}}
	limits := Block[limit]{Fields: func(l *limit) []Field {
		return []Field{
			{Name: "rate", Required: true, Of: Number(0, 100).To(&l.rate)},
			{Name: "burst", Default: "3", Of: Whole[int](1, 9).To(&l.burst)},
		}
	}, Valid: func(l *limit) error {
		if l.rate > float64(l.burst) {
			return errors.New("limit: a rate above the burst")
		}
		return nil
	}}
	rate := As(Number(0, 100), func(f float64) limit { return limit{f, 100} }, func(l limit) float64 { return l.rate })
	union := Union(rate, limits.Type(), func(l limit) bool { return l.burst == 100 },
		func(v *Value) *Value { return Wrap("rate", v) })
	return &Schema{Noun: "server", Needs: "port: 80", Begin: "write port: 80", Open: "env", Fields: []Field{
		{Name: "name", Note: "the file's", Doc: "what it is called", Of: SomeText("a name").To(&s.name)},
		{Name: "net", Was: "network", Doc: "the network", Sub: []Field{
			{Name: "port", Default: "80", Doc: "where it listens", Vary: true, Of: Whole[int](1, 65535).To(&s.port)},
			{Name: "timeout", Default: "1s", Doc: "until it gives up", Of: Duration(0, time.Hour).To(&s.timeout)},
		}},
		{Name: "mode", Default: "fast", Doc: "how it works", Of: Choice("fast", "safe").To(&s.mode)},
		{Name: "users", Default: "[]", Doc: "who may come", Of: Items(users.Type(), "{name: ann}", 2, "users").To(&s.users)},
		{Name: "limit", Default: "1", Doc: "how much", Of: union.To(&s.limit)},
		{Name: "deep", Default: "false", Doc: "new", Of: Truth().To(&s.deep)},
	}}
}

// near is the first of the names that begins as the word does.
func near(word string, names []string) string {
	i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, word[:min(2, len(word))]) })
	if i < 0 {
		return ""
	}
	return names[i]
}

// loaded is a server of a file, an environment and assignments of the command line.
func loaded(file, text string, env []string, sets ...string) (*server, *Layers, error) {
	s := &server{}
	l := NewLayers(schemaOf(s), near, nil)
	if root := l.Parse(file, []byte(text)); root != nil {
		l.Document(root)
	}
	l.Environment("SERVER", env, []string{"SERVER_SELF"})
	for _, set := range sets {
		l.Set("--set", set, func(string) bool { return false })
	}
	merged := l.Merged()
	l.Schema.Leaves(func(key string, f *Field) {
		if v := merged[key]; v != nil && v.Value != nil {
			Of(f).Set(v.Value)
		}
	})
	return s, l, l.Err()
}

func TestLayersPrevailInTheirOrder(t *testing.T) {
	t.Parallel()
	age := 7
	s, l, err := loaded("a.yaml", "net: {port: 81, timeout: 2s}\nmode: safe\nusers: [{name: ann, age: 7}]\n",
		[]string{"SERVER_NET__PORT=82", "SERVER_MODE=fast", "SERVER_SELF=1", "OTHER=2", "SERVER_NAME="},
		"net.port=83", "limit.burst=5", "env.colour=red")
	if err != nil {
		t.Fatal(err)
	}
	want := &server{port: 83, timeout: 2 * time.Second, mode: "fast", users: []user{{"ann", &age}}, limit: limit{1, 5}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, want %+v", s, want)
	}
	if len(l.Open) != 1 || l.Open[0].Key != "colour" || l.Open[0].Value.Text != "red" || len(l.Overrides) != 5 {
		t.Errorf("open %+v, overrides %+v", l.Open, l.Overrides)
	}
	if at := l.Merged()["net.port"].Raw.At; at.Layer != Command || at.String() != "--set net.port=83" {
		t.Errorf("the port comes from %+v", at)
	}
	if at := l.Merged()["net.timeout"].Raw.At; at.String() != "a.yaml:1" {
		t.Errorf("the timeout comes from %+v", at)
	}
}

func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		"a.yaml": "net:\n  port: 81\nusers:\n  - name: ann\n  - name: bob\n",
		"a.json": `{"net": {"port": 81}, "users": [{"name": "ann"}, {"name": "bob"}]}`,
		"a.toml": "net.port = 81\n[[users]]\nname = \"ann\"\n[[users]]\nname = \"bob\"\n",
	} {
		s, _, err := loaded(file, text, nil)
		if err != nil || s.port != 81 || len(s.users) != 2 || s.users[1].name != "bob" {
			t.Errorf("%s: %+v, %v", file, s, err)
		}
	}
}

// Everything that is wrong is told at once, each with its place, its key and a remedy.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, set, want string }{
		{"a.yaml", "nett: {port: 1}\nmode: fats\n", "", `a.yaml:1: nett: unknown key; did you mean "net"?
a.yaml:2: mode: "fats", expected one of fast, safe; did you mean "fast"?`},
		{"a.yaml", "network: {port: 1}", "", "a.yaml:1: network: is called net now"},
		{"a.yaml", "{}", "network.port=1", "--set network.port=1: network.port: is called net.port now"},
		{"a.yaml", "{}", "net.port.x=1", "--set net.port.x=1: net.port.x: unknown key; net.port is one value and has no parts"},
		{"a.yaml", "net:\n  port: 0\n  timeout: 5\n", "", `a.yaml:2: net.port: 0, expected a whole number from 1 to 65535
a.yaml:3: net.timeout: 5 has no unit; write 5ms (units: ns, us, ms, s, m, h)`},
		{"a.toml", "[net]\nport = \"80\"\n", "", `a.toml:2: net.port: "80", expected a whole number from 1 to 65535; ` +
			"write it without the quotes"},
		{"a.yaml", "mode:", "", "a.yaml:1: mode: nothing, expected one of fast, safe; leave the key out for its default"},
		{"a.yaml", "users: [{age: 1}, {name: bob, agr: 1}]", "", `a.yaml:1: users[1]: without name, as {name: ann}
a.yaml:1: users[2].agr: unknown key; did you mean "age"? (has: name, age)`},
		{"a.yaml", "users: [{name: a}, {name: b}, {name: c}]", "", "a.yaml:1: users: 3 users, expected at most 2"},
		{"a.yaml", "limit: {rate: 5}", "", "a.yaml:1: limit: a rate above the burst"},
		{"a.yaml", "{}", "limit.burst=0", "--set limit.burst=0: limit.burst: 0, expected a whole number from 1 to 9"},
		{"a.yaml", "", "", "a.yaml: empty; write port: 80"},
		{"a.yaml", "[1]", "", "a.yaml:1: a list, expected a block of keys, as port: 80"},
		{"a.ini", "x", "", `a.ini: a file of type ".ini", expected .yaml, .yml, .toml or .json`},
	} {
		var sets []string
		if c.set != "" {
			sets = []string{c.set}
		}
		_, _, err := loaded(c.file, c.text, nil, sets...)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q %s:\n%v\nwant\n%s", c.text, c.set, err, c.want)
		}
	}
}

// What a type writes it reads to the same value.
func TestWritesWhatItReads(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"users: [{name: ann}, {name: bob, age: 0}]", "limit: 0.5", "limit: {rate: 0.5, burst: 3}",
		"deep: true", "net: {timeout: 1m30s, port: 9}", "mode: safe",
	} {
		s, l, err := loaded("a.yaml", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		root := MapOf()
		l.Schema.Leaves(func(key string, f *Field) {
			if v := l.Merged()[key]; v != nil && !strings.Contains(key, ".") {
				root.Set(key, Of(f).Write(v.Value))
			} else if v != nil {
				block, name, _ := strings.Cut(key, ".")
				if root.Get(block) == nil {
					root.Set(block, Tall(MapOf()))
				}
				root.Get(block).Set(name, Of(f).Write(v.Value))
			}
		})
		again, _, err := loaded("b.yaml", string(Encode("A copy.", Tall(root))), nil)
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%s: %+v became %+v, %v", text, s, again, err)
		}
	}
}

func TestJSONSchemaFollowsFromTheFields(t *testing.T) {
	t.Parallel()
	s := schemaOf(&server{})
	first, err := s.JSON(Object{"title": "A server"})
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.JSON(Object{"title": "A server"}); string(again) != string(first) {
		t.Error("another one the second time")
	}
	var root map[string]any
	if err := json.Unmarshal(first, &root); err != nil {
		t.Fatal(err)
	}
	at := func(path ...string) any {
		var v any = root
		for _, p := range path {
			v = v.(map[string]any)[p]
		}
		return v
	}
	for _, c := range []struct {
		path []string
		want any
	}{
		{[]string{"title"}, "A server"},
		{[]string{"additionalProperties"}, false},
		{[]string{"properties", "mode", "enum"}, []any{"fast", "safe"}},
		{[]string{"properties", "net", "properties", "port", "maximum"}, 65535.0},
		{[]string{"properties", "net", "properties", "port", "default"}, 80.0},
		{[]string{"properties", "net", "properties", "timeout", "$ref"}, "#/$defs/duration"},
		{[]string{"$defs", "duration", "type"}, "string"},
		{[]string{"properties", "users", "items", "required"}, []any{"name"}},
	} {
		if got := at(c.path...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.path, got, c.want)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := schemaOf(&server{})
	keys := s.Keys()
	if len(keys) != 7 || keys[0].Default != "(the file's)" || keys[1].Path != "net.port" || keys[3].Values[1] != "safe" {
		t.Errorf("%+v", keys)
	}
	if !s.Varies("net.port") || s.Varies("net.timeout") || s.Varies("nothing") {
		t.Error("port alone varies")
	}
}
