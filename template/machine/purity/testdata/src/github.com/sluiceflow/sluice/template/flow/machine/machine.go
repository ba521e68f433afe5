// Package machine stands in for the package of machines: the functions and methods that the analyzer knows by name.
package machine

import "time"

type (
	Activation[Key any] struct{ key Key }
	Definition          struct{}
	Option              struct{}
	EffectOf[P, R any]  struct{ name string }
)

func Define[State, Event, Key any](name, version string, step func(*Activation[Key], *State, Event) (*State, error), options ...Option) *Definition {
	return &Definition{}
}

func Migrate(version string, from any) Option           { return Option{} }
func Emits(effects ...any) Option                       { return Option{} }
func Effect[P, R any](name string) EffectOf[P, R]       { return EffectOf[P, R]{name} }
func (a *Activation[Key]) Now() time.Time               { return time.Now() }
func (a *Activation[Key]) Key() Key                     { return a.key }
func (a *Activation[Key]) Rand() uint64                 { return 4 }
func (a *Activation[Key]) UUID() string                 { return "" }
func (a *Activation[Key]) After(string, time.Duration)  {}
func (a *Activation[Key]) Note(any)                     {}
func (e EffectOf[P, R]) Emit(a any, params P, _ ...any) {}
