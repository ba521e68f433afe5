package fields

import "github.com/sluiceflow/sluice/template/value"

// OfTexts returns the generic form of a list of strings; nil for none.
func OfTexts(list []string) value.Value {
	m := Object{}
	m.Texts("", list)
	return m[""]
}

// OfTextMap returns the generic form of a mapping of strings; nil for none.
func OfTextMap(texts map[string]string) value.Value {
	m := Object{}
	m.TextMap("", texts)
	return m[""]
}
