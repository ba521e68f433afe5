package workers

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/reactive/call"
)

// LeaseTime is the time for which a worker may be silent about a call that it has taken. After that, the call is asked again.
const LeaseTime = 15 * time.Second

// KeyFile is the name of the file with the key that signs leases, in the folder of the journal. Backups do not contain it: a copy does
// not accept leases of the original.
const KeyFile = "workers.key"

// ErrLease is wrapped by errors about leases that this engine, or an earlier one on its folder, has not granted to this worker's token.
var ErrLease = errors.New("workers: the lease belongs to another worker")

// ErrGone is wrapped by errors about calls that the worker no longer has.
var ErrGone = errors.New("workers: the call has ended, or another worker has it")

const (
	keyBytes  = 32
	signBytes = 16
)

// ReadKey returns the key of a folder. If there is none it makes one, which only its owner may read.
func ReadKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, KeyFile)
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key = NewKey()
		return key, errors.Join(os.WriteFile(path+".new", key, 0o600), os.Rename(path+".new", path))
	}
	if err == nil && len(key) != keyBytes {
		err = fmt.Errorf("%s has %d bytes, and a key has %d: remove the file; calls at workers are then asked again", path, len(key), keyBytes)
	}
	return key, err
}

// NewKey returns a random key.
func NewKey() []byte {
	key := make([]byte, keyBytes)
	rand.Read(key) // never fails
	return key
}

// ID names a call: it stays the same when the call is asked again.
type ID struct {
	Run         string // its id
	Node        string // key of the step
	Attempt     int32  // of the step
	Participant string // "": none
	Decision    int32  // 0: a call of the step itself
}

// IDOf returns the id of a call.
func IDOf(c *call.Request) ID { return ID{c.Run, c.Node, c.Attempt, c.Participant, c.Decision} }

// String returns the id of the request, as `<step>#<attempt>` with all that makes it unique.
func (id ID) String() string {
	text := fmt.Sprintf("%s#%d", id.Node, id.Attempt)
	if id.Participant != "" {
		text += "/" + id.Participant
	}
	if id.Decision != 0 {
		text += fmt.Sprintf("/?%d", id.Decision)
	}
	return text
}

// lease is one taking of a call by a worker.
type lease struct {
	ID
	making int32  // as call.Request has it
	engine uint64 // that has granted it, a random number
	number uint64 // of the taking, counted by that engine

	ring  *keychain.Ring // of its run
	known bool           // ring is known
}

// signer signs leases with a key. Its hashes are reused: a lease is signed once and read each time it is named.
type signer struct{ hashes sync.Pool }

func newSigner(key []byte) *signer {
	return &signer{sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
}

// signature returns the signature, made with the key, of a lease and the token to which it is bound, see Worker.
func (s *signer) signature(token string, data []byte) []byte {
	mac := s.hashes.Get().(hash.Hash)
	defer s.hashes.Put(mac)
	mac.Reset()
	mac.Write(append(binary.AppendUvarint(nil, uint64(len(token))), token...))
	mac.Write(data)
	return mac.Sum(nil)[:signBytes]
}

// sign returns a lease as text, which only a worker bound to the token can use.
func (l *lease) sign(by *signer, token string) string {
	data := binary.BigEndian.AppendUint64(nil, l.engine)
	for _, n := range []uint64{l.number, uint64(l.making), uint64(l.Attempt), uint64(l.Decision)} {
		data = binary.AppendUvarint(data, n)
	}
	for _, text := range []string{l.Run, l.Node, l.Participant} {
		data = append(binary.AppendUvarint(data, uint64(len(text))), text...)
	}
	return base64.RawURLEncoding.EncodeToString(append(data, by.signature(token, data)...))
}

// parse reads the text of a lease of a worker bound to the token.
func parse(by *signer, token, text string) (l lease, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(data) < 8+signBytes || strings.ContainsAny(text, "\r\n") {
		return l, ErrLease
	}
	data, signed := data[:len(data)-signBytes], data[len(data)-signBytes:]
	if !hmac.Equal(signed, by.signature(token, data)) {
		return l, ErrLease
	}
	l.engine = binary.BigEndian.Uint64(data)
	r := reading{rest: data[8:]}
	l.number, l.making, l.Attempt, l.Decision = r.number(), int32(r.number()), int32(r.number()), int32(r.number())
	l.Run, l.Node, l.Participant = r.text(), r.text(), r.text()
	if r.failed || len(r.rest) > 0 { // signed by another version
		return l, ErrLease
	}
	return l, nil
}

// reading reads the output of sign.
type reading struct {
	rest   []byte
	failed bool
}

func (r *reading) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.failed = true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reading) text() string {
	n := r.number()
	if r.failed || n > uint64(len(r.rest)) {
		r.failed = true
		return ""
	}
	text := string(r.rest[:n])
	r.rest = r.rest[n:]
	return text
}
