package purity

import (
	"go/types"
	"strings"
)

// kind is a kind of impurity, with its remedy.
type kind struct{ does, instead string }

var (
	clock      = &kind{"depends on the clock", "take the time from a.Now, and wait with a.After or a.At"}
	zone       = &kind{"depends on the time zones of the host", "take times in UTC, and zones from what the step is given"}
	random     = &kind{"is random", "draw from a.Rand or a.UUID"}
	system     = &kind{"depends on the operating system", "let an effect do it, and take its receipt"}
	files      = &kind{"reads or writes files", "let an effect do it, and take its receipt"}
	network    = &kind{"uses the network", "let an effect do it, and take its receipt"}
	output     = &kind{"writes output or logs", "return it as a note (a.Note)"}
	locks      = &kind{"synchronises goroutines", "leave it out: a step has its state to itself"}
	concurrent = &kind{"runs concurrently", "compute it in order, or let an effect do it"}
	process    = &kind{"depends on the process", "leave it out"}
	registry   = &kind{"depends on what else the process has registered", "use an encoding without global state"}
	memory     = &kind{"shows memory and addresses", "use typed Go without unsafe"}
	mapOrder   = &kind{"has the order of a map, which is random", "sort the keys first"}
	dynamic    = &kind{"calls what cannot be followed", "call the function by its name"}
)

// judgement records which functions, methods and variables of a package of the standard library are pure.
type judgement struct {
	all *kind            // nil: pure
	but map[string]*kind // exceptions: "Name", "Type.Method", or "Type" for all its methods; nil: pure
}

var pureAll = judgement{}

func all(k *kind) judgement { return judgement{all: k} }

// except returns the names, separated by spaces, with one kind.
func except(k *kind, names string, more ...map[string]*kind) map[string]*kind {
	but := map[string]*kind{}
	for name := range strings.FieldsSeq(names) {
		but[name] = k
	}
	for _, m := range more {
		for name, k := range m {
			but[name] = k
		}
	}
	return but
}

