package jinja

// Names are those of everything that is called by name, by what it is.
func Names() map[string][]string {
	return map[string][]string{"filter": filterNames, "test": testNames, "method": methodNames, "function": functionNames}
}
