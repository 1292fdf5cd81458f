package guest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conclave-bench/conclave/internal/base/proc/proctest"
	"github.com/conclave-bench/conclave/internal/judgement/trial"
	"github.com/conclave-bench/conclave/internal/worlds/guest"
	"github.com/conclave-bench/conclave/internal/worlds/guest/guesttest"
	"github.com/conclave-bench/conclave/pkg/algo"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/trace"
)

// bound is how long a program may take in these tests.
const bound = time.Second

func plugin(d guesttest.Deed) guest.Plugin {
	p := guest.Plugin{ID: lock, Command: d.Command()}
	p.Path = p.Command[0]
	return p
}

// bounded has programs take little time in a test, and wants none to be left after it.
func bounded(t *testing.T) (mark string) {
	t.Helper()
	mark = fmt.Sprintf("GUEST_TEST_OF=%s-%d-%d", t.Name(), os.Getpid(), time.Now().UnixNano())
	name, value, _ := strings.Cut(mark, "=")
	t.Setenv(name, value)
	guest.SetLimit(bound)
	guest.SetBounds(10*time.Second, 0) // the test binary starts slowly on a busy machine
	t.Cleanup(func() {
		guest.SetLimit(0)
		guest.SetBounds(0, 0)
		_ = guest.Close()
		if left, err := proctest.Orphans(mark); err != nil || left != nil {
			t.Errorf("processes are left: %v, %v", left, err)
		}
	})
	return mark
}

