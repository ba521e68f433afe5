package value

import "fmt"

// NodesMax bounds the nodes of a value: lists, objects, keys and scalars, each as often as it occurs. The size of a text
// says little about the memory of its value: `[[],[],…` takes twelve times as much, and `[{"a":1},…` forty times.
const NodesMax = 2 << 20

// NodeBytes bounds the memory of a node, apart from the characters of a text: an object with one key is two nodes and takes
// 344 bytes. A node of most values takes 15 to 60.
const NodeBytes = 176

// TextNodes counts the nodes of a JSON text before it is decoded. For other text it returns a number of at most the number
// of bytes.
func TextNodes(text []byte) int {
	nodes := 0
	scalar := false // the byte before belongs to a number, or to true, false or null
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ',', ':', ']', '}', ' ', '\t', '\n', '\r':
			scalar = false
		case '[', '{':
			nodes++
			scalar = false
		case '"':
			nodes++
			i = endOfText(text, i)
			scalar = false
		default:
			if !scalar {
				nodes++
			}
			scalar = true
		}
	}
	return nodes
}

// endOfText returns the end of the string that begins at i.
func endOfText(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// fewNodes refuses a JSON text whose value would have too many nodes. Each has at least one byte.
func fewNodes(text []byte) error {
	if len(text) <= NodesMax {
		return nil
	}
	if n := TextNodes(text); n > NodesMax {
		return fmt.Errorf("%w: %d lists, objects, keys and scalars, at most %d are allowed", ErrTooLarge, n, NodesMax)
	}
	return nil
}

// Nodes counts the nodes of v. It stops counting above most: a greater result means only that there are more. v is of the
// model; parts outside it are converted by Of.
func Nodes(v any, most int) (int, error) {
	c := counter{most: most}
	if err := c.add(v, 0); err != nil {
		return 0, err
	}
	return c.nodes, nil
}

type counter struct{ nodes, most int }

func (c *counter) add(v any, depth int) error {
	if depth > MaxDepth {
		return errTooDeep()
	}
	switch t := v.(type) {
	case nil, bool, int64, float64, string:
		c.nodes++
	case []any:
		c.nodes++
		for i := 0; i < len(t) && c.nodes <= c.most; i++ {
			if err := c.add(t[i], depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		c.nodes++
		for _, member := range t {
			if c.nodes > c.most {
				return nil
			}
			c.nodes++ // its key
			if err := c.add(member, depth+1); err != nil {
				return err
			}
		}
	default:
		v, err := Of(t)
		if err != nil {
			return err
		}
		return c.add(v, depth)
	}
	return nil
}
