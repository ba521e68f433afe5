package cli

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
)

// ParseLabels reads the values of --label.
func ParseLabels(flags []string) (map[string]string, error) {
	if len(flags) == 0 {
		return nil, nil
	}
	labels := map[string]string{}
	for _, one := range flags {
		name, text, ok := strings.Cut(one, "=")
		if _, twice := labels[name]; !ok || name == "" || twice {
			if twice {
				return nil, fmt.Errorf("--label %q: label %s is set twice", one, name)
			}
			return nil, fmt.Errorf("--label %q: a label is written NAME=TEXT", one)
		}
		if err := document.Visible(name); err != nil {
			return nil, fmt.Errorf("--label %s: label %w", document.Quote(one), err)
		}
		labels[name] = text
	}
	return labels, nil
}
