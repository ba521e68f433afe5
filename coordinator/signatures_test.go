package coordinator_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/value"
)

// notaryWorld has deeds that are sealed: the outcome of each is its state, and the receipt's signature is kept.
const notaryWorld = `
kind: World
name: notary
types:
  Deed: {record: {id: text, text: text}}
  Sealed: {record: {text: text, page: option<nat>}}
  Kept: {record: {status: text, code: text, message: text, signature: text, hash: text}}
effects:
  seal:
    params: {record: {id: text, text: text}}
    receipt: Sealed
    payload: "{{ output.sealed }}"
    timing: {timeout: PT1M, retry: {max_attempts: 3, backoff: PT1S}}
machines:
  deed:
    key: text
    state: Kept
    event: [Deed, Rejected]
    emits: [seal]
    lifecycle: entity
    rules:
      - event: Deed
        set: {status: open, code: "", message: "", signature: "", hash: ""}
        emit: [{effect: seal, params: {id: "{{ key }}", text: "{{ event.text }}"}}]
      - {event: seal, when: '{{ event.status == "ok" }}', set: {status: sealed, signature: '{{ "signature" in event ? event.signature : "none" }}'}}
      - {event: seal, set: {status: "{{ event.status }}", code: "{{ event.error.code }}", message: "{{ event.error.message }}"}}
      - {event: Rejected, set: {status: rejected, code: "{{ event.error_code }}", hash: "{{ event.payload_hash }}", signature: "{{ event.signature }}"}}
routing: {subscriptions: [{event: Deed, machine: deed, key_field: id}]}
`

type sealing struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// notary seals deeds with a key: it signs the call's key and the payload, so that a signature is valid for one call only.
type notary struct {
	key   ed25519.PrivateKey
	calls atomic.Int32
	alter func(in sealing, n int32, r *operation.Reply) // a forger's change of an answer; nil: none
}

func newNotary() *notary {
	seed := sha256.Sum256([]byte("notary"))
	return &notary{key: ed25519.NewKeyFromSeed(seed[:])}
}

func (n *notary) seal(ctx context.Context, in sealing) (operation.Reply, error) {
	sealed := map[string]any{"text": in.Text, "page": int64(len(in.Text))}
	payload, err := value.Encode(sealed)
	if err != nil {
		return operation.Reply{}, err
	}
	r := operation.Reply{Output: map[string]any{"sealed": sealed}, About: map[string]any{"signature": n.sign(operation.CallOf(ctx).Key(), payload)}}
	if calls := n.calls.Add(1); n.alter != nil {
		n.alter(in, calls, &r)
	}
	return r, nil
}

func (n *notary) sign(key string, payload []byte) string {
	return base64.StdEncoding.EncodeToString(ed25519.Sign(n.key, append([]byte(key+"\n"), payload...)))
}

// public is a verifier that knows the notary's public key.
type public struct {
	key   ed25519.PublicKey
	asked atomic.Int32
}

func (p *public) Verify(c *operation.Call, a *operation.Answer) error {
	p.asked.Add(1)
	text, ok := a.Signature.(string)
	if !ok {
		return operation.Permanent(errors.New("the answer is not signed"))
	}
	signature, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !ed25519.Verify(p.key, append([]byte(c.Key()+"\n"), a.Payload...), signature) {
		return errors.New("it is not the notary's signature")
	}
	return nil
}

// verifier is a function that verifies.
type verifier func(c *operation.Call, a *operation.Answer) error

func (f verifier) Verify(c *operation.Call, a *operation.Answer) error { return f(c, a) }

// stays is a store that outlives its engine.
type stays struct{ *memory.Store }

func (stays) Close() error { return nil }

// notaries runs the world of the notary.
type notaries struct {
	*coordinator.Run
	engine *coordinator.Engine
	store  journal.Store
}

func openNotary(t *testing.T, store journal.Store, seal any, v operation.Verifier) *notaries {
	return openNotaryAs(t, notaryWorld, store, seal, v)
}

func openNotaryAs(t *testing.T, text string, store journal.Store, seal any, v operation.Verifier) *notaries {
	var op coordinator.Operation
	switch f := seal.(type) {
	case func(context.Context, sealing) (operation.Reply, error):
		op = operation.Define("seal", f)
	case func(sealing) (operation.Reply, error):
		op = operation.DefinePure("seal", f)
	}
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{op}, Verifier: v})
	require.NoError(t, err)
	checked, err := kinds.Load("notary.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	run, err := e.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("notary"))
	require.NoError(t, err)
	return &notaries{run, e, store}
}

func (n *notaries) send(t *testing.T, id, text string) {
	_, err := n.SendMessage(t.Context(), cells.Message{Name: "Deed", Payload: map[string]any{"id": id, "text": text}})
	require.NoError(t, err)
}

