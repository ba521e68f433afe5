package machine

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/schema/gotypes"
	"github.com/sluiceflow/sluice/template/value"
)

// The statuses of receipts.
const (
	OK      = "ok"      // there is a payload
	Error   = "error"   // the call has failed
	Timeout = "timeout" // the last attempt took too long
)

// Receipt reports the end of an effect.
type Receipt[T any] struct {
	Effect       string   // name
	Issuer       string   // that the emission named; "": none
	Status       string   // OK, Error or Timeout
	Payload      *T       // if Status is OK
	Error        *Failure // if Status is not OK
	Signature    any      // of the payload, of the model of package value; nil: none
	Intent       string   // identity of the emission, sha256:…
	EmittedAtSeq uint64   // sequence of the activation that emitted
}

// Failure describes why an effect has failed.
type Failure struct {
	Code    string // for programs
	Message string // for people
	Details any    // of the model of package value; nil: none
}

// Fired is a timer that was due.
type Fired struct {
	Name string    // of the timer
	Due  time.Time // when it was to fire, in UTC
}

// Rejected is an answer to an effect that does not fit the type of its receipt.
type Rejected struct {
	Effect       string // name
	Issuer       string // that the emission named; "": none
	Status       string // as in a Receipt
	Code         string // why it does not fit
	Message      string // the same, for people
	PayloadHash  string // of the payload that came instead, sha256:…
	PayloadSize  int64  // of its encoding, in bytes
	Signature    any    // of the payload, of the model of package value; nil: none
	Intent       string // identity of the emission, sha256:…
	EmittedAtSeq uint64 // sequence of the activation that emitted
}

// Frame is a report of a call under way.
type Frame struct {
	Effect       string // name
	Issuer       string // that the emission named; "": none
	Kind         string // of the report
	Number       int64  // of the report within its attempt, from 1
	Payload      any    // of the model of package value
	Intent       string // identity of the emission, sha256:…
	EmittedAtSeq uint64 // sequence of the activation that emitted
}

// receipt is a pointer to a Receipt of any type.
type receipt interface {
	payload() reflect.Type
	fill(v value.Value, failure *Failure, signature any) reflect.Value
}

func (*Receipt[T]) payload() reflect.Type { return reflect.TypeFor[T]() }

// arm is a field of an event's struct: the events that set it, and its type.
type arm struct {
	field  int
	kind   machine.EventKind
	name   string // of a message or an effect, or of a timer; "": any timer
	issuer string // of a receipt; "": any
	goType reflect.Type
	at     string // in Go, as in Event.Placed
}

// arms are the fields of an event's struct. An event that is one message has none.
type arms struct {
	of      reflect.Type
	list    []arm
	message string // of an event that is one message: its name
}

var (
	firedType    = reflect.TypeFor[Fired]()
	rejectedType = reflect.TypeFor[Rejected]()
	frameType    = reflect.TypeFor[Frame]()
	receiptType  = reflect.TypeFor[receipt]()
)

// armsOf returns the arms of an event: of a struct of pointers to structs, or of any other struct, which is one message.
func armsOf(t reflect.Type) (*arms, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s: an event is a struct, a message or one with a pointer for each message, not %s", t, t.Kind())
	}
	all := &arms{of: t}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct {
			return &arms{of: t, message: t.Name()}, nil
		}
		x, err := armOf(t, f, i)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all.list, func(y arm) bool { return x.kind == y.kind && x.name == y.name && x.issuer == y.issuer }) {
			return nil, fmt.Errorf("%s: another arm has this already", x.at)
		}
		all.list = append(all.list, x)
	}
	return all, nil
}

// armOf returns the arm of a field.
func armOf(t reflect.Type, f reflect.StructField, i int) (arm, error) {
	x := arm{field: i, goType: f.Type.Elem(), at: t.String() + "." + f.Name, name: f.Type.Elem().Name()}
	effect, isEffect := f.Tag.Lookup("effect")
	timer, isTimer := f.Tag.Lookup("timer")
	switch {
	case !f.IsExported():
		return x, fmt.Errorf("%s: an arm must be exported", x.at)
	case x.goType == firedType:
		x.kind, x.name = machine.Timer, timer
	case x.goType == rejectedType:
		x.kind, x.name = machine.Rejected, ""
	case x.goType == frameType:
		x.kind, x.name = machine.Frame, ""
	case f.Type.Implements(receiptType):
		if effect == "" {
			return x, fmt.Errorf("%s: say which effect it is the receipt of, as in `effect:\"pay\"`", x.at)
		}
		x.kind, x.name = machine.Receipt, effect
		x.goType = reflect.Zero(f.Type).Interface().(receipt).payload()
	default:
		if name := f.Tag.Get("event"); name != "" {
			x.name = name
		}
		if isEffect || isTimer {
			return x, fmt.Errorf("%s: an arm with the tag effect is a *machine.Receipt, and one with the tag timer a *machine.Fired", x.at)
		}
	}
	return x, nil
}

// has reports whether there is an arm of a kind.
func (all *arms) has(kind machine.EventKind) bool {
	return slices.ContainsFunc(all.list, func(x arm) bool { return x.kind == kind })
}

// messages yields the names and types of the messages.
func (all *arms) messages(yield func(string, reflect.Type) bool) {
	if all.message != "" {
		yield(all.message, all.of)
		return
	}
	for _, x := range all.list {
		if x.kind == machine.Message && !yield(x.name, x.goType) {
			return
		}
	}
}

// split divides the name of a receipt's arm into a declared effect and an issuer. It reports false if the effect is not
// declared.
func (x *arm) split(declared func(string) bool) bool {
	for effect := x.name; effect != ""; {
		if declared(effect) {
			x.issuer = strings.TrimPrefix(x.name[len(effect):], ".")
			x.name = effect
			return true
		}
		effect = effect[:max(0, strings.LastIndexByte(effect, '.'))]
	}
	return false
}

