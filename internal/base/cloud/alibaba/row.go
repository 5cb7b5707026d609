package alibaba

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Tags in the encoding of rows. A row is the header, the cells of the primary key, the other cells, and a
// checksum. A cell is its name, its value and a checksum.
const (
	rowHeader      = 0x75
	tagKey         = 0x01
	tagData        = 0x02
	tagCell        = 0x03
	tagName        = 0x04
	tagValue       = 0x05
	tagKind        = 0x06
	tagTime        = 0x07
	tagDeleted     = 0x08
	tagRowChecksum = 0x09
	tagChecksum    = 0x0A
	valueText      = 0x03
)

// checksum is the CRC-8 of the encoding.
func checksum(crc byte, data ...byte) byte {
	for _, b := range data {
		crc ^= b
		for range 8 {
			high := crc & 0x80
			crc <<= 1
			if high != 0 {
				crc ^= 0x07
			}
		}
	}
	return crc
}

// encoder encodes a row.
type encoder struct {
	out []byte
	sum byte // of the checksums of cells
}

func (e *encoder) cell(name, value string) {
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(value)))
	sum := checksum(0, []byte(name)...)
	sum = checksum(sum, valueText)
	sum = checksum(sum, size...)
	sum = checksum(sum, []byte(value)...)
	e.out = append(e.out, tagCell, tagName)
	e.out = binary.LittleEndian.AppendUint32(e.out, uint32(len(name)))
	e.out = append(append(e.out, name...), tagValue)
	e.out = binary.LittleEndian.AppendUint32(e.out, uint32(len(value)+len(size)+1))
	e.out = append(append(append(e.out, valueText), size...), value...)
	e.out = append(e.out, tagChecksum, sum)
	e.sum = checksum(e.sum, sum)
}

func (e *encoder) key(name, id string) {
	e.out = append(binary.LittleEndian.AppendUint32(nil, rowHeader), tagKey)
	e.cell(name, id)
}

func (e *encoder) end(deleted bool) []byte {
	var mark byte
	if deleted {
		mark = 1
		e.out = append(e.out, tagDeleted)
	}
	return append(e.out, tagRowChecksum, checksum(e.sum, mark))
}

// keyRow returns a row that has a primary key only.
func keyRow(key, id string, deleted bool) []byte {
	var e encoder
	e.key(key, id)
	return e.end(deleted)
}

// putRow returns a row with columns.
func putRow(key, id string, columns map[string]string) []byte {
	var e encoder
	e.key(key, id)
	e.out = append(e.out, tagData)
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		e.cell(name, columns[name])
	}
	return e.end(false)
}

// decoder decodes a row. After an error, it returns zero values.
type decoder struct {
	in  []byte
	bad bool
}

func (d *decoder) take(n uint32) []byte {
	if uint64(n) > uint64(len(d.in)) {
		d.bad, d.in = true, nil
		return nil
	}
	out := d.in[:n]
	d.in = d.in[n:]
	return out
}

func (d *decoder) tag() byte {
	if b := d.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (d *decoder) size() uint32 {
	if b := d.take(4); len(b) == 4 {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// readRow returns the columns of a row that have text, with the primary key.
func readRow(row []byte) (map[string]string, error) {
	d := &decoder{in: row}
	columns := map[string]string{}
	d.bad = d.size() != rowHeader
	for len(d.in) > 0 && !d.bad {
		switch d.tag() {
		case tagKey, tagData, tagDeleted:
		case tagCell:
			d.readCell(columns)
		case tagRowChecksum:
			d.take(1)
		default:
			d.bad = true
		}
	}
	if d.bad {
		return nil, errAnswer
	}
	return columns, nil
}

// readCell reads the rest of a cell into columns.
func (d *decoder) readCell(columns map[string]string) {
	name := ""
	for {
		switch d.tag() {
		case tagName:
			name = string(d.take(d.size()))
		case tagValue:
			value := &decoder{in: d.take(d.size())}
			if value.tag() == valueText {
				columns[name] = string(value.take(value.size()))
			}
			d.bad = d.bad || value.bad
		case tagKind:
			d.take(1)
		case tagTime:
			d.take(8)
		case tagChecksum:
			d.take(1)
			return
		default:
			d.bad = true
			return
		}
	}
}