// What a program does wrong in an event ends the trial with one sentence, which has the program, the process,
// the event and the line.
func TestTrial_Hostile(t *testing.T) {
	effect := func(text string) guesttest.Deed {
		return guesttest.Deed{Say: `{"n":@,"effects":[` + text + "]}\n"}
	}
	ask := func(fields string) guesttest.Deed { return effect(`{"send":1,"kind":"ASK","msg":{` + fields + `}}`) }
	for name, c := range map[string]struct {
		guesttest.Deed
		want string
	}{
		"not JSON":       {guesttest.Deed{Say: "hello there\n"}, `"hello there" is not JSON: did you print`},
		"no object":      {guesttest.Deed{Say: "[1]\n"}, "expected an object instead of ["},
		"broken JSON":    {guesttest.Deed{Say: "{\"n\":@,}\n"}, "it is not JSON, in \"{"},
		"2 MiB":          {guesttest.Deed{Say: "{\"n\":@,\"log\":\"~\"}\n"}, "its answer is longer than 1 MiB: \"{"},
		"half a line":    {guesttest.Deed{Say: `{"n":`, Then: "sleep"}, `half a line, and no more within 1s: "{\"n\":"`},
		"half, and ends": {guesttest.Deed{Say: `{"n":`, Then: "exit 3"}, `it has ended (exit code 3), after half a line: "{\"n\":"`},
		"two answers":    {guesttest.Deed{Say: "{\"n\":@}\n{\"n\":@}\n"}, "it has written more than its answer: \"{"},
		"later answer":   {guesttest.Deed{Say: "{\"n\":99}\n"}, "it answers event 99, in"},
		"no number":      {guesttest.Deed{Say: "{}\n"}, "the answer lacks n, in"},
		"trailing":       {guesttest.Deed{Say: "{\"n\":@} {}\n"}, "more than one JSON value on the line"},
		"unknown key":    {guesttest.Deed{Say: "{\"n\":@,\"effect\":[]}\n"}, `no key "effect"; did you mean "effects"?`},
		"key in case":    {guesttest.Deed{Say: "{\"N\":@}\n"}, `no key "N"`},
		"a value":        {guesttest.Deed{Say: "{\"n\":@,\"value\":1}\n"}, "the answer has value, for which it was not asked"},
		"a state":        {guesttest.Deed{Say: "{\"n\":@,\"state\":{}}\n"}, "the answer has state, for which it was not asked"},
		"key twice":      {guesttest.Deed{Say: "{\"n\":@,\"n\":@}\n"}, `the key "n" occurs twice`},
		"not UTF-8":      {guesttest.Deed{Say: "{\"n\":@,\"failed\":\"^\"}\n"}, "it is not UTF-8: \"{"},
		"NUL":            {guesttest.Deed{Say: `{"n":@,"failed":"a\u0000b"}` + "\n"}, `"a\x00b" has the character NUL`},

		"effect without":  {effect(`{"after":1}`), "an effect without send, set,"},
		"effect of two":   {effect(`{"granted":true,"log":"x"}`), "an effect is granted or log"},
		"effect twice":    {effect(`{"log":"a","log":"b"}`), `the key "log" occurs twice`},
		"effect's key":    {effect(`{"log":"a","term":1}`), `the effect log has no key "term"`},
		"effect's typing": {effect(`{"logg":"a"}`), `an effect has no key "logg"; did you mean "log"?`},
		"not granted":     {effect(`{"granted":false}`), "granted is true, or absent"},
		"elected":         {effect(`{"elected":1}`), "elected is for leader election"},
		"log of number":   {effect(`{"log":7}`), "expected a string instead of 7"},
		"no kind":         {effect(`{"send":1}`), "the effect send lacks kind"},
		"kind":            {effect(`{"send":1,"kind":"GRAND"}`), `unknown kind "GRAND"; did you mean "GRANT"?`},
		"saved":           {effect(`{"send":1,"kind":"KEPT"}`), "KEPT is among saves, and so is no message"},
		"field":           {ask(`"ad":1,"delta":1`), `ASK: unknown field "ad"; did you mean "at"?`},
		"field missing":   {ask(`"delta":1`), "ASK: field at is missing"},
		"fields missing":  {effect(`{"send":1,"kind":"ASK"}`), "ASK: field at is missing"},
		"field twice":     {ask(`"at":1,"at":1,"delta":1`), `the key "at" occurs twice`},
		"float":           {ask(`"at":1.5,"delta":1`), "ASK: field at: expected an integer instead of 1.5"},
		"exponent":        {ask(`"at":1e3,"delta":1`), "ASK: field at: expected an integer instead of 1e3"},
		"below 0":         {ask(`"at":-1,"delta":1`), "field at: expected an integer from 0 on instead of -1"},
		"too large":       {ask(`"at":9007199254740993,"delta":1`), "field at: the integer 9007199254740993 is beyond 2^53"},
		"too small":       {ask(`"at":1,"delta":-9007199254740993`), "the integer -9007199254740993 is beyond 2^53"},
		"much too large":  {ask(`"at":` + strings.Repeat("9", 400) + `,"delta":1`), "is beyond 2^53"},
		"NaN":             {ask(`"at":NaN,"delta":1`), "it is not JSON, in \"{"},
		"large receiver":  {effect(`{"send":9007199254740993,"kind":"GRANT"}`), "the integer 9007199254740993 is beyond 2^53"},
		"timer's float":   {effect(`{"set":"t","after":0.5}`), "expected an integer instead of 0.5"},
		"timer's time":    {effect(`{"set":"t"}`), "the effect set lacks after"},
		"no timeout": {guesttest.Deed{Say: `{"n":@,"effects":[{"set":"t","after":1}]}` + "\n"},
			`it sets the timer "t", but its handles lack timeout`},
		"timer": {guesttest.Deed{Say: `{"n":@,"effects":[{"cancel":"retri"}]}` + "\n",
			Spec: `+"timers":["retry","go-*"],"handles":["timeout"]`}, `unknown timer "retri"; did you mean "retry"?`},

		"to itself":     {effect(`{"send":3,"kind":"GRANT"}`), "it sends GRANT to itself"},
		"to nobody":     {effect(`{"send":0,"kind":"GRANT"}`), "sends GRANT to 0: no such process"},
		"to a stranger": {effect(`{"send":4,"kind":"GRANT"}`), "sends GRANT to 4: no such process"},
		"to a process of no number": {effect(`{"send":4294967296,"kind":"GRANT"}`),
			"there is no process 4294967296"},

		"silence":      {guesttest.Deed{Then: "sleep"}, "it does not answer within 1s"},
		"deaf":         {guesttest.Deed{Then: "deaf"}, "it does not answer within 1s"},
		"exit 0":       {guesttest.Deed{Then: "exit 0", Error: "bye"}, "it has ended (exit code 0); its standard error ends with: bye"},
		"exit 3":       {guesttest.Deed{Then: "exit 3", Error: "a\nb\nc\nd\ne\nf"}, "(exit code 3); its standard error ends with: b | c | d | e | f"},
		"killed":       {guesttest.Deed{Then: "kill"}, "it has ended (SIGKILL)"},
		"closes":       {guesttest.Deed{Then: "close"}, "it has closed its standard output or input, and goes on"},
		"leaves one":   {guesttest.Deed{Then: "leave"}, "it has ended (exit code 4)"},
		"long errors":  {guesttest.Deed{Then: "exit 1", Error: "~"}, "its standard error ends with: xxx"},
		"fails":        {guesttest.Deed{Say: `{"n":@,"failed":"a\u001b[1m\nb"}` + "\n"}, `(Request): a\u001b[1m b`},
		"fails mutely": {guesttest.Deed{Say: `{"n":@,"failed":""}` + "\n"}, "it does not say why"},
		"new fails":    {guesttest.Deed{On: "new", Say: `{"n":@,"failed":"no room"}` + "\n"}, "new: no room"},
		"new acts": {guesttest.Deed{On: "new", Say: `{"n":@,"effects":[{"granted":true}]}` + "\n"},
			"event 2 (new): the answer has effects, for which it was not asked"},
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t)
			t.Cleanup(endHolders)
			p := plugin(c.Deed)
			if err := guest.Load([]guest.Plugin{p}); err != nil {
				t.Fatal(err)
			}
			o := simulate(t, lock, 1)
			if o.Status != trace.Failed {
				t.Fatalf("%s: %s", o.Status, o.Reason)
			}
			one(t, o.Reason, p.String()+": process ", c.want)
			if !strings.Contains(name, "new") {
				one(t, o.Reason, ": event ")
			}
			if rest := strings.ReplaceAll(o.Reason, p.String(), ""); len(rest) > 600 &&
				!strings.Contains(c.want, "xxx") || len(rest) > 3000 {
				t.Errorf("%d bytes: %s", len(rest), rest)
			}
			if strings.HasPrefix(name, "fails") {
				if again := simulate(t, lock, 2); again.Status != trace.OK {
					t.Errorf("the program does not go on: %s: %s", again.Status, again.Reason)
				}
			}
		})
	}
}