// opened is an arm that is bound to the types of a world.
type opened struct {
	arm
	decode func(event *machine.Event, into reflect.Value) error // into is the struct that the arm points to
}

// open binds an arm.
func (x arm) open(w *machine.World) (opened, error) {
	o := opened{arm: x}
	switch x.kind {
	case machine.Message:
		codec, err := messageCodec(w, x.name, x.goType)
		if err != nil {
			return o, fmt.Errorf("%s: %w", x.at, err)
		}
		o.decode = func(e *machine.Event, into reflect.Value) error { return codec.Decode(e.Value, into) }
	case machine.Receipt:
		effect := w.Effect(x.name)
		codec, err := gotypes.Compile(x.goType, effect.Receipt)
		if err != nil {
			return o, fmt.Errorf("%s: the receipt of %q: %w", x.at, x.name, err)
		}
		o.decode = func(e *machine.Event, into reflect.Value) error { return decodeReceipt(e.Value, into, codec) }
	case machine.Timer:
		o.decode = decodeFired
	case machine.Rejected:
		o.decode = decodeRejected
	case machine.Frame:
		o.decode = decodeFrame
	}
	return o, nil
}

// messageCodec returns the codec of a message of a world.
func messageCodec(w *machine.World, name string, t reflect.Type) (*gotypes.Codec, error) {
	of := w.Types.Lookup(name)
	if of == nil || of.Kind == schema.System {
		return nil, fmt.Errorf("the world has no type %q", name)
	}
	return gotypes.Compile(t, of)
}

// takes reports whether an arm takes an event.
func (x *arm) takes(e *machine.Event) bool {
	switch {
	case x.kind != e.Kind:
		return false
	case x.kind == machine.Message:
		return x.name == e.Name
	case x.kind == machine.Timer:
		return x.name == "" || x.name == e.Name
	case x.kind == machine.Receipt:
		return x.name == e.Name && (x.issuer == "" || x.issuer == textOf(e.Value, "issuer"))
	}
	return true
}

// textOf, numberOf and fieldOf return a field of an event of the engine.
func textOf(v value.Value, key string) string {
	object, _ := v.(map[string]any)
	text, _ := object[key].(string)
	return text
}

func numberOf(v value.Value, key string) int64 {
	object, _ := v.(map[string]any)
	n, _ := object[key].(int64)
	return n
}

func fieldOf(v value.Value, key string) value.Value {
	object, _ := v.(map[string]any)
	return object[key]
}

// decodeReceipt fills in a Receipt.
func decodeReceipt(v value.Value, into reflect.Value, codec *gotypes.Codec) error {
	failure, err := decodeFailure(fieldOf(v, "error"))
	if err != nil {
		return err
	}
	signature, err := signatureOf(v)
	if err != nil {
		return err
	}
	payload := into.Addr().Interface().(receipt).fill(v, failure, signature)
	if !payload.IsValid() {
		return nil
	}
	return codec.Decode(fieldOf(v, "payload"), payload)
}

// fill sets the fields of a receipt except its payload, and returns that for the caller to set; the zero Value if there is
// none.
func (r *Receipt[T]) fill(v value.Value, failure *Failure, signature any) (payload reflect.Value) {
	*r = Receipt[T]{
		Effect: textOf(v, "effect"), Issuer: textOf(v, "issuer"), Status: textOf(v, "status"), Error: failure, Signature: signature,
		Intent: textOf(v, "intent"), EmittedAtSeq: uint64(numberOf(v, "emitted_at_seq")),
	}
	if r.Status != OK {
		return payload
	}
	r.Payload = new(T)
	return reflect.ValueOf(r.Payload).Elem()
}

// signatureOf returns a copy of the signature of a receipt.
func signatureOf(v value.Value) (any, error) { return value.Own(fieldOf(v, "signature")) }

func decodeFailure(f value.Value) (*Failure, error) {
	if f == nil {
		return nil, nil
	}
	details, err := value.Own(fieldOf(f, "details"))
	return &Failure{Code: textOf(f, "code"), Message: textOf(f, "message"), Details: details}, err
}

func decodeFired(e *machine.Event, into reflect.Value) error {
	payload := fieldOf(e.Value, "payload")
	due, err := time.Parse(time.RFC3339Nano, textOf(payload, "due"))
	into.Set(reflect.ValueOf(Fired{Name: e.Name, Due: due.UTC()}))
	return err
}

func decodeRejected(e *machine.Event, into reflect.Value) error {
	v := e.Value
	signature, err := signatureOf(v)
	into.Set(reflect.ValueOf(Rejected{
		Effect: textOf(v, "effect"), Issuer: textOf(v, "issuer"), Status: textOf(v, "status"),
		Code: textOf(v, "error_code"), Message: textOf(v, "error_message"),
		PayloadHash: textOf(v, "payload_hash"), PayloadSize: numberOf(v, "payload_size"), Signature: signature,
		Intent: textOf(v, "intent"), EmittedAtSeq: uint64(numberOf(v, "emitted_at_seq")),
	}))
	return err
}

func decodeFrame(e *machine.Event, into reflect.Value) error {
	v := e.Value
	payload, err := value.Own(fieldOf(v, "payload"))
	into.Set(reflect.ValueOf(Frame{
		Effect: textOf(v, "effect"), Issuer: textOf(v, "issuer"), Kind: textOf(v, "kind"), Number: numberOf(v, "number"),
		Payload: payload, Intent: textOf(v, "intent"), EmittedAtSeq: uint64(numberOf(v, "emitted_at_seq")),
	}))
	return err
}
