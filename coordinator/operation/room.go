package operation

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/template/value"
)

// Room bounds the memory for the answers of all calls together. A call takes room for the whole text of an answer before reading
// the text, and then room for the value before decoding it: each at most once and in this order, so a call that has room for a
// value waits for no other room. Both methods wait until there is room or ctx ends. The call keeps the room until its result is
// durable.
type Room interface {
	// TakeText takes room for the text of an answer.
	TakeText(ctx context.Context, bytes int) error

	// TakeValue takes room for the value decoded from the text.
	TakeValue(ctx context.Context, bytes int) error
}

// smallText bounds the answers, in bytes, that are read and decoded without taking room. Most answers are no larger, and must not
// wait for large ones.
const smallText = 8 << 10

func (c *Call) takeText(bytes int) error {
	if c.host == nil {
		return nil
	}
	if err := c.host.TakeText(c, bytes); err != nil {
		return cancelled(c)
	}
	return nil
}

// takeNodes takes room for the value decoded from a text.
func (c *Call) takeNodes(text, nodes int) error {
	if c.host == nil || text <= smallText {
		return nil
	}
	if err := c.host.TakeValue(c, nodes*value.NodeBytes); err != nil {
		return cancelled(c)
	}
	return nil
}

// parseJSON decodes a JSON text. place is the source of the text, for messages.
func (c *Call) parseJSON(place string, text []byte) (value.Value, error) {
	nodes := value.TextNodes(text)
	if nodes > value.NodesMax {
		return nil, &Error{Code: CodeTooLarge, Permanent: true,
			Message: fmt.Sprintf("%s: %d lists, objects, keys and scalars in %d bytes of JSON; a value may have at most %d", place, nodes, len(text), value.NodesMax)}
	}
	if err := c.takeNodes(len(text), nodes); err != nil {
		return nil, err
	}
	v, err := value.ParseJSON(text)
	if err != nil {
		return nil, &Error{Code: CodeInvalidOutput, Message: place + ": " + err.Error(), Permanent: true, Err: err}
	}
	return v, nil
}
