// A field for a row in Bubble Tea: each row is answered below it.
package main

import (
	"fmt"
	"os"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
)

type field struct {
	input   textinput.Model
	answers int
	last    string
}

func (f field) Init() tea.Cmd { return textinput.Blink }

func (f field) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := message.(tea.KeyMsg); ok && key.Type == tea.KeyEnter {
		f.answers++
		f.last = f.input.Value()
		f.input.Reset()
		return f, nil
	}
	var command tea.Cmd
	f.input, command = f.input.Update(message)
	return f, command
}

func (f field) View() string {
	return fmt.Sprintf("%s\n\nanswer %d to %s $\n", f.input.View(), f.answers, f.last)
}

func main() {
	input := textinput.New()
	input.Focus()
	if _, err := tea.NewProgram(field{input: input}).Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
