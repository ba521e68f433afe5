package view

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
)

// frameInterval is the time between two drawings of the tree.
const frameInterval = 50 * time.Millisecond

// The default size of a terminal.
const (
	widthDefault  = 80
	heightDefault = 24
)

// liveView draws the run's tree on a terminal, once per frame. Updates only change the tree and draw nothing, so a run of many steps costs
// no more to show than a short run.
type liveView struct {
	file       *os.File
	run        *Run
	interrupts Interrupts
	program    *tea.Program
	over       chan struct{} // closed when the program has ended

	mu     sync.Mutex
	tree   *progress.Tree
	remark string
}

// startLiveView returns a live view, which controls the terminal until End.
func startLiveView(file *os.File, r *Run, interrupts Interrupts) *liveView {
	v := &liveView{file: file, run: r, interrupts: interrupts, tree: progress.New(r.Workflow), over: make(chan struct{})}
	v.program = tea.NewProgram(&screen{view: v}, tea.WithOutput(file), tea.WithoutSignalHandler(), tea.WithFPS(int(time.Second/frameInterval)))
	go func() {
		defer close(v.over)
		// If the screen fails, the run continues, and End shows the result.
		_, _ = v.program.Run()
	}()
	interrupts.BeforeExit(func() {
		v.program.Kill()
		<-v.over
	})
	return v
}

func (v *liveView) Update(u *coordinator.Update, _ bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tree.Apply(u)
}

func (v *liveView) Stopping(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.remark = what
}

// Note prints above the tree.
func (v *liveView) Note(text string) { v.program.Println(strings.TrimRight(text, "\n")) }

// End restores the terminal, and prints the last tree and the end of the run. The tree is no higher than the terminal, so its first line
// stays visible.
func (v *liveView) End(e Summary) {
	v.program.Send(endMsg{})
	<-v.over
	width, height, err := term.GetSize(v.file.Fd())
	if err != nil || width <= 0 || height <= 0 {
		width, height = widthDefault, heightDefault
	}
	w := colorprofile.NewWriter(v.file, os.Environ())
	fmt.Fprintln(w, v.tree.Draw(progress.Frame{
		Width: width, Height: height - 1, Now: time.Now().UnixNano(), Paint: colours,
	}))
	if e.Result != nil {
		summarize(w, v.tree, e.Result, v.run.hasOutput(e.Result), colours)
	}
}

func (v *liveView) draw(s *screen) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.tree.Draw(progress.Frame{
		Width: s.width, Height: s.height - 1, Now: time.Now().UnixNano(), Tick: s.frames, Note: v.remark, Paint: colours,
		Hints: v.run.hints(v.tree),
	})
}

// screen is the model of the terminal program.
type screen struct {
	view          *liveView
	width, height int
	frames        int
	ended         bool
}

type (
	frameMsg time.Time
	endMsg   struct{}
)

func nextFrame() tea.Cmd {
	return tea.Tick(frameInterval, func(t time.Time) tea.Msg { return frameMsg(t) })
}

// Init requests the first frame.
func (s *screen) Init() tea.Cmd { return nextFrame() }

// Update handles keys, sizes, ticks of frames, and the end.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case frameMsg:
		s.frames++
		return s, nextFrame()
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
		if s.width <= 0 || s.height <= 0 {
			s.width, s.height = widthDefault, heightDefault
		}
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c":
			s.view.interrupts.Press()
		case "ctrl+z":
			return s, tea.Suspend
		}
	case endMsg:
		s.ended = true
		return s, tea.Quit
	}
	return s, nil
}

// View returns the tree; at the end it is empty, because End prints the last tree.
func (s *screen) View() tea.View {
	if s.ended || s.width == 0 {
		return tea.NewView("")
	}
	return tea.NewView(s.view.draw(s))
}

// styles holds the styles of words. They use the terminal's own sixteen colours, which are readable on its background.
var styles = [...]ansi.Style{
	progress.Idle:      nil,
	progress.Waiting:   ansi.Style{}.Faint(),
	progress.Ready:     nil,
	progress.Running:   ansi.Style{}.ForegroundColor(ansi.Cyan),
	progress.Retrying:  ansi.Style{}.ForegroundColor(ansi.Yellow),
	progress.Completed: ansi.Style{}.ForegroundColor(ansi.Green),
	progress.Failed:    ansi.Style{}.ForegroundColor(ansi.Red),
	progress.Aborted:   ansi.Style{}.ForegroundColor(ansi.Magenta),
	progress.Skipped:   ansi.Style{}.Faint(),
}

// colours returns the text in the style of a word; the writer drops styles that the terminal cannot show, and all styles under NO_COLOR.
func colours(w progress.Word, text string) string { return styles[w].Styled(text) }