// endHolders ends the processes that hold a pipe, and that nobody can find but by their environment.
func endHolders() {
	left, _ := proctest.Orphans("GUEST_TEST=holder")
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it ends already, perhaps
	}
}

// A message over a link that is not there is refused; so is one whose ring does not have it.
func TestTrial_Neighbors(t *testing.T) {
	bounded(t)
	p := plugin(guesttest.Deed{Say: `{"n":@,"effects":[{"send":1,"kind":"GRANT"}]}` + "\n",
		Spec: `+"needs":{"topology":"ring"}`})
	if err := guest.Load([]guest.Plugin{p}); err != nil {
		t.Fatal(err)
	}
	plan, err := trial.Plan(lock, 5, harness.Scenario{Plot: &harness.Sequential{Requests: 3}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := trial.Simulate(plan)
	if err != nil || o.Status != trace.Failed {
		t.Fatalf("%v, %s: %s", err, o.Status, o.Reason)
	}
	one(t, o.Reason, p.String(), "(Request): process ", "sends GRANT to 1: not a neighbor, in \"{")
}

// What a program says of an invariant ends the trial as that of a plugin in Go does.
func TestTrial_Broken(t *testing.T) {
	bounded(t)
	err := guest.Load([]guest.Plugin{plugin(guesttest.Deed{Say: `{"n":@,"broken":"two keys"}` + "\n"})})
	if err != nil {
		t.Fatal(err)
	}
	if o := simulate(t, lock, 1); o.Status != trace.Failed || o.Reason != "process 3: invariant: two keys" {
		t.Errorf("%s: %s", o.Status, o.Reason)
	}
}

// Without a deed, the program is a lock like others.
func TestTrial(t *testing.T) {
	bounded(t)
	if err := guest.Load([]guest.Plugin{plugin(guesttest.Deed{})}); err != nil {
		t.Fatal(err)
	}
	if o := simulate(t, lock, 1); o.Status != trace.OK || o.Completed != 3 {
		t.Errorf("%s: %s, %d entries", o.Status, o.Reason, o.Completed)
	}
	if err := guest.Close(); err != nil {
		t.Error(err)
	}
}

// A program that takes too much memory is ended.
func TestTrial_Memory(t *testing.T) {
	bounded(t)
	guest.SetLimit(20 * time.Second)
	guest.SetBounds(0, 256<<20)
	if err := guest.Load([]guest.Plugin{plugin(guesttest.Deed{Then: "eat"})}); err != nil {
		t.Fatal(err)
	}
	o := simulate(t, lock, 1)
	one(t, o.Reason, lock, "event ", "it takes more than 256 MiB of memory")
}

// A request that the program does not read ends when its time is up, however long it is.
func TestTrial_Unread(t *testing.T) {
	bounded(t)
	if err := guest.Load([]guest.Plugin{plugin(guesttest.Deed{On: "new", Say: "{\"n\":@}\n", Then: "sleep"})}); err != nil {
		t.Fatal(err)
	}
	a, err := algo.Lookup(lock)
	if err != nil {
		t.Fatal(err)
	}
	peers := make([]algo.ID, 50_000)
	for i := range peers {
		peers[i] = algo.ID(i + 1)
	}
	var buf algo.Buffer
	algo.NewStepper(a, algo.Config{ID: 1, Peers: peers}, 1, &buf) // it is answered
	defer func() {
		one(t, fmt.Sprint(recover()), "process 2: event 3 (new): it does not read the request within 1s")
	}()
	algo.NewStepper(a, algo.Config{ID: 2, Peers: peers}, 1, &buf)
}

// What is wrong at the end is an error of Close.
func TestClose_Hostile(t *testing.T) {
	for name, c := range map[string]struct {
		guesttest.Deed
		want string
	}{
		"goes on":  {guesttest.Deed{On: "end", Then: "sleep"}, "it does not end within 2s"},
		"writes":   {guesttest.Deed{On: "end", Say: "one more thing", Then: "exit 0"}, `it writes after the end: "one more thing"`},
		"answers":  {guesttest.Deed{On: "end", Say: "{\"n\":@}\n", Then: "exit 0"}, `it writes after the end: "{`},
		"exit 3":   {guesttest.Deed{On: "end", Error: "no", Then: "exit 3"}, "it ends with exit code 3; its standard error ends with: no"},
		"is ended": {guesttest.Deed{On: "end", Then: "kill"}, "it ends with SIGKILL"},
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t)
			p := plugin(c.Deed)
			if err := guest.Load([]guest.Plugin{p}); err != nil {
				t.Fatal(err)
			}
			if err := guest.Close(); err == nil {
				t.Error("Close returns no error")
			} else {
				one(t, err.Error(), p.String()+": event 2 (end): ", c.want)
			}
		})
	}
}

