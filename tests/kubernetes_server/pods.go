package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"

	"github.com/creack/pty"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// pods is a container runtime whose containers are processes of this machine. A pod's own shell starts with the first attach.
type pods struct {
	lock   sync.Mutex
	shells map[string]*program
}

// Exec runs a command until it ends. As in containerd (internal/cri/server/container_execsync.go) nothing happens to it when
// its client is gone: it is neither hung up nor killed, and its output is not read any more.
func (p *pods) Exec(_ context.Context, _ string, args []string, in io.Reader, out, _ io.WriteCloser, tty bool, sizes <-chan remotecommand.TerminalSize) error {
	if len(args) == 0 || !tty {
		return errors.New("here only commands on a terminal are run")
	}
	command := exec.Command(args[0], args[1:]...)
	started, err := start(command, out)
	if err != nil {
		return err
	}
	defer started.terminal.Close() // only then is its program hung up
	go started.typeKeys(in)
	go started.resize(sizes)
	<-started.ended
	return status(command.Wait())
}

// Attach joins a client to a pod's own shell, until the client goes or the shell ends.
func (p *pods) Attach(_ context.Context, pod string, in io.Reader, out, _ io.WriteCloser, _ bool, sizes <-chan remotecommand.TerminalSize) error {
	shell, err := p.shell(pod)
	if err != nil {
		return err
	}
	shell.show(out)
	go shell.resize(sizes)
	gone := make(chan struct{})
	if in != nil {
		go func() { shell.typeKeys(in); close(gone) }()
	}
	select {
	case <-gone:
	case <-shell.ended:
	}
	return nil
}

func (*pods) PortForward(context.Context, string, int32, io.ReadWriteCloser) error {
	return errors.New("ports are not forwarded here")
}

// shell gives a pod's own shell, a new one after the last has ended; its output is read even while no client is attached.
func (p *pods) shell(pod string) (*program, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if shell := p.shells[pod]; shell != nil {
		return shell, nil
	}
	command := exec.Command("bash", "--norc", "--noprofile")
	shell, err := start(command, io.Discard)
	if err != nil {
		return nil, err
	}
	p.shells[pod] = shell
	go func() {
		<-shell.ended
		p.lock.Lock()
		defer p.lock.Unlock()
		command.Wait()
		delete(p.shells, pod)
	}()
	return shell, nil
}

// program is a command on a terminal of its own.
type program struct {
	terminal *os.File
	ended    chan struct{} // closed when its terminal is, or when its output is not read any more
	lock     sync.Mutex
	readers  []io.Writer
}

func start(command *exec.Cmd, reader io.Writer) (*program, error) {
	command.Env = append(os.Environ(), "TERM=xterm", "PS1=$ ")
	terminal, err := pty.Start(command)
	if err != nil {
		return nil, err
	}
	started := &program{terminal: terminal, ended: make(chan struct{}), readers: []io.Writer{reader}}
	go func() {
		defer close(started.ended)
		io.Copy(started, terminal)
	}()
	return started, nil
}

// Write shows all readers what the program printed; it fails when the last of them is gone.
func (p *program) Write(text []byte) (int, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.readers = slices.DeleteFunc(p.readers, func(reader io.Writer) bool {
		_, err := reader.Write(text)
		return err != nil
	})
	if len(p.readers) == 0 {
		return 0, io.ErrClosedPipe
	}
	return len(text), nil
}

func (p *program) show(reader io.Writer) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.readers = append(p.readers, reader)
}

func (p *program) typeKeys(keys io.Reader) {
	if keys != nil {
		io.Copy(p.terminal, keys)
	}
}

func (p *program) resize(sizes <-chan remotecommand.TerminalSize) {
	for size := range sizes {
		pty.Setsize(p.terminal, &pty.Winsize{Rows: size.Height, Cols: size.Width})
	}
}

// status makes an exit code what the streaming server tells as one.
func status(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}
