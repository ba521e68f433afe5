package limits

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// Data about a run besides its input. Lists of runs hold all of it.
const (
	ActorMax     = 256  // bytes of an actor's name
	labelsMax    = 64   // labels of a run
	labelNameMax = 128  // bytes of the name of a label
	labelTextMax = 1024 // bytes of its text
	keyMax       = 256  // bytes of a key

	textMax = 64 << 10 // bytes of each text of a command: a reason, the name or the id of a message
)

// ErrRefused means that a name or text is invalid in itself: retrying with it is pointless.
var ErrRefused = errors.New("limits: the name is refused")

// refused is an error of the condition ErrRefused. Its text is the fault alone.
type refused struct{ error }

func (refused) Is(target error) bool { return target == ErrRefused }

func (r refused) Unwrap() error { return r.error }

func refuse(format string, args ...any) error { return refused{fmt.Errorf(format, args...)} }

// checkVisible refuses a name with invisible characters: see document.Visible.
func checkVisible(what, name string) error {
	if err := document.Visible(name); err != nil {
		return refuse("%s %w", what, err)
	}
	return nil
}

// checkOneLine refuses a text with control characters: lists show it in one line. Joiners and marks of direction stay, which languages need.
func checkOneLine(what, text string) error {
	if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		return refuse("%s %s: remove the control character %U", what, document.Quote(text), r)
	}
	return nil
}

// CheckLabels refuses labels that are too many or too long, names with invisible characters, and texts that are not one line.
func CheckLabels(labels map[string]string) error {
	if len(labels) > labelsMax {
		return fmt.Errorf("%w: %d labels; a run has at most %d", decide.ErrLimit, len(labels), labelsMax)
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		switch text := labels[name]; {
		case len(name) > labelNameMax:
			return fmt.Errorf("%w: label %.40q…: its name has %d bytes, at most %d are allowed", decide.ErrLimit, name, len(name), labelNameMax)
		case name == "" || !utf8.ValidString(name):
			return refuse("label %q: its name is empty or not UTF-8", name)
		case len(text) > labelTextMax:
			return fmt.Errorf("%w: label %q has %d bytes, at most %d are allowed", decide.ErrLimit, name, len(text), labelTextMax)
		case !utf8.ValidString(text):
			return refuse("label %q: %q is not UTF-8", name, text)
		}
		if err := cmp.Or(checkVisible("label", name), checkOneLine(fmt.Sprintf("label %q: the text", name), labels[name])); err != nil {
			return err
		}
	}
	return nil
}

// CheckID refuses a text that cannot be the id of a run, such as the name of a content stream or of a directory.
func CheckID(id string) error {
	if err := template.ValidID(id); err != nil {
		return refuse("run id: %w", err)
	}
	if slices.Contains([]string{"def", "blob", ".", ".."}, id) {
		return refuse("run id: %q: the name has another meaning; take another, such as %q", id, "run-"+cmp.Or(strings.Trim(id, "."), "1"))
	}
	return nil
}

// CheckMessage refuses the name of a message if it is empty or has invisible characters, and an id with invisible characters. The empty
// id means none.
func CheckMessage(name, id string) error {
	if name == "" {
		return refuse("message %q: a message has a name", name)
	}
	return errors.Join(checkVisible("message", name), checkVisible("id of message "+document.Quote(name)+":", id))
}

// CheckKey refuses a key that is too long or has invisible characters, and a key beside an id. The empty key means none.
func CheckKey(key, id string) error {
	switch {
	case key != "" && id != "":
		return refuse("key %.40q: a run has an id or a key, from which its id is derived", key)
	case len(key) > keyMax:
		return fmt.Errorf("%w: key %.40q… has %d bytes, at most %d are allowed", decide.ErrLimit, key, len(key), keyMax)
	}
	return checkVisible("key", key)
}

// IDOf returns the id of the run that is started with a key.
func IDOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "key-" + hex.EncodeToString(sum[:16])
}

// CheckActor refuses a name that is too long or has invisible characters. The empty name is allowed.
func CheckActor(actor string) error {
	if len(actor) > ActorMax {
		return fmt.Errorf("%w: actor %.40q… has %d bytes, at most %d are allowed", decide.ErrLimit, actor, len(actor), ActorMax)
	}
	return checkVisible("actor", actor)
}

// CheckTexts refuses texts of a command, besides its actor and its value, that are too long or not UTF-8: the journal replaces such
// bytes, so two ids could become equal.
func CheckTexts(reason, name, id string) error {
	for _, t := range []struct{ what, text string }{{"reason", reason}, {"name of the message", name}, {"id of the message", id}} {
		switch {
		case len(t.text) > textMax:
			return fmt.Errorf("%w: the %s has %d bytes, at most %d are allowed", decide.ErrLimit, t.what, len(t.text), textMax)
		case !utf8.ValidString(t.text):
			return refuse("the %s, %.40q, is not UTF-8", t.what, t.text)
		}
	}
	return nil
}