// What is wrong with a program that starts is an error of Load, which names it.
func TestLoad_Hostile(t *testing.T) {
	say := func(text string) guesttest.Deed { return guesttest.Deed{On: "describe", Say: text + "\n"} }
	spec := func(text string) guesttest.Deed { return guesttest.Deed{Spec: text} }
	for name, c := range map[string]struct {
		guesttest.Deed
		want string
	}{
		"exits":        {guesttest.Deed{On: "describe", Then: "exit 3", Error: "Traceback\n  no module"}, "it has ended (exit code 3); its standard error ends with: Traceback | no module"},
		"exits well":   {guesttest.Deed{On: "describe", Then: "exit 0"}, "it has ended (exit code 0)"},
		"says nothing": {guesttest.Deed{On: "describe", Then: "sleep"}, "it does not answer within 5s"},
		"banner":       {say("Welcome!"), `"Welcome!" is not JSON: did you print to standard output?`},
		"empty line":   {say(""), "is not JSON"},
		"version":      {say(`{"n":1,"protocol":2,"spec":{},"more":1}`), "it speaks version 2 of the step protocol, and Conclave speaks version 1"},
		"no version":   {say(`{"n":1,"spec":{}}`), "the answer lacks protocol"},
		"no spec":      {say(`{"n":1,"protocol":1}`), "the answer lacks spec"},
		"number":       {say(`{"n":2,"protocol":1,"spec":{}}`), "it answers event 2"},
		"compact": {say(`{"n":1,"protocol":1,"compact":true,"spec":` + guesttest.Spec + "}}"),
			"only modules of WebAssembly take the compact layout"},

		"key":         {spec(`+"problm":1`), `spec: it has no key "problm"; did you mean "problem"?`},
		"key's case":  {spec(`+"Token":"GRANT"`), `spec: it has no key "Token"; did you mean "token"?`},
		"inner key":   {spec(`+"needs":{"topologie":"ring"}`), `spec: needs has no key "topologie"; did you mean "topology"?`},
		"key twice":   {spec(`+"token":"GRANT","token":"GRANT"`), `the key "token" occurs twice`},
		"type":        {spec(`+"draws":"yes"`), "spec: draws has a value of another type"},
		"inner type":  {spec(`+"needs":{"nodes":"3"}`), "spec: needs.nodes has a value of another type"},
		"word":        {spec(`+"needs":{"topology":"rink"}`), `needs.topology: "rink" is unknown; did you mean "ring"?`},
		"synchrony":   {spec(`+"needs":{"synchrony":"never"}`), `needs.synchrony: "never" is unknown`},
		"detector":    {spec(`+"needs":{"detector":"never"}`), `needs.detector: "never" is unknown`},
		"leadership":  {spec(`+"promises":{"leadership":"never"}`), `promises.leadership: "never" is unknown`},
		"live":        {spec(`+"promises":{"live":"never"}`), `promises.live: "never" is unknown`},
		"service":     {spec(`+"service":"never"`), `service: "never" is unknown`},
		"crashes":     {spec(`+"survives":{"crashes":-1}`), "survives.crashes: \"-1\" is unknown"},
		"handles":     {spec(`+"handles":["receive"]`), `handles: "receive" is unknown`},
		"problem":     {spec(`{"problem":"election","summary":"x","messages":[{"kind":"A"}]}`), `its spec says problem "election", and it is called mutex/fake`},
		"no problem":  {spec(`{"summary":"x","messages":[{"kind":"A"}]}`), `its spec says problem ""`},
		"no messages": {spec(`{"problem":"mutex","summary":"x"}`), "no messages"},
		"no summary":  {spec(`{"problem":"mutex","messages":[{"kind":"A"}]}`), "no one-line summary"},
		"kind twice":  {spec(`{"problem":"mutex","summary":"x","messages":[{"kind":"A"},{"kind":"A"}]}`), `kind "A" is taken`},
		"fields":      {spec(`+"auxiliary":[{"kind":"X","fields":[["a"]]}]`), `auxiliary.0.fields: fields "[[\"a\"]]": expected a list of [NAME, TYPE]`},
		"field type":  {spec(`+"auxiliary":[{"kind":"X","fields":[["a","integer"]]}]`), `auxiliary.0.fields: field a: unknown type "\"integer\"" (has: uint,`},
		"list type":   {spec(`+"auxiliary":[{"kind":"X","fields":[["a",["id","id"]]]}]`), "field a: unknown type"},
		"struct type": {spec(`+"auxiliary":[{"kind":"X","fields":[["a",{"field":[]}]]}]`), `field a: it has no key "field"; did you mean "fields"?`},
		"no type":     {spec(`+"auxiliary":[{"kind":"X","fields":[["a",null]]}]`), "field a: unknown type \"null\""},
		"empty list":  {spec(`+"auxiliary":[{"kind":"X","fields":[["a",[[{"fields":[]}]]]]}]`), "field a: a list of empty values"},
		"inner field": {spec(`+"auxiliary":[{"kind":"X","fields":[["a",[{"fields":[["b","id"],["b","id"]]}]]]}]`), `field a: field "b": no name, or twice the same`},
		"deep":        {spec(`+"auxiliary":[{"kind":"X","fields":[["a",` + strings.Repeat("[", 2000) + `"id"` + strings.Repeat("]", 2000) + `]]}]`), "nested too deep"},

		"no default":   {spec(`+"parameters":[{"name":"p","type":"int","doc":"x"}]`), "parameter p: expected either default or asks"},
		"two defaults": {spec(`+"parameters":[{"name":"p","type":"int","doc":"x","default":1,"asks":true}]`), "parameter p: expected either default or asks"},
		"null default": {spec(`+"parameters":[{"name":"p","type":"bool","doc":"x","default":null}]`), "parameter p: "},
		"default":      {spec(`+"parameters":[{"name":"p","type":"int","doc":"x","default":1.5}]`), `parameter p: value "1.5" is no whole number`},
		"far default":  {spec(`+"parameters":[{"name":"p","type":"int","doc":"x","default":9007199254740993}]`), `parameter p: value "9007199254740993" is beyond 2^53`},
		"bound":        {spec(`+"parameters":[{"name":"p","type":"int","doc":"x","default":1,"min":"0"}]`), `parameter p: value "\"0\"" is no whole number`},
		"param type":   {spec(`+"parameters":[{"name":"p","type":"integer","doc":"x","default":1}]`), `parameter p: unknown type "integer"`},
		"tunes":        {spec(`+"parameters":[{"name":"p","type":"int","doc":"x","default":1,"tunes":"fast"}]`), `parameter p: tunes: "fast" is unknown`},
		"asks": {guesttest.Deed{On: "default", Say: "{\"n\":@}\n",
			Spec: `+"parameters":[{"name":"p","type":"int","doc":"x","asks":true}]`},
			"the default of p: event 2 (default): the answer lacks value"},
		"asks, silence": {guesttest.Deed{On: "default", Then: "sleep",
			Spec: `+"parameters":[{"name":"p","type":"int","doc":"x","asks":true}]`},
			"the default of p: event 2 (default): it does not answer within 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t)
			guest.SetBounds(5*time.Second, 0)
			if strings.Contains(c.want, "within 5s") {
				guest.SetBounds(time.Second, 0)
				c.want = "it does not answer within 1s"
			}
			p := plugin(c.Deed)
			err := guest.Load([]guest.Plugin{p})
			if err == nil {
				t.Fatal("Load returns no error")
			}
			one(t, err.Error(), "plugin "+p.String()+": ", c.want)
			if a, err := algo.Lookup(lock); err == nil {
				t.Errorf("%s is there", a.ID)
			}
		})
	}
}

