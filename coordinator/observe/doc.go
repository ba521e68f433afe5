// Package observe shows a run to programs that compose streams or derive values: its updates as an rxgo Observable, and its
// steps as signals.
//
//	for item := range observe.Each(ctx, run, 1, func(_ context.Context, updates rxgo.Observable) rxgo.Observable {
//		return updates.Filter(failed).Take(3)
//	}) {
//		fmt.Println(item.V)
//	}
//
//	err := observe.Live(ctx, run, func(s *live.Signals) error {
//		_, err := s.Graph().Effect(func(r signals.Reader) error {
//			status, err := s.Step("pay").Status.Get(r)
//			fmt.Println("pay is", status)
//			return err
//		})
//		return err
//	})
//
// Both are what Run.Watch yields and nothing else: they read the journal, so every observer sees every event once and in
// order, from any sequence on, and none of them can slow the run, however slow it is itself. That is the whole backpressure:
// what an observer has not taken yet waits in the journal, and not in memory.
package observe