// standard judges each package of the standard library. A package below one that is named, and not named itself, is judged like it.
// The source of the standard library is not followed: it has caches, pools and assembly that a result does not depend on.
var standard = map[string]judgement{
	"archive":      {but: except(files, "OpenReader")},
	"bufio":        pureAll,
	"bytes":        pureAll,
	"cmp":          pureAll,
	"compress":     pureAll,
	"container":    pureAll,
	"context":      {all: locks, but: except(nil, "Background WithValue Canceled DeadlineExceeded", except(clock, "WithTimeout WithDeadline WithTimeoutCause WithDeadlineCause"))},
	"crypto":       {but: except(random, "GenerateKey GenerateParameters GenerateMultiPrimeKey GenerateKey768 GenerateKey1024 Sign SignASN1 SignPKCS1v15 SignPSS EncryptOAEP EncryptPKCS1v15 Encapsulate PrivateKey.Sign Curve.GenerateKey")},
	"crypto/rand":  all(random),
	"crypto/tls":   all(network),
	"crypto/x509":  {all: system, but: except(nil, "ParseCertificate ParseCertificates ParsePKCS1PrivateKey ParsePKCS1PublicKey ParsePKCS8PrivateKey ParsePKIXPublicKey ParseECPrivateKey MarshalPKIXPublicKey MarshalPKCS1PublicKey MarshalPKCS8PrivateKey Certificate.Equal Certificate.CheckSignature Certificate.CheckSignatureFrom")},
	"database":     {all: network, but: except(nil, "ErrNoRows ErrTxDone ErrConnDone Named NullString NullInt64 NullInt32 NullInt16 NullBool NullByte NullFloat64 NullTime Null")},
	"debug":        all(files),
	"embed":        pureAll,
	"encoding":     pureAll,
	"encoding/gob": all(registry),
	"errors":       pureAll,
	"expvar":       all(process),
	"flag":         all(process),
	"fmt":          {but: except(output, "Print Printf Println Scan Scanf Scanln")},
	"go":           pureAll,
	"go/build":     {all: files, but: except(nil, "IsLocalImport")},
	"go/importer":  all(files),
	"hash":         pureAll,
	"hash/maphash": all(random),
	"html":         {but: except(files, "ParseFiles ParseGlob Template.ParseFiles Template.ParseGlob")},
	"image":        pureAll,
	"index":        pureAll,
	"io":           {but: except(concurrent, "Pipe")},
	"iter":         pureAll,
	"log":          all(output),
	"maps":         pureAll, // the order of Keys, Values and All is checked where they are called
	"math":         pureAll,
	"math/rand":    {all: random, but: except(nil, "New NewSource NewZipf NewPCG NewChaCha8 Rand Source Source64 Zipf PCG ChaCha8")},
	"mime":         {but: except(files, "TypeByExtension ExtensionsByType AddExtensionType", except(random, "NewWriter"))},
	"net":          {all: network, but: except(nil, "ParseIP ParseCIDR ParseMAC JoinHostPort SplitHostPort IPv4 IPv4Mask CIDRMask IP IPMask IPNet HardwareAddr ErrClosed")},
	"net/http": {all: network, but: except(nil, "StatusText CanonicalHeaderKey DetectContentType ParseHTTPVersion ParseTime Header NoBody "+
		"ErrNotSupported ErrMissingFile ErrNoCookie ErrUseLastResponse")},
	"net/mail":      pureAll,
	"net/netip":     pureAll,
	"net/textproto": {all: network, but: except(nil, "CanonicalMIMEHeaderKey MIMEHeader TrimBytes TrimString NewReader Reader")},
	"net/url":       pureAll,
	"os":            {all: system, but: except(nil, "ErrInvalid ErrPermission ErrExist ErrNotExist ErrClosed IsExist IsNotExist IsPermission FileMode FileInfo PathError Expand")},
	"path":          pureAll,
	"path/filepath": {but: except(files, "Abs EvalSymlinks Glob Walk WalkDir")},
	"plugin":        all(files),
	"reflect": {but: except(concurrent, "Select MakeChan Value.Send Value.Recv Value.TrySend Value.TryRecv Value.Close",
		except(memory, "Value.Pointer Value.UnsafeAddr Value.UnsafePointer NewAt"),
		except(mapOrder, "Value.MapRange Value.MapKeys Value.Seq Value.Seq2"),
		except(dynamic, "Value.Call Value.CallSlice Value.MethodByName"))},
	"regexp":           pureAll,
	"runtime":          all(process),
	"simd":             pureAll,
	"slices":           pureAll,
	"sort":             pureAll,
	"strconv":          pureAll,
	"strings":          pureAll,
	"structs":          pureAll,
	"sync":             {all: locks, but: except(nil, "OnceFunc OnceValue OnceValues")},
	"syscall":          all(system),
	"testing":          all(process),
	"testing/fstest":   pureAll,
	"testing/quick":    all(random),
	"text":             {but: except(files, "ParseFiles ParseGlob Template.ParseFiles Template.ParseGlob")},
	"time":             {but: except(clock, "Now Since Until Sleep After AfterFunc Tick NewTimer NewTicker Timer Ticker", except(zone, "Local Time.Local LoadLocation"))},
	"unicode":          pureAll,
	"unique":           pureAll,
	"unsafe":           all(memory),
	"weak":             all(memory),
	"internal":         pureAll,
	"vendor":           pureAll,
	"cmd":              all(process),
	"encoding/json":    pureAll,
	"math/rand/v2":     {all: random, but: except(nil, "New NewZipf NewPCG NewChaCha8 Rand Source Zipf PCG ChaCha8")},
	"log/slog":         all(output),
	"testing/slogtest": all(process),
}

