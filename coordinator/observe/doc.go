// Package observe presents a run to programs that compose streams or derive values: its updates as an rxgo Observable, and its
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
// Both present exactly the updates of Run.Watch: they read the journal, so every observer sees every event once and in order,
// from any sequence on, and no observer slows the run, even if the observer is slow. Backpressure needs no buffer: updates that an
// observer has not taken wait in the journal, not in memory.
package observe
