// Command machinevet finds impurities in the steps of machines. It runs under go vet:
//
//	go install github.com/sluiceflow/sluice/cmd/machinevet@latest
//	go vet -vettool=$(which machinevet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/sluiceflow/sluice/template/machine/purity"
)

func main() { unitchecker.Main(purity.Analyzer) }