// judged returns the judgement of a package of the standard library, and whether its path is one.
func judged(path string) (judgement, bool) {
	for {
		if j, ok := standard[path]; ok {
			return j, true
		}
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return judgement{}, false
		}
		path = path[:i]
	}
}

// of returns the kind of impurity of a function, method or variable, or nil.
func (j judgement) of(obj types.Object) *kind {
	name := obj.Name()
	if f, ok := obj.(*types.Func); ok {
		if recv := receiverOf(f); recv != "" {
			if k, ok := j.but[recv+"."+name]; ok {
				return k
			}
			name = recv
		}
	}
	if k, ok := j.but[name]; ok {
		return k
	}
	return j.all
}

// receiverOf returns the name of the type of a method, or "" of a function.
func receiverOf(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := recv.Type()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj().Name()
	}
	return "interface"
}

// sorters holds the functions that put their first argument in order.
var sorters = setOf("sort.Ints sort.Float64s sort.Strings sort.Slice sort.SliceStable sort.Sort sort.Stable " +
	"slices.Sort slices.SortFunc slices.SortStableFunc")

// sorted holds the functions that take a sequence in any order.
var sorted = setOf("slices.Sorted slices.SortedFunc slices.SortedStableFunc maps.Collect maps.Insert")

// changers holds the functions of the standard library that change the referent of an argument, with the number of the argument.
var changers = map[string]int{
	"slices.Reverse": 0, "slices.Delete": 0, "slices.DeleteFunc": 0, "slices.Insert": 0, "slices.Replace": 0, "slices.Compact": 0,
	"slices.CompactFunc": 0, "sort.Reverse": -2, "maps.Copy": 0, "maps.Insert": 0, "maps.DeleteFunc": 0, "io.ReadFull": 1,
	"io.WriteString": 0, "io.Copy": 0, "fmt.Fprint": 0, "fmt.Fprintf": 0, "fmt.Fprintln": 0, "encoding/json.Unmarshal": 1,
	"encoding/xml.Unmarshal": 1, "encoding/binary.Read": 2, "container/heap.Push": 0, "container/heap.Pop": 0,
	"container/heap.Init": 0, "container/heap.Fix": 0, "container/heap.Remove": 0, "encoding/json.Indent": 0, "encoding/json.Compact": 0,
}

// reading holds the types whose methods change nothing that can be seen.
var reading = setOf("regexp.Regexp time.Location strings.Replacer text/template.Template html/template.Template " +
	"encoding/base64.Encoding encoding/base32.Encoding embed.FS reflect.rtype")

// readingMethods holds the names of methods with a pointer receiver that change nothing, in the standard library.
var readingMethods = setOf("String Error Len Cap Bytes Cmp CmpAbs Sign Int64 Uint64 IsInt64 IsUint64 IsInt BitLen Bit Text Equal " +
	"GoString MarshalText MarshalJSON MarshalBinary AppendText Append Format Float64 Float32 Num Denom Query Hostname Port " +
	"EscapedPath RequestURI JoinPath Parse ResolveReference IsAbs Redacted Front Back Next Prev Size BlockSize Contains Is Unwrap")

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// changedByStandard returns the parameter that a function of the standard library changes, -1 for the receiver, and whether it does.
func changedByStandard(f *types.Func) (int, bool) {
	name := f.Pkg().Path() + "." + f.Name()
	if recv := f.Signature().Recv(); recv != nil {
		typ := f.Pkg().Path() + "." + receiverOf(f)
		if _, ok := types.Unalias(recv.Type()).(*types.Pointer); !ok && !types.IsInterface(recv.Type()) {
			return -1, typ == "reflect.Value" && strings.HasPrefix(f.Name(), "Set")
		}
		return -1, !reading[typ] && !readingMethods[f.Name()]
	}
	if sorters[name] {
		return 0, true
	}
	i, ok := changers[name]
	return i, ok && i >= 0
}
