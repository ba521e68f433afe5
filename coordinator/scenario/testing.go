package scenario

// T is the part of *testing.T that Run uses. It keeps package testing out of programs that load and run scenarios without tests.
type T[S any] interface {
	Helper()                                  // as testing.T.Helper
	Fatalf(format string, args ...any)        // as testing.T.Fatalf
	Errorf(format string, args ...any)        // as testing.T.Errorf
	Run(name string, f func(S)) (passed bool) // as testing.T.Run
}

// Run is for Go tests. It runs each scenario in files and folders as a subtest with the name of the scenario, first without crashes
// and then with them. Load describes the paths.
//
//	func TestOrders(t *testing.T) { scenario.Run(t, "testdata/orders.yaml") }
func Run[S T[S]](t S, paths ...string) {
	t.Helper()
	RunWith(t, Options{}, paths...)
}

// RunWith is Run with options.
func RunWith[S T[S]](t S, o Options, paths ...string) {
	t.Helper()
	scenarios, err := Load(paths...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, s := range scenarios {
		t.Run(s.Name, func(t S) {
			t.Helper()
			for _, o.Crash = range []bool{false, true} {
				if r := s.Run(o); !r.Passed {
					t.Errorf("crash: %v\n%s", o.Crash, r)
				}
			}
		})
	}
}
