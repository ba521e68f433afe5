package wal

import (
	"encoding/binary"
	"hash/crc32"
)

// Constants of the format, which is that of Pebble's WAL sync chunks.
const (
	blockBytes  = 32 << 10
	headerBytes = 4 + 2 + 1 + 4 + 8
	endBytes    = 4 + 2 + 1 + 4 // of the chunk that ends a log
)

// Kinds of chunks.
const (
	endKind    = 5 // of the chunk that ends a log
	wholeKind  = 9
	firstKind  = 10
	middleKind = 11
	lastKind   = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mixed returns the checksum in the form in which it is stored.
func mixed(sum uint32) uint32 { return (sum>>15 | sum<<17) + 0xa282ead8 }

// appendRecord appends the chunks of a record that begins at an offset in a log, with the zeros that fill a block.
func appendRecord(dst []byte, number uint32, offset, synced int64, record []byte) []byte {
	for first := true; first || len(record) > 0; first = false {
		room := blockBytes - int((offset+int64(len(dst)))%blockBytes)
		part := record[:min(len(record), room-headerBytes)]
		record = record[len(part):]
		kind := byte(middleKind)
		switch last := len(record) == 0; {
		case first && last:
			kind = wholeKind
		case first:
			kind = firstKind
		case last:
			kind = lastKind
		}
		dst = appendChunk(dst, kind, number, synced, part)
		if rest := room - headerBytes - len(part); rest < headerBytes {
			dst = append(dst, make([]byte, rest)...)
		}
	}
	return dst
}

func appendChunk(dst []byte, kind byte, number uint32, synced int64, part []byte) []byte {
	begin := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(part)))
	dst = append(dst, kind)
	dst = binary.LittleEndian.AppendUint32(dst, number)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(synced))
	dst = append(dst, part...)
	binary.LittleEndian.PutUint32(dst[begin:], mixed(crc32.Checksum(dst[begin+6:], castagnoli)))
	return dst
}

// appendEnd appends the chunk that ends a log. There is room for it in each block in which a chunk may begin.
func appendEnd(dst []byte, number uint32) []byte {
	dst = append(dst, 0, 0, 0, 0, 0, 0, endKind)
	return binary.LittleEndian.AppendUint32(dst, number+1)
}
