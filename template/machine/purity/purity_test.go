package purity_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/sluiceflow/sluice/template/machine/purity"
)

// diagnosed fails a test for diagnostics only: facts have a form of their own, and are seen in what other packages report.
type diagnosed struct{ *testing.T }

func (d diagnosed) Errorf(format string, args ...any) {
	if len(args) < 2 || args[1] != "fact" {
		d.T.Errorf(format, args...)
	}
}

func TestPlanted(t *testing.T) {
	analysistest.Run(diagnosed{t}, analysistest.TestData(), purity.Analyzer, "planted")
}

func TestAlike(t *testing.T) {
	analysistest.Run(diagnosed{t}, analysistest.TestData(), purity.Analyzer, "alike")
}
