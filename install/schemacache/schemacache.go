// Package schemacache keeps the schemas of installed providers on disk, so that the next command need not
// have the provider make them again.
//
// A file belongs to the checksum of a package and the switches in its environment: other content is another
// name. It is only ever a shortcut. Whatever is not as it should be (no directory for it, a file that others
// could have written, a damaged one) is passed over in silence, and the provider is asked.
//
// It imports nothing of this module. It must not know what schemas look like.
package schemacache

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// EnvDir is the environment variable that names the directory of the cache. "off" stands for none.
const EnvDir = "MAYFLY_SCHEMA_CACHE"

// The bounds of the cache, in bytes.
const (
	maxFile  = 256 << 20
	maxTotal = 1 << 30
)

const (
	magic  = "mayfly provider schema 2\n"
	suffix = ".schema"
	header = len(magic) + 13 // the version of the protocol, the length of the content and its checksum follow the magic
)

// staleAfter is how old a temporary file must be to be taken for what a killed process has left.
const staleAfter = time.Hour

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Cache is a directory with schemas. Its methods may be called concurrently, by several processes too.
type Cache struct {
	dir      string
	maxFile  int64
	maxTotal int64
}

// Open returns the cache that the environment asks for: in the directory of EnvDir, or in the user's cache
// directory. It returns nil, which is a cache without content, if there shall be none or the user has no such
// directory. Nothing is written until something is saved.
func Open(env map[string]string) *Cache {
	dir := env[EnvDir]
	if dir == "off" {
		return nil
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		dir = filepath.Join(base, "mayfly", "schemas")
	}
	return &Cache{dir: dir, maxFile: maxFile, maxTotal: maxTotal}
}

// For returns the entry of the package with a checksum, when its program runs in an environment; nil for a
// package that has none, such as a development build.
func (c *Cache) For(checksum string, environ []string) *Entry {
	if c == nil || checksum == "" {
		return nil
	}
	key := append([]string{checksum, runtime.GOOS, runtime.GOARCH}, switches(environ)...)
	sum := sha256.Sum256([]byte(strings.Join(key, "\n")))
	return &Entry{c: c, path: filepath.Join(c.dir, hex.EncodeToString(sum[:])+suffix)}
}

// switches are the variables that are true or false, in any of the usual words, of which some providers have
// one for schemas to come, such as ARM_FIVEPOINTZERO_BETA. Those of the engine are for no provider, and how
// deep shells are nested is no switch.
func switches(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, text, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "TF_") || name == "SHLVL" {
			continue
		}
		switch value := strings.ToLower(text); value {
		case "true", "false", "1", "0", "yes", "no", "on", "off":
			out = append(out, name+"="+value)
		}
	}
	slices.Sort(out)
	return out
}

// Entry is the schema of one package. Its methods may be called concurrently.
type Entry struct {
	c    *Cache
	path string
}

// Load returns what was saved for a version of the protocol, or nil.
func (e *Entry) Load(protocol int) []byte {
	dir, err := os.Stat(e.c.dir)
	if err != nil || !trusted(dir) {
		return nil
	}
	f, err := os.OpenFile(e.path, os.O_RDONLY|plain, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || !trusted(info) || info.Size() > e.c.maxFile || info.Size() < int64(header) {
		return nil
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil
	}
	content := b[header:]
	if !bytes.Equal(b[:header], heading(protocol, content)) {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(e.path, now, now) // the oldest go first when room is needed; if this fails, it goes a little earlier
	return content
}

func heading(protocol int, content []byte) []byte {
	b := append(append(make([]byte, 0, header), magic...), byte(protocol))
	b = binary.BigEndian.AppendUint64(b, uint64(len(content)))
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(content, castagnoli))
}

// Save keeps content for the next Load, if it can. Readers see all of it or nothing.
func (e *Entry) Save(protocol int, content []byte) {
	if int64(len(content)+header) > e.c.maxFile || os.MkdirAll(e.c.dir, 0o700) != nil {
		return
	}
	if dir, err := os.Stat(e.c.dir); err != nil || !trusted(dir) {
		return
	}
	f, err := os.CreateTemp(e.c.dir, "new-*")
	if err != nil {
		return
	}
	_, err1 := f.Write(heading(protocol, content))
	_, err2 := f.Write(content)
	if err := cmp.Or(err1, err2, f.Close()); err != nil || os.Rename(f.Name(), e.path) != nil {
		_ = os.Remove(f.Name()) // what is left of it is removed by a later call
		return
	}
	e.c.trim()
}

// trim removes the files that were not used for the longest time until the rest is within the bounds, and
// what killed processes have left.
func (c *Cache) trim() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, entry := range entries {
		info, err := entry.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasSuffix(info.Name(), suffix):
			files = append(files, info)
			total += info.Size()
		case strings.HasPrefix(info.Name(), "new-") && time.Since(info.ModTime()) > staleAfter:
			_ = os.Remove(filepath.Join(c.dir, info.Name()))
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= c.maxTotal {
			return
		}
		if os.Remove(filepath.Join(c.dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}
