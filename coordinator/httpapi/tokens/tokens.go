// Package tokens keeps the tokens by which clients of a server identify themselves: a file in the folder of the journal, which only its
// owner may read, with a hash of each. A token itself is shown once, when it is made.
package tokens

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// FileName is the name of the file in the folder.
const FileName = "tokens.json"

// Bounds of the file and of names.
const (
	tokensMax = 10_000
	nameMax   = 128
)

// waitTime bounds the time for which a change waits for changes of other processes.
const waitTime = 5 * time.Second

// prefix marks a token for people and for programs that look for secrets.
const prefix = "sluice_"

// Errors of tokens.
var (
	ErrExists  = errors.New("tokens: there is a token of that name")
	ErrUnknown = errors.New("tokens: there is no token of that name")
	ErrName    = errors.New("tokens: a name has 1 to 128 printable characters of ASCII without spaces")
	ErrBusy    = errors.New("tokens: another process changes the tokens")
)

// Token is a stored token, without its secret.
type Token struct {
	Name    string    `json:"name"`             // the actor of its commands
	Role    string    `json:"role"`             // decides its owner's rights
	Hash    string    `json:"hash"`             // SHA-256 of the token, in hexadecimal
	Created time.Time `json:"created"`          // when it was made
	Expires time.Time `json:"expires,omitzero"` // zero: never

	Operations []string `json:"operations,omitempty"` // of a worker: whose calls it may take
}

// Keep has the tokens of a folder. It reads the file again when it has changed, so that a token that another process has made or
// revoked counts at once. It is safe for concurrent use.
type Keep struct {
	dir string

	// Changed is called with the tokens that were made and revoked since the file was read last, once noticed. Default: no call.
	Changed func(made, revoked []Token)

	// Damaged is called, once for each change of the file, if it cannot be read. No token is valid then. Default: no call.
	Damaged func(error)

	mu    sync.Mutex
	read  os.FileInfo // of the file when it was read; nil: there was none
	fault error       // why that cannot be read
	known map[string]Token
}

// Of returns the tokens of a folder.
func Of(dir string) *Keep { return &Keep{dir: dir} }

func (k *Keep) path() string { return filepath.Join(k.dir, FileName) }

// List returns all tokens, by name.
func (k *Keep) List() ([]Token, error) {
	data, err := os.ReadFile(k.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Token
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err = d.Decode(&list)
	if _, more := d.Token(); err == nil && more != io.EOF {
		err = errors.New("something follows the list")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", k.path(), err)
	}
	return list, nil
}

// Create makes a token of 256 random bits. It is returned this once. The operations are those of a worker.
func (k *Keep) Create(name, role string, now, expires time.Time, operations ...string) (token string, err error) {
	if !validName(name) {
		return "", fmt.Errorf("%w: %q", ErrName, name)
	}
	secret := make([]byte, 32)
	rand.Read(secret) // never fails
	token = prefix + base64.RawURLEncoding.EncodeToString(secret)
	return token, k.change(func(list []Token) ([]Token, error) {
		i, found := find(list, name)
		if found {
			return nil, fmt.Errorf("%w: %q", ErrExists, name)
		}
		if len(list) == tokensMax {
			return nil, fmt.Errorf("tokens: there are %d tokens, at most %d are kept: revoke some", len(list), tokensMax)
		}
		return slices.Insert(list, i, Token{name, role, hash(token), now.UTC(), expires.UTC(), operations}), nil
	})
}

// Revoke removes a token.
func (k *Keep) Revoke(name string) error {
	return k.change(func(list []Token) ([]Token, error) {
		i, found := find(list, name)
		if !found {
			return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
		}
		return slices.Delete(list, i, i+1), nil
	})
}

// Check returns the stored token, if it is valid at an instant.
func (k *Keep) Check(token string, now time.Time) (Token, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refresh() != nil {
		return Token{}, false
	}
	t, ok := k.known[hash(token)] // by the hash, so that the time it takes reveals nothing of a token
	return t, ok && (t.Expires.IsZero() || now.Before(t.Expires))
}

// refresh reads the file if it is not the one that was read.
func (k *Keep) refresh() error {
	info, err := os.Stat(k.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.read, k.fault, k.known = nil, nil, map[string]Token{}
		return nil
	case err != nil:
		return err
	case k.read != nil && os.SameFile(info, k.read) && info.ModTime().Equal(k.read.ModTime()) && info.Size() == k.read.Size():
		return k.fault
	}
	list, err := k.List()
	if k.fault = err; err != nil {
		if k.read = info; k.Damaged != nil {
			k.Damaged(err)
		}
		return err
	}
	before := k.known
	k.read, k.known = info, map[string]Token{}
	for _, t := range list {
		k.known[t.Hash] = t
	}
	if k.Changed != nil && before != nil {
		if made, revoked := without(k.known, before), without(before, k.known); len(made)+len(revoked) > 0 {
			k.Changed(made, revoked)
		}
	}
	return nil
}

// without returns the tokens of one set that are not in another, by name.
func without(set, other map[string]Token) (list []Token) {
	for hash, t := range set {
		if _, ok := other[hash]; !ok {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b Token) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// change replaces the file as a whole. The new file locks out other processes meanwhile.
func (k *Keep) change(f func([]Token) ([]Token, error)) (err error) {
	fresh := k.path() + ".new"
	file, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	for end := time.Now().Add(waitTime); errors.Is(err, fs.ErrExist) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
		file, err = os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: if none does, remove %s", ErrBusy, fresh)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(fresh))
		}
	}()
	list, err := k.List()
	if err == nil {
		list, err = f(list)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	e := json.NewEncoder(file)
	e.SetIndent("", " ")
	if err := errors.Join(e.Encode(list), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(fresh, k.path())
}

func find(list []Token, name string) (int, bool) {
	return slices.BinarySearchFunc(list, name, func(t Token, name string) int {
		switch {
		case t.Name < name:
			return -1
		case t.Name > name:
			return 1
		}
		return 0
	})
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func validName(name string) bool {
	for _, c := range []byte(name) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return name != "" && len(name) <= nameMax
}
