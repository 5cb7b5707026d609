package encryption

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// Limits of external programs: their output and the shown part of their standard error, in bytes, and how
// long a program that was asked to end may take.
const (
	maxOutput   = 4 << 30
	maxProblem  = 4 << 10
	patienceEnd = 5 * time.Second
)

// command is a program that speaks a protocol: it writes a line of JSON with its magic word, reads a document
// and writes one.
//
//	program → {"magic":"OpenTofu-External-Key-Provider","version":1}
//	program ← null
//	program → {"keys":{"encryption_key":"…","decryption_key":"…"},"meta":{…}}
type command struct {
	argv  []string
	env   []string
	magic string
}

// newCommand returns the program that an argument names, with its arguments. magic must be in the program's
// first message.
func newCommand(a arguments, name, magic string, o Options) (command, error) {
	c := command{a.list(name), o.Env, magic}
	if len(c.argv) == 0 || c.argv[0] == "" {
		return c, fmt.Errorf("%s must have the name of a program and its arguments", name)
	}
	return c, nil
}

// errProtocol means that a program is not one of the right kind.
var errProtocol = errors.New("it does not speak the protocol")

// run sends in and decodes the answer into out. If the program fails, the error has its standard error, but
// neither its input nor its answer.
func (c command) run(ctx context.Context, in, out any) error {
	input, err := json.Marshal(in)
	if err != nil {
		return err
	}
	defer clear(input)
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.WaitDelay, cmd.Stdin = trace.Environ(ctx, c.env), patienceEnd, bytes.NewReader(input)
	answer, problem := &limited{left: maxOutput}, &limited{left: maxProblem, quiet: true}
	cmd.Stdout, cmd.Stderr = answer, problem
	err = cmd.Run()
	defer func() { clear(answer.Bytes()) }()
	if err == nil {
		err = c.decode(answer.Bytes(), out)
	}
	if err != nil {
		text := strings.TrimSpace(problem.String())
		if text != "" {
			text = ". It writes: " + text
		}
		return fmt.Errorf("the program %s failed: %w%s", c.argv[0], err, text)
	}
	return nil
}

// decode checks the first line of an answer and decodes the rest into out. Its errors do not quote the
// answer.
func (c command) decode(answer []byte, out any) error {
	line, rest, _ := bytes.Cut(answer, []byte{'\n'})
	var head struct {
		Magic   string `json:"magic"`
		Version int    `json:"version"`
	}
	switch err := json.Unmarshal(line, &head); {
	case err != nil || head.Magic != c.magic:
		return fmt.Errorf("%w: its first line is not {\"magic\":%q,\"version\":1}", errProtocol, c.magic)
	case head.Version != 1:
		return fmt.Errorf("%w: it has version %d, and only version 1 is known", errProtocol, head.Version)
	}
	if err := json.Unmarshal(rest, out); err != nil {
		return fmt.Errorf("%w: what follows its first line is not the expected JSON document", errProtocol)
	}
	return nil
}

// limited is a buffer that takes a limited number of bytes. More are an error, or dropped if it is quiet.
type limited struct {
	bytes.Buffer
	left  int
	quiet bool
}

// Write implements io.Writer.
func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	l.Buffer.Write(b[:n])
	if n < len(b) && !l.quiet {
		return n, io.ErrShortWrite
	}
	return len(b), nil
}

// externalKeys is a key provider in a program.
type externalKeys struct{ command }

// keysAnswer is the program's output.
type keysAnswer struct {
	Keys struct {
		Encryption []byte `json:"encryption_key"`
		Decryption []byte `json:"decryption_key"`
	} `json:"keys"`
	Meta json.RawMessage `json:"meta"`
}

// openExternalKeys makes the key provider "external". The program gets the stored metadata, or null for a
// new key.
func openExternalKeys(_ context.Context, a arguments, o Options) (keyProvider, error) {
	c, err := newCommand(a, "command", "OpenTofu-External-Key-Provider", o)
	return externalKeys{c}, err
}

// encryption asks the program for a new key. The metadata that it gives with the key is stored as it is.
func (e externalKeys) encryption(ctx context.Context, _ [][]byte) (key, meta []byte, err error) {
	var out keysAnswer
	if err := e.run(ctx, nil, &out); err != nil {
		return nil, nil, err
	}
	if len(out.Keys.Encryption) == 0 {
		return nil, nil, fmt.Errorf("the program %s gives no encryption_key", e.argv[0])
	}
	var compact bytes.Buffer
	if out.Meta != nil {
		err = json.Compact(&compact, out.Meta)
	} else {
		compact.Write(noMeta)
	}
	return out.Keys.Encryption, compact.Bytes(), err
}

// decryption gives the program the metadata that it once gave, and takes the key for them. The key to
// encrypt with, which comes along, is erased.
func (e externalKeys) decryption(ctx context.Context, _ [][]byte, meta []byte) ([]byte, error) {
	if !json.Valid(meta) {
		return nil, fmt.Errorf("%w: the metadata of the key is not what a program wrote", ErrDamaged)
	}
	var out keysAnswer
	if err := e.run(ctx, json.RawMessage(meta), &out); err != nil {
		return nil, err
	}
	clear(out.Keys.Encryption)
	if len(out.Keys.Decryption) == 0 {
		return nil, fmt.Errorf("the program %s gives no decryption_key", e.argv[0])
	}
	return out.Keys.Decryption, nil
}

// externalBox is a method in two programs.
type externalBox struct {
	ctx              context.Context
	key              []byte // nil for none
	encrypt, decrypt command
}

// payload is the input and the output of the programs.
type payload struct {
	Key     []byte `json:"key,omitempty"`
	Payload []byte `json:"payload"`
}

// openExternal makes the method "external". The program gets the key, if there is one, with every file.
func openExternal(ctx context.Context, a arguments, o Options) (boxes, error) {
	const magic = "OpenTofu-External-Encryption-Method"
	encrypt, err1 := newCommand(a, "encrypt_command", magic, o)
	decrypt, err2 := newCommand(a, "decrypt_command", magic, o)
	return func(key []byte) (box, error) {
		return &externalBox{ctx, append([]byte(nil), key...), encrypt, decrypt}, nil
	}, errors.Join(err1, err2)
}

func (e *externalBox) seal(plain []byte) ([]byte, error) { return e.run(e.encrypt, plain) }

// open cannot tell why a program failed, so that every failure is reported as one.
func (e *externalBox) open(data []byte) ([]byte, error) { return e.run(e.decrypt, data) }

// run has a program convert b.
func (e *externalBox) run(c command, b []byte) ([]byte, error) {
	var out payload
	if err := c.run(e.ctx, payload{e.key, b}, &out); err != nil {
		return nil, err
	}
	if out.Payload == nil {
		return nil, fmt.Errorf("the program %s gives no payload", c.argv[0])
	}
	return out.Payload, nil
}
