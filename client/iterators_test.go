package client_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/template"
)

// TestACallerMayCancelAndStop: an iteration that its caller has stopped yields nothing more, also if the caller has ended its context
// before it stopped: not the error of the context, either. The test finds the iterations by reflection.
func TestACallerMayCancelAndStop(t *testing.T) {
	s := newSite(t)
	w, err := template.Parse("two.yaml", []byte("{kind: Workflow, name: two, operations: {letter: {wait: {message: letter}}}, steps: [{operation: letter}, {id: second, operation: letter}]}"))
	require.NoError(t, err)
	_, err = s.engine.Start(t.Context(), w, nil, coordinator.WithID("r1"), coordinator.WithLabels(map[string]string{"a": "b"}))
	require.NoError(t, err)
	_, err = s.engine.Start(t.Context(), w, nil, coordinator.WithID("r2"))
	require.NoError(t, err)
	run, err := s.engine.Run(t.Context(), "r1")
	require.NoError(t, err)
	remote, err := s.remote.Run(t.Context(), "r1")
	require.NoError(t, err)
	local, err := client.Of(s.engine).Run(t.Context(), "r1")
	require.NoError(t, err)
	t.Setenv(folder.TokenVariable, "secret")
	dialed, err := folder.Dial(s.url)
	require.NoError(t, err)
	yielding := 0
	for _, of := range []any{s.engine, run, s.remote, remote, client.Of(s.engine), local, dialed, folder.Local(s.engine)} {
		v := reflect.ValueOf(of)
		for i := range v.NumMethod() {
			args, ok := arguments(v.Method(i).Type())
			if !ok || v.Type().Method(i).Name == "Log" { // no call writes anything that a log could yield
				continue
			}
			ctx, cancel := context.WithCancel(t.Context())
			args[0] = reflect.ValueOf(ctx)
			require.NotPanics(t, func() {
				for range v.Method(i).Call(args)[0].Seq2() {
					yielding++
					cancel()
					break
				}
			}, "%T.%s", of, v.Type().Method(i).Name)
			cancel()
		}
	}
	require.Greater(t, yielding, 20, "iterations that yielded something")
}

// arguments returns arguments for a method that returns an iteration and takes a context first: the id of a run for a text, the first sequence for
// a number.
func arguments(m reflect.Type) (args []reflect.Value, ok bool) {
	if m.NumOut() != 1 || !m.Out(0).CanSeq2() || m.NumIn() == 0 || m.In(0) != reflect.TypeFor[context.Context]() || m.IsVariadic() {
		return nil, false
	}
	for i := range m.NumIn() {
		v := reflect.New(m.In(i)).Elem()
		switch v.Kind() {
		case reflect.String:
			if m.NumIn() == 2 || i == 1 {
				v.SetString("r1")
			}
		case reflect.Uint64:
			v.SetUint(1)
		case reflect.Func:
			return nil, false
		}
		args = append(args, v)
	}
	return args, true
}
