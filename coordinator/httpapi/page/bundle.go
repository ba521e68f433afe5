package page

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// first is the module that imports the others. They are sent with it, as one script: a browser then makes one request, not forty, and
// text that modules share is sent once. The module apart, and those of libraries, are sent separately.
const (
	first          = "app.js"
	separateModule = "ui.js"
)

var (
	importing = regexp.MustCompile(`(?m)^import (?:\{ (.+) \} from )?"(.+)";\n`)
	exporting = regexp.MustCompile(`(?m)^export ((?:async )?function|const|class) (\w+)`)
)

// bundle joins modules into one script: each is a function that returns its exports, called after those of the modules that it imports.
type bundle struct {
	files fs.FS
	out   bytes.Buffer
	known map[string]string // name of a module → name of its exports; "": its imports are being read
	count int
}

// bundled returns the first module with all that it imports, and the names of these.
func bundled(files fs.FS) (script []byte, within map[string]string, err error) {
	b := &bundle{files: files, known: map[string]string{separateModule: "m0"}}
	fmt.Fprintf(&b.out, "import * as m0 from \"./%s\";\n", separateModule)
	err = b.add(first)
	delete(b.known, separateModule)
	return b.out.Bytes(), b.known, err
}

func (b *bundle) add(name string) error {
	if as, ok := b.known[name]; ok {
		if as == "" {
			return fmt.Errorf("%s imports itself by way of others", name)
		}
		return nil
	}
	b.known[name] = ""
	raw, err := fs.ReadFile(b.files, name)
	if err != nil {
		return err
	}
	text := string(raw)
	for _, m := range importing.FindAllStringSubmatch(text, -1) {
		from := path.Join(path.Dir(name), m[2])
		if err := b.add(from); err != nil {
			return err
		}
		taken := ""
		if m[1] != "" {
			taken = fmt.Sprintf("const { %s } = %s;\n", strings.ReplaceAll(m[1], " as ", ": "), b.known[from])
		}
		text = strings.Replace(text, m[0], taken, 1)
	}
	var exports []string
	for _, m := range exporting.FindAllStringSubmatch(text, -1) {
		exports = append(exports, m[2])
	}
	b.count++
	b.known[name] = fmt.Sprintf("m%d", b.count)
	fmt.Fprintf(&b.out, "const %s = (() => {\n%s\nreturn { %s };\n})();\n", b.known[name], exporting.ReplaceAllString(text, "$1 $2"), strings.Join(exports, ", "))
	return nil
}
