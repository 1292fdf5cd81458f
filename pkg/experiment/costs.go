package experiment

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// costsType is what handling takes; nil: nothing.
func (f *folder) costsType() config.Type[*harness.Costs] {
	const like = "{processors: 2, wake: 40us, receive: 5us, send: 5us}"
	block := config.Block[harness.Costs]{Like: like, Fields: costFields, Valid: (*harness.Costs).Check}.Type()
	block = block.Based("file", f.read)
	block.Schema = func() config.Object {
		path := config.Field{Name: "file", Example: "costs.yaml", Doc: "a file with these keys, as bench " +
			"calibrate writes it; keys beside it go over it", Of: config.SomeText("the path of a " +
			"file").Into(nil)}
		return config.BlockSchema(append(costFields(new(harness.Costs)), path))
	}
	block.Name = "{" + config.Names(costFields(new(harness.Costs))) + "}, or {file} with them"
	return config.Optional(block).Or("none", nil, func(c *harness.Costs) bool { return c == nil })
}

func costFields(c *harness.Costs) []config.Field {
	span := func(d *time.Duration) config.Slot { return config.Duration(0, longest).To(d) }
	lasts := func(l *link.Latency) config.Slot { return lastingType().To(l) }
	return []config.Field{
		{Name: "processors", Example: "2", Doc: "how many processors all processes share; 0: each has " +
			"its own", Of: config.Whole[int](0, maxID).To(&c.Processors)},
		{Name: "wake", Example: "40us", Doc: "from the instant at which something is due to a process " +
			"that sleeps until it runs", Of: lasts(&c.Wake)},
		{Name: "receive", Example: "5us", Doc: "for each message, at its receiver", Of: span(&c.Receive)},
		{Name: "send", Example: "5us", Doc: "for each message, at its sender", Of: span(&c.Send)},
		{Name: "per_kb", Example: "1us", Doc: "for 1000 bytes of a message, at either " +
			"end", Of: span(&c.Byte)},
		{Name: "timer", Example: "3us", Doc: "for each timer and each command of the " +
			"application", Of: span(&c.Timer)},
		{Name: "handling", Example: "2us", Doc: "for the algorithm's handler of each of its " +
			"messages", Of: span(&c.Handling)},
		{Name: "relay", Example: "10us", With: "processors: 2", Doc: "how long each message keeps a " +
			"processor busy with the bus", Of: span(&c.Relay)},
		{Name: "rest", Example: "20us", With: "processors: 2", Doc: "how long a process keeps its " +
			"processor once it has handled all there was", Of: span(&c.Rest)},
		{Name: "transit", Example: "50us", Doc: "the least time from a send until the message can be " +
			"handled: part of the latency", Of: span(&c.Transit)},
		{Name: "save", Example: "1ms", Doc: "from a write to stable storage until it is there; until " +
			"then the process does nothing else", Of: lasts(&c.Save)},
	}
}

// CostsFile is c as a file that costs can name.
func CostsFile(comment string, c *harness.Costs) []byte {
	block := config.Block[harness.Costs]{Fields: costFields}.Type()
	return config.Encode(comment, config.Tall(block.Write(*c)))
}
