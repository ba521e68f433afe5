package usercode

// causesMax bounds the causes that an error may have, nested ones included. Package errors visits all of them, and an error of
// the program may be its own cause.
const causesMax = 1000

// Finite returns an error for errors.Is and errors.As: err, or an error with only its text if err has more than causesMax
// causes.
func Finite(err error) error {
	left := causesMax
	if !ends(err, &left) {
		return endless{err}
	}
	return err
}

// endless is an error that hides its causes.
type endless struct{ err error }

func (e endless) Error() string { return e.err.Error() }

// ends reports whether an error and all its causes number at most left, and subtracts them from left.
func ends(err error, left *int) bool {
	for err != nil {
		if *left--; *left < 0 {
			return false
		}
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			for _, cause := range x.Unwrap() {
				if !ends(cause, left) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}
