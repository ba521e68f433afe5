package document_test

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/document"
)

func ExampleParse() {
	nodes, err := document.Parse("orders.yaml", []byte("name: orders\nlines: [a, b]\n"), document.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for e := range nodes[0].Entries() {
		fmt.Printf("%v %s is %s: %v\n", e.Value.Pos, e.Key, e.Value.Kind, e.Value.Value())
	}
	// Output:
	// orders.yaml:1:7 name is a string: orders
	// orders.yaml:2:8 lines is a list: [a b]
}

func ExampleParse_refused() {
	_, err := document.Parse("orders.yaml", []byte("base: &base {retries: 3}\npay: *base\npay: 1\n"), document.Limits{})
	fmt.Println(err)
	// Output:
	// orders.yaml:1:7: anchors are not allowed: "&base"
	// orders.yaml:2:6: aliases are not allowed: "*base"
}