// A copy must describe itself as the first one did, in this process and in one that inherits it.
func TestLoad_Another(t *testing.T) {
	bounded(t)
	count := filepath.Join(t.TempDir(), "count")
	script := write(t, "other.sh", "#!/bin/sh\nread request\necho x >>"+count+"\n"+
		`echo '{"n":1,"protocol":1,"spec":`+guesttest.Spec+`,"breaks":"'$(wc -l <`+count+`)'"}}'`+"\nread end\n", 0o755)
	p := guest.Plugin{ID: lock, Command: []string{script}, Path: script}
	if err := guest.Load([]guest.Plugin{p}); err != nil {
		t.Fatal(err)
	}
	o := simulate(t, lock, 1) // it ends after the first request
	one(t, o.Reason, "it has ended (exit code 0)")
	o = simulate(t, lock, 1)
	one(t, o.Reason, p.String(), "event 1 (describe): it describes itself in another way than before: ", `"2`, `before `, `"1`)

	heir := guest.Programs()[0].Plugin
	if err := guest.Close(); err != nil {
		t.Log(err)
	}
	err := guest.Load([]guest.Plugin{heir})
	if err == nil {
		t.Fatal("Load returns no error")
	}
	one(t, err.Error(), "it describes itself in another way than when the run began")
}

