package value_test

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/value"
)

func ExampleOf() {
	type offer struct {
		Price float64  `json:"price"`
		Tags  []string `json:"tags,omitempty"`
	}
	v, err := value.Of(offer{Price: 2})
	fmt.Printf("%v %T %v\n", v, v.(map[string]any)["price"], err)
	// Output: map[price:2] int64 <nil>
}

func ExampleEncode() {
	data, err := value.Encode(map[string]any{"b": 1.0, "a": []any{true, nil}})
	fmt.Printf("%x %v\n", data, err)
	v, err := value.Decode(data)
	fmt.Println(value.Text(v), err)
	// Output:
	// a2616182f5f6616201 <nil>
	// {"a":[true,null],"b":1} <nil>
}

func ExampleConvert() {
	var line struct {
		ID   string `json:"id"`
		Rest any    `json:"rest"`
	}
	err := value.Convert(map[string]any{"id": "a", "rest": 9007199254740993}, &line)
	fmt.Println(line.ID, line.Rest, err)
	// Output: a 9007199254740993 <nil>
}

func ExamplePointer_Lookup() {
	doc, _ := value.ParseJSON([]byte(`{"files": ["x", "y.md"], "verification/status": "fulfilled"}`))
	for _, text := range []string{"/files/1", "/verification~1status", "/files/2"} {
		p, _ := value.ParsePointer(text)
		v, err := p.Lookup(doc)
		fmt.Println(v, err)
	}
	// Output:
	// y.md <nil>
	// fulfilled <nil>
	// <nil> /files/2: the list at /files has 2 items, so there is no index 2
}

func ExampleHash() {
	a, _ := value.Hash(map[string]any{"n": 1})
	b, _ := value.Hash(struct {
		N float64 `json:"n"`
	}{1})
	fmt.Println(a[:12], a == b)
	// Output: c5863e9e3c7a true
}
