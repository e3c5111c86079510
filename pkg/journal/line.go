package journal

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// MaxLine bounds one line, its checksum and LF among it.
const MaxLine = 4 << 20

const (
	crcKey = `,"crc":"` // then eight hex digits, `"}`
	crcLen = len(crcKey) + 8 + 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal adds the checksum of a JSON object as its last key: eight hex digits, CRC-32C of the object as it was. The object must not be empty.
func Seal(object []byte) []byte {
	sum := crc32.Checksum(object, castagnoli)
	return fmt.Appendf(object[:len(object)-1:len(object)-1], "%s%08x\"}", crcKey, sum)
}

// Check reports whether a line (without its LF) carries its own checksum.
func Check(line []byte) bool {
	cut := len(line) - crcLen
	if cut < 1 || !bytes.HasPrefix(line[cut:], []byte(crcKey)) || string(line[len(line)-2:]) != `"}` {
		return false
	}
	sum := crc32.Checksum(line[:cut], castagnoli)
	sum = crc32.Update(sum, castagnoli, []byte{'}'})
	return string(line[cut+len(crcKey):len(line)-2]) == fmt.Sprintf("%08x", sum)
}