// TestInherit: an heir knows what the plugins are made of before it starts one, and starts one when it is
// looked up.
func TestInherit(t *testing.T) {
	mark := bounded(t)
	if err := guest.Load([]guest.Plugin{plugin(guesttest.Deed{})}); err != nil {
		t.Fatal(err)
	}
	made := guest.Origins([]string{lock})
	name, setting, _ := strings.Cut(guest.Bequest()[0], "=")
	if err := guest.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv(name, setting)
	if err := guest.Inherit(); err != nil {
		t.Fatal(err)
	}
	if err := guest.Same(made); err != nil {
		t.Error(err)
	}
	if list, _ := proctest.Orphans(mark); len(list) > 0 {
		t.Errorf("%d programs run before one is looked up", len(list))
	}
	if o := simulate(t, lock, 1); o.Status != trace.OK {
		t.Error(o.Reason)
	}
	made[lock].Files["lock"] = "another"
	if err := guest.Same(made); err == nil || !strings.Contains(err.Error(), "lock differs; put it back") {
		t.Errorf("another program: %v", err)
	}
}

func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// What cannot be started is named.
func TestParse_Hostile(t *testing.T) {
	dir := t.TempDir()
	text := write(t, "text", "no program\n", 0o644)
	for command, want := range map[string]string{
		filepath.Join(dir, "none"): "none does not exist",
		dir + "/":                  "is a folder",
		text:                       "is not executable: name the interpreter before it, or run chmod +x",
		"no-such-program-anywhere": `there is no program "no-such-program-anywhere" on the path`,
		dir + "/none.wasm":         "none.wasm does not exist",
		"/dev/null":                "is no regular file",
		"'x":                       "lacks a closing '",
		"  ":                       "no command",
	} {
		_, err := guest.Parse(lock+"="+command, "")
		if err == nil {
			t.Errorf("%s: no error", command)
			continue
		}
		one(t, err.Error(), lock, want)
	}
	for _, name := range []string{"", "mutex", "mutex/", "=x", "lock/x=y"} {
		if _, err := guest.Parse(name, ""); err == nil || !strings.Contains(err.Error(), "expected mutex/NAME=COMMAND") {
			t.Errorf("%q: %v", name, err)
		}
	}
	bounded(t)
	odd := write(t, "odd", "\x00\x01 is no program\n", 0o755)
	p, err := guest.Parse(lock+"="+odd, "")
	if err != nil {
		t.Fatal(err)
	}
	if err = guest.Load([]guest.Plugin{p}); err == nil {
		t.Fatal("Load returns no error")
	}
	one(t, err.Error(), "plugin "+p.String()+": ", "exec format error")
}

// A program is found from any folder, wherever its file of plugins is.
func TestParse_Folder(t *testing.T) {
	path := write(t, "program", "", 0o755)
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Rel(here, filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := guest.Parse(lock+"=./program", dir); err != nil || p.Path != path {
		t.Errorf("%q, %v", p.Path, err)
	}
}
