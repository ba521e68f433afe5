package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/template/value"
)

// documentsMax bounds the body of a request that may bring documents along.
const documentsMax = 16 << 20

// body reads the body of a request into a struct: one JSON object with the keys of the struct's tags, written as they are there. No
// body is an empty object.
func (c *exchange) body(into any) error {
	data, err := c.content()
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return nil
	}
	if kind, _, _ := mime.ParseMediaType(c.req.Header.Get("Content-Type")); kind != "application/json" {
		return problem(CodeMediaType, "the body is application/json, and its Content-Type must say so")
	}
	v, err := value.ParseInput(data) // of values: the depth, UTF-8, duplicate keys and large integers
	if err != nil {
		return problem(CodeBadRequest, "the body is not a value: %v", err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return problem(CodeBadRequest, "the body is a JSON object")
	}
	known := keysOf(reflect.TypeOf(into).Elem())
	for key := range object {
		if !slices.Contains(known, key) {
			return problem(CodeBadRequest, "there is no such key; the keys are %s", strings.Join(known, ", ")).at(pointer(key))
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(into); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return problem(CodeBadRequest, "it is of another type").at("/" + strings.ReplaceAll(wrong.Field, ".", "/"))
		}
		return problem(CodeBadRequest, "the body cannot be read")
	}
	return nil
}

// content returns the body of the request.
func (c *exchange) content() ([]byte, error) {
	if c.read {
		return c.sent, nil
	}
	most := int64(api.RequestMax)
	if c.route.Large {
		most = documentsMax
	}
	most = max(most, c.route.Most)
	data, err := io.ReadAll(http.MaxBytesReader(c.w, c.req.Body, most))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, problem(CodeBodyTooLarge, "the body has more than %d bytes", most)
	}
	if err != nil {
		return nil, problem(CodeBadRequest, "the body has not arrived whole")
	}
	c.sent, c.read = data, true
	return data, nil
}

// keysOf returns the keys of a struct in JSON.
func keysOf(t reflect.Type) (keys []string) {
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, name)
	}
	return keys
}

// pointerMax bounds the keys that errors show.
const pointerMax = 100

// pointer returns the JSON pointer of a key of the body.
func pointer(key string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key[:min(len(key), pointerMax)])
}
