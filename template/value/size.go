package value

import "math"

// Size returns an upper bound of the size of the encoding of v, without making it: fractions count as 9 bytes, and all else
// is exact. It stops counting above most: a greater result means only that the encoding may be larger. v is of the model;
// parts outside it are converted by Of.
func Size(v any, most int) (int, error) {
	s := sizer{most: most}
	if err := s.add(v, 0); err != nil {
		return 0, err
	}
	return s.size, nil
}

type sizer struct{ size, most int }

func (s *sizer) add(v any, depth int) error {
	if depth > MaxDepth {
		return errTooDeep()
	}
	switch t := v.(type) {
	case nil, bool:
		s.size++
	case int: // as common in Go code as the model's own
		return s.add(int64(t), depth)
	case int64:
		n := uint64(t)
		if t < 0 {
			n = ^n
		}
		s.size += headBytes(n)
	case float64:
		s.size += 9
	case string:
		s.size += headBytes(uint64(len(t))) + len(t)
	case Raw:
		s.size += len(t)
	case Large:
		s.size += t.Bytes
	case []any:
		s.size += headBytes(uint64(len(t)))
		for i := 0; i < len(t) && s.size <= s.most; i++ {
			if err := s.add(t[i], depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		s.size += headBytes(uint64(len(t)))
		for key, member := range t {
			s.size += headBytes(uint64(len(key))) + len(key)
			if s.size > s.most {
				return nil
			}
			if err := s.add(member, depth+1); err != nil {
				return err
			}
		}
	default:
		v, err := Of(t)
		if err != nil {
			return err
		}
		return s.add(v, depth)
	}
	return nil
}

// headBytes returns the size of an item's head: its kind, and its number or length in the shortest form.
func headBytes(n uint64) int {
	switch {
	case n < 24:
		return 1
	case n <= math.MaxUint8:
		return 2
	case n <= math.MaxUint16:
		return 3
	case n <= math.MaxUint32:
		return 5
	}
	return 9
}
