// A field for a row in Bubble Tea: each row is answered below it. `field [LOG SECONDS]`.
//
// With a log it draws a frame at most every so often. A row of the log is a frame: when it began, its bytes, and how many
// characters typed so far it shows, which stands in the frame itself.
package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/sys/unix"
)

type field struct {
	input    textinput.Model
	answers  int
	last     string
	isLogged bool
	emptied  int
}

func (f field) Init() tea.Cmd { return textinput.Blink }

func (f field) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := message.(tea.KeyMsg); ok && key.Type == tea.KeyEnter {
		f.answers++
		f.last = f.input.Value()
		f.emptied += len(f.last)
		f.input.Reset()
		return f, nil
	}
	var command tea.Cmd
	f.input, command = f.input.Update(message)
	return f, command
}

func (f field) View() string {
	view := fmt.Sprintf("%s\n\nanswer %d to %s $\n", f.input.View(), f.answers, f.last)
	if f.isLogged {
		view += fmt.Sprintf("typed %d $\n", f.emptied+len(f.input.Value()))
	}
	return view
}

// A terminal that logs each frame.
type logged struct {
	*os.File
	log *os.File
}

var typed = regexp.MustCompile(`typed (\d+) \$`)

func (l logged) Write(data []byte) (int, error) {
	var since unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &since)
	if found := typed.FindSubmatch(data); found != nil {
		fmt.Fprintf(l.log, `{"since": %d, "typed": %s, "bytes": %d}`+"\n", since.Nano(), found[1], len(data))
	}
	return l.File.Write(data)
}

func main() {
	var options []tea.ProgramOption
	if len(os.Args) > 2 {
		log, err := os.Create(os.Args[1])
		if err != nil {
			panic(err)
		}
		seconds, _ := strconv.ParseFloat(os.Args[2], 64)
		options = append(options, tea.WithOutput(logged{os.Stdout, log}), tea.WithFPS(int(1/seconds)))
	}
	input := textinput.New()
	input.Focus()
	if _, err := tea.NewProgram(field{input: input, isLogged: len(options) > 0}, options...).Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
