package operation

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/template/value"
)

// Room bounds what the answers of all calls together take in memory. A call takes room for the whole text of an answer before
// it reads it, and then for the value before that is made: at most once each, and always in this order, so that who has room
// for a value waits for nobody. Both wait until there is room or ctx ends. What was taken is the call's until its outcome has
// come home.
type Room interface {
	// TakeText takes room for the text of an answer.
	TakeText(ctx context.Context, bytes int) error

	// TakeValue takes room for the value that is made of it.
	TakeValue(ctx context.Context, bytes int) error
}

// smallText is how many bytes of an answer are read, and made a value of, without room: most answers have no more, and are not to
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

// takeNodes takes room for a value that is made of a text.
func (c *Call) takeNodes(text, nodes int) error {
	if c.host == nil || text <= smallText {
		return nil
	}
	if err := c.host.TakeValue(c, nodes*value.NodeBytes); err != nil {
		return cancelled(c)
	}
	return nil
}

// parseJSON makes the value of a JSON text that came from a place.
func (c *Call) parseJSON(place string, text []byte) (value.Value, error) {
	nodes := value.TextNodes(text)
	if nodes > value.NodesMax {
		return nil, &Error{Code: CodeTooLarge, Permanent: true,
			Message: fmt.Sprintf("%s: %d lists, objects, keys and scalars in %d bytes of JSON, and a value may have at most %d", place, nodes, len(text), value.NodesMax)}
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
