package jinja

// Names are the names of all callables, by kind.
func Names() map[string][]string {
	return map[string][]string{"filter": filterNames, "test": testNames, "method": methodNames, "function": functionNames}
}
