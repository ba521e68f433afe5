package usercode_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/internal/usercode"
)

// selfCause is an error that is its own cause.
type selfCause struct{}

func (*selfCause) Error() string   { return "own" }
func (e *selfCause) Unwrap() error { return e }

// twice is an error whose causes are two equal errors.
type twice struct{}

func (twice) Error() string     { return "twice" }
func (e twice) Unwrap() []error { return []error{e, e} }

func TestFiniteEndsEndlessErrors(t *testing.T) {
	cause := errors.New("cause")
	for _, err := range []error{&selfCause{}, twice{}, fmt.Errorf("wrapped: %w", &selfCause{}), errors.Join(errors.New("first"), &selfCause{})} {
		finite := usercode.Finite(err)
		require.False(t, errors.Is(finite, cause))
		require.Equal(t, err.Error(), finite.Error())
	}
	for _, err := range []error{nil, cause, fmt.Errorf("wrapped: %w", cause), errors.Join(cause, nil, errors.New("other"))} {
		require.True(t, usercode.Finite(err) == err)
	}
	deep := cause
	for range 900 {
		deep = fmt.Errorf("%w", deep)
	}
	require.ErrorIs(t, usercode.Finite(deep), cause)
}
