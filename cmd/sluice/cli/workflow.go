package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/template/value"
)

// IsFile reports whether an argument names a file, and not a published workflow.
func IsFile(arg string) bool {
	if filepath.Ext(arg) != "" && !strings.Contains(arg, "@") || strings.ContainsRune(arg, filepath.Separator) {
		return true
	}
	info, err := os.Stat(arg)
	return err == nil && info.Mode().IsRegular()
}

// Workflow returns the name of a published workflow, or the parcel of a file.
func Workflow(ctx context.Context, arg string) (name string, p *registry.Parcel, err error) {
	if !IsFile(arg) {
		return arg, nil, nil
	}
	p, _, err = LoadParcel(ctx, arg)
	return "", p, err
}

// Settings parses arguments PLACE=VALUE, such as steps.price.output=12. A value that is not JSON is a string.
func Settings(args []string) (map[string]json.RawMessage, error) {
	set := map[string]json.RawMessage{}
	for _, arg := range args {
		place, text, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("%q has no value: write %s=VALUE", arg, arg)
		}
		if set[place] != nil {
			return nil, fmt.Errorf("%s is set twice", place)
		}
		v, err := value.ParseInput([]byte(text))
		if err != nil {
			v = text
		}
		set[place] = ValueJSON(v)
	}
	return set, nil
}
