package sluice_test

import (
	"reflect"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/check"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/scenario"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
	"github.com/sluiceflow/sluice/template/wfformat"
)

// fields are the numbers of a struct of limits, by name.
func fields(prefix string, limits any) map[string]int {
	all := map[string]int{}
	v := reflect.ValueOf(limits)
	for i := range v.NumField() {
		all[prefix+v.Type().Field(i).Name] = int(v.Field(i).Int())
	}
	return all
}

func TestTheTableOfLimitsIsThatOfTheCode(t *testing.T) {
	code := map[string]int{
		"template.IDBytesMax": template.IDBytesMax, "template.DepthMax": template.DepthMax, "wfformat.SizeMax": wfformat.SizeMax,
		"document.ErrorsMax": document.ErrorsMax,
		"value.MaxDepth":     value.MaxDepth, "value.MaxSizeBytes": value.MaxSizeBytes,
		"expr.MaxLength": expr.MaxLength, "expr.MaxNodes": expr.MaxNodes, "expr.MaxSteps": expr.MaxSteps, "expr.MaxBytes": expr.MaxBytes,
		"playbook.StepRunsMax": playbook.StepRunsMax, "playbook.JumpsMax": playbook.JumpsMax,
		"playbook.ArgsBytesMax": playbook.ArgsBytesMax, "playbook.InlineMax": playbook.InlineMax,
		"reactive.EvaluationMax": reactive.EvaluationMax, "check.WorkMax": check.WorkMax, "check.BytesMax": check.BytesMax,
		"scenario.WorkMax": scenario.WorkMax, "scenario.BytesMax": scenario.BytesMax, "scenario.DeliverMax": scenario.DeliverMax,
		"operation.StdoutMax": operation.StdoutMax, "operation.StderrMax": operation.StderrMax, "operation.ResponseMax": operation.ResponseMax,
		"operation.CodeMax": operation.CodeMax, "operation.MessageMax": operation.MessageMax,
		"reactive.ReportsMax": reactive.ReportsMax, "reactive.ReportBytesMax": reactive.ReportBytesMax,
		"control.RequestMax": control.RequestMax, "control.CommandsMax": control.CommandsMax, "control.LooksMax": control.LooksMax,
		"control.WatchersMax": control.WatchersMax, "control.IdleMax": control.IdleMax, "journal.StreamNameMax": journal.StreamNameMax,
		"disk.BatchMaxBytes": disk.BatchMaxBytes, "disk.EventMaxBytes": disk.EventMaxBytes,
	}
	for prefix, limits := range map[string]any{
		"coordinator.Limits.": coordinator.DefaultLimits(), "document.Limits.": document.DefaultLimits(),
	} {
		for name, most := range fields(prefix, limits) {
			code[name] = most
		}
	}
	table := map[string]int{}
	row := regexp.MustCompile("(?m)^\\| `([a-zA-Z.]+)` \\| ([0-9]+) \\| [^|]+ \\| [^|]+ \\| [^|]+ \\|$")
	for _, cells := range row.FindAllStringSubmatch(read(t, "docs/limits.md"), -1) {
		most, err := strconv.Atoi(cells[2])
		require.NoError(t, err)
		table[cells[1]] = most
	}
	require.Equal(t, code, table)
}
