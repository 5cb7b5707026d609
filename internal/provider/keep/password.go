package keep

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// The bounds and defaults of keep_password, in characters. The special characters leave out quotes,
// backslashes and others that need escaping in many places.
const (
	maxPasswordLength     = 4096
	defaultPasswordLength = 24
	defaultSpecial        = "!@#$%&*()-_=+[]{}<>:?"
)

// class is a set of characters that a password uses.
type class struct {
	name    string
	enabled bool
	chars   []rune
	min     int64 // minimum number
}

// recipe describes how to make a password.
type recipe struct {
	length  int64
	classes []class
}

// prepare drops excluded and repeated characters, which would bias the choice, and checks that the recipe
// can be followed.
func (r *recipe) prepare(exclude string) error {
	if r.length < 1 || r.length > maxPasswordLength {
		return fmt.Errorf("length must be between 1 and %d", maxPasswordLength)
	}
	var needed int64
	taken := map[rune]bool{}
	for i := range r.classes {
		c := &r.classes[i]
		switch {
		case c.min < 0 || c.min > maxPasswordLength:
			return fmt.Errorf("min_%s must be between 0 and %d", c.name, maxPasswordLength)
		case !c.enabled && c.min > 0:
			return fmt.Errorf("min_%s asks for characters that %s = false rules out", c.name, c.name)
		}
		needed += c.min
		c.chars = slices.DeleteFunc(slices.Clone(c.chars), func(ch rune) bool {
			drop := !c.enabled || taken[ch] || strings.ContainsRune(exclude, ch)
			taken[ch] = taken[ch] || !drop
			return drop
		})
		if c.min > 0 && len(c.chars) == 0 {
			return fmt.Errorf("min_%s asks for characters that are all excluded", c.name)
		}
	}
	if needed > r.length {
		return errors.New("the minimums add up to more characters than length")
	}
	if !slices.ContainsFunc(r.classes, func(c class) bool { return len(c.chars) > 0 }) {
		return errors.New("no characters are left to choose from: enable a class, or exclude less")
	}
	return nil
}

// generate draws the required characters, fills up from all classes and shuffles. Every choice is uniform.
func (r *recipe) generate() (string, error) {
	var all []rune
	out := make([]rune, 0, r.length)
	defer func() { clear(out) }()
	for _, c := range r.classes {
		all = append(all, c.chars...)
		for range c.min {
			ch, err := pick(c.chars)
			if err != nil {
				return "", err
			}
			out = append(out, ch)
		}
	}
	for int64(len(out)) < r.length {
		ch, err := pick(all)
		if err != nil {
			return "", err
		}
		out = append(out, ch)
	}
	for i := len(out) - 1; i > 0; i-- {
		j, err := below(i + 1)
		if err != nil {
			return "", err
		}
		out[i], out[j] = out[j], out[i]
	}
	return string(out), nil
}

// pick draws one of the characters uniformly; there must be at least one.
func pick(from []rune) (rune, error) {
	i, err := below(len(from))
	if err != nil {
		return 0, err
	}
	return from[i], nil
}

// below draws uniformly from 0 to n-1.
func below(n int) (int, error) {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		return 0, err
	}
	return int(i.Int64()), nil
}
