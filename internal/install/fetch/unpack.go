package fetch

import (
	"archive/tar"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-getter/v2"
)

// whole are the formats of archives that are compressed as a whole, with the format of their compression.
var whole = map[string]string{
	"tar.bz2": "bz2", "tbz2": "bz2", "tar.gz": "gz", "tgz": "gz", "tar.xz": "xz", "txz": "xz", "tar.zst": "zst", "tzst": "zst",
}

// unpack unpacks an archive into dir. One that has too many files or too much in it is refused before
// anything is written: writing up to the limit would take longer than all the rest.
func (c *Client) unpack(format, file, dir string) error {
	compression := whole[format]
	if compression == "xz" || compression == "zst" { // which the standard library cannot read
		plain := file + ".tar"
		defer os.Remove(plain)
		if err := c.decompress(compression, file, plain); err != nil {
			return err
		}
		format, compression, file = "tar", "", plain
	}
	if format == "tar" || compression != "" {
		if err := c.measure(compression, file); err != nil {
			return err
		}
	}
	return c.decompressors()[format].Decompress(dir, file, true, 0)
}

// headers bounds the metadata of each file in an archive, in bytes.
const headers = 4 << 10

// decompress writes the decompressed content of a file to another one.
func (c *Client) decompress(compression, file, to string) error {
	limit := c.limits.Unpacked + int64(c.limits.Files)*headers
	return getter.LimitedDecompressors(0, limit)[compression].Decompress(to, file, false, 0)
}

// measure reads through a tar archive and returns an error if it exceeds the limits.
func (c *Client) measure(compression, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var plain io.Reader = f
	switch compression {
	case "gz":
		if plain, err = gzip.NewReader(f); err != nil {
			return err
		}
	case "bz2":
		plain = bzip2.NewReader(f)
	}
	left := c.limits.Unpacked
	archive := tar.NewReader(plain)
	for n := 0; ; n++ {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n >= c.limits.Files:
			return fmt.Errorf("it is larger than the limit: it has more than %d files and directories", c.limits.Files)
		}
		if left -= header.Size; left < 0 {
			return fmt.Errorf("it is larger than the limit: it unpacks to more than %d bytes", c.limits.Unpacked)
		}
	}
}
