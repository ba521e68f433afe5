package directory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/template"
)

func ExampleResolve() {
	d := directory.Of(&template.Directory{Capabilities: map[string][]template.Passport{"offer-catalog": {
		{Participant: "provider-a", ValidUntil: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Participant: "provider-b", Attributes: map[string]any{"region": "eu"}},
		{Participant: "provider-c", Attributes: map[string]any{"region": "us"}},
		{Participant: "provider-d", Attributes: map[string]any{"region": "eu"}},
	}}})
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	europe := &template.Target{Resolve: template.ResolveCapability, CapabilityID: "offer-catalog", Filter: map[string]any{"region": "eu"}}
	named := &template.Target{Resolve: template.ResolveStatic, Participants: []string{"provider-x", "provider-a", "provider-x"}}
	fmt.Println(directory.Resolve(d, europe, at))
	fmt.Println(directory.Resolve(d, named, at))
	// Output:
	// [provider-b provider-d]
	// [provider-x provider-a]
}

func ExampleOpen() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "directory.yaml")
	text := `
participants: {provider-a: {endpoint: "http://127.0.0.1:9001"}}
capabilities: {offer-catalog: [{participant: provider-a}]}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	d, err := directory.Open(path, directory.Config{CheckEvery: 5 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	about, _ := d.Participant("provider-a")
	fmt.Println(about)
	// Output: map[endpoint:http://127.0.0.1:9001]
}