// state returns the state of a deed once no call is open.
func (n *notaries) state(t *testing.T, id string) map[string]any {
	c, err := n.Await(t.Context(), "deed["+id+"]", func(c *cells.State) bool { return c.Status == world.Completed && c.State != nil })
	require.NoError(t, err)
	return c.State.(map[string]any)
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func (n *notaries) close(t *testing.T) { require.NoError(t, n.engine.Shutdown(context.Background())) }

// TestSignatures: the signature that an operation returns is judged before the answer is taken, and is in the receipt. A refused one is
// the failure bad_signature, for which the cell gets an error receipt. Recovery asks no verifier.
func TestSignatures(t *testing.T) {
	office := newNotary()
	key := office.key.Public().(ed25519.PublicKey)
	forged := func(alter func(in sealing, n int32, r *operation.Reply)) *notary {
		return &notary{key: office.key, alter: alter}
	}

	inBubble(t, "good ones are taken, and stay taken without the key", func(t *testing.T) {
		v, store := &public{key: key}, stays{memory.New()}
		n := openNotary(t, store, office.seal, v)
		n.send(t, "a", "hill")
		want := n.state(t, "a")
		require.Equal(t, "sealed", want["status"])
		payload, err := value.Encode(map[string]any{"text": "hill", "page": 4})
		require.NoError(t, err)
		require.Equal(t, office.sign("notary/deed[a].seal@3.0", payload), want["signature"])
		require.EqualValues(t, 1, v.asked.Load())
		n.close(t)

		never := verifier(func(*operation.Call, *operation.Answer) error { panic("recovery asks nobody") })
		n = openNotary(t, store, office.seal, never)
		require.Equal(t, want, n.state(t, "a"))
		n.close(t)
	})

	for name, c := range map[string]struct {
		alter    func(in sealing, n int32, r *operation.Reply)
		attempts int32
		message  string
	}{
		"another payload": {func(_ sealing, _ int32, r *operation.Reply) {
			r.Output.(map[string]any)["sealed"].(map[string]any)["text"] = "dale"
		}, 3, "it is not the notary's signature"},
		"no signature":                  {func(_ sealing, _ int32, r *operation.Reply) { r.About = nil }, 1, "the answer is not signed"},
		"null":                          {func(_ sealing, _ int32, r *operation.Reply) { r.About["signature"] = nil }, 1, "the answer is not signed"},
		"a signature that is an object": {func(_ sealing, _ int32, r *operation.Reply) { r.About["signature"] = map[string]any{} }, 1, "the answer is not signed"},
		"that of another call": {func(in sealing, _ int32, r *operation.Reply) {
			payload, _ := value.Encode(r.Output.(map[string]any)["sealed"])
			r.About["signature"] = office.sign("notary/deed[z].seal@3.0", payload)
		}, 3, "it is not the notary's signature"},
		"an answer that does not fit, signed as another": {func(_ sealing, _ int32, r *operation.Reply) {
			r.Output.(map[string]any)["sealed"].(map[string]any)["page"] = int64(-1)
		}, 3, "it is not the notary's signature"},
	} {
		inBubble(t, name+" is refused", func(t *testing.T) {
			who := forged(c.alter)
			n := openNotary(t, memory.New(), who.seal, &public{key: key})
			defer n.close(t)
			n.send(t, "a", "hill")
			got := n.state(t, "a")
			require.Equal(t, map[string]any{"status": "error", "code": "bad_signature", "message": c.message, "signature": "", "hash": ""}, got)
			require.Equal(t, c.attempts, who.calls.Load())
			for e, err := range n.Events(t.Context(), 1) {
				require.NoError(t, err)
				require.NotEqual(t, journal.CallResponded, e.Type, "nothing of a refused answer is journaled")
			}
		})
	}

	inBubble(t, "a later attempt may be good", func(t *testing.T) {
		who := forged(func(_ sealing, n int32, r *operation.Reply) {
			if n == 1 {
				r.About["signature"] = "AAAA"
			}
		})
		n := openNotary(t, memory.New(), who.seal, &public{key: key})
		defer n.close(t)
		n.send(t, "a", "hill")
		require.Equal(t, "sealed", n.state(t, "a")["status"])
		require.EqualValues(t, 2, who.calls.Load())
	})

	inBubble(t, "an answer that does not fit is judged as it is hashed", func(t *testing.T) {
		var judged []byte
		who := forged(func(_ sealing, _ int32, r *operation.Reply) {
			r.Output.(map[string]any)["sealed"].(map[string]any)["page"] = int64(-1)
		})
		n := openNotary(t, memory.New(), who.seal, verifier(func(_ *operation.Call, a *operation.Answer) error { judged = a.Payload; return nil }))
		defer n.close(t)
		n.send(t, "a", "hill")
		got := n.state(t, "a")
		require.Equal(t, "rejected", got["status"])
		require.Equal(t, fmt.Sprintf("sha256:%x", sha256.Sum256(judged)), got["hash"])
		require.NotEmpty(t, got["signature"])
	})

	inBubble(t, "what the verifier is given", func(t *testing.T) {
		var call operation.Call
		var answer operation.Answer
		var ended bool
		n := openNotary(t, memory.New(), office.seal, verifier(func(c *operation.Call, a *operation.Answer) error {
			call.Request, answer, ended = c.Request, *a, c.Err() != nil
			return nil
		}))
		defer n.close(t)
		n.send(t, "a", "hill")
		got := n.state(t, "a")
		require.Equal(t, "notary", answer.World)
		require.Equal(t, "seal", answer.Effect)
		require.True(t, strings.HasPrefix(answer.Manifest, "sha256:"))
		require.Equal(t, got["signature"], answer.Signature)
		payload, err := value.Decode(answer.Payload)
		require.NoError(t, err)
		require.Equal(t, map[string]any{"text": "hill", "page": int64(4)}, payload, "the payload, and not the output that it is taken from")
		require.Equal(t, "notary", call.Run)
		require.Equal(t, map[string]any{"id": "a", "text": "hill"}, call.Input)
		require.Equal(t, "notary/deed[a].seal@3.0", call.Key())
		require.False(t, ended)
	})

	for name, f := range map[string]func(){"panics": func() { panic("no key") }, "ends its goroutine": runtime.Goexit} {
		inBubble(t, "a verifier that "+name+" fails its call only", func(t *testing.T) {
			v := &public{key: key}
			n := openNotary(t, memory.New(), office.seal, verifier(func(c *operation.Call, a *operation.Answer) error {
				if strings.Contains(c.Node, "[bad]") {
					f()
				}
				return v.Verify(c, a)
			}))
			defer n.close(t)
			for _, id := range []string{"good", "bad", "fine"} {
				n.send(t, id, "hill")
			}
			require.Equal(t, "sealed", n.state(t, "good")["status"])
			require.Equal(t, "sealed", n.state(t, "fine")["status"])
			bad := n.state(t, "bad")
			require.Equal(t, "error", bad["status"])
			require.Equal(t, "panic", bad["code"])
		})
	}

	inBubble(t, "a pure operation is judged too, and not on the loop of the run", func(t *testing.T) {
		v := &public{key: key}
		release := make(chan struct{})
		n := openNotary(t, memory.New(), func(in sealing) (operation.Reply, error) {
			return operation.Reply{Output: map[string]any{"sealed": map[string]any{"text": in.Text}}}, nil
		}, verifier(func(c *operation.Call, a *operation.Answer) error { <-release; return v.Verify(c, a) }))
		defer n.close(t)
		n.send(t, "a", "hill")
		n.send(t, "b", "hill") // the loop takes messages while the verifier is slow
		close(release)
		require.Equal(t, "bad_signature", n.state(t, "a")["code"])
		require.Equal(t, "bad_signature", n.state(t, "b")["code"])
	})

	inBubble(t, "without a verifier all are taken, and told", func(t *testing.T) {
		who := forged(func(_ sealing, _ int32, r *operation.Reply) { r.About["signature"] = []byte{1, 2, 3} })
		n := openNotary(t, memory.New(), who.seal, nil)
		defer n.close(t)
		n.send(t, "a", "hill")
		got := n.state(t, "a")
		require.Equal(t, "sealed", got["status"])
		require.Equal(t, "AQID", got["signature"])
	})

	inBubble(t, "many at once", func(t *testing.T) {
		var mu sync.Mutex
		var seen []string
		v := &public{key: key}
		n := openNotary(t, memory.New(), office.seal, verifier(func(c *operation.Call, a *operation.Answer) error {
			mu.Lock()
			seen = append(seen, c.Node)
			mu.Unlock()
			return v.Verify(c, a)
		}))
		defer n.close(t)
		for i := range 100 {
			n.send(t, fmt.Sprint(i), strings.Repeat("x", i))
		}
		for i := range 100 {
			require.Equal(t, "sealed", n.state(t, fmt.Sprint(i))["status"])
		}
		slices.Sort(seen)
		require.Len(t, slices.Compact(seen), 100)
	})
}

// TestAVerifierThatTakesTooLong: its time counts towards the time of the attempt.
func TestAVerifierThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		n := openNotary(t, memory.New(), newNotary().seal, verifier(func(*operation.Call, *operation.Answer) error { <-release; return nil }))
		defer n.close(t)
		defer close(release)
		n.send(t, "a", "hill")
		require.Equal(t, "timeout", n.state(t, "a")["status"])
	})
}

// TestASignatureOutlivesASnapshot: a person decides about an answer after a snapshot, and the receipt has its signature.
func TestASignatureOutlivesASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, office := stays{memory.New()}, newNotary()
		v := &public{key: office.key.Public().(ed25519.PublicKey)}
		text := strings.Replace(notaryWorld, "    timing:", "    fulfillment: {policy: never}\n    timing:", 1)
		n := openNotaryAs(t, text, store, office.seal, v)
		n.send(t, "a", "hill")
		synctest.Wait()
		_, err := n.Snapshot(t.Context())
		require.NoError(t, err)
		n.close(t)

		n = openNotaryAs(t, text, store, office.seal, nil)
		defer n.close(t)
		require.NoError(t, n.Decide(t.Context(), "deed[a].seal@3.0", true, "seen"))
		got := n.state(t, "a")
		require.Equal(t, "sealed", got["status"])
		require.Len(t, got["signature"], base64.StdEncoding.EncodedLen(ed25519.SignatureSize))
		require.EqualValues(t, 1, office.calls.Load())
	})
}
