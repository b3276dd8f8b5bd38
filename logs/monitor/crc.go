package monitor

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc returns the masked checksum of TFRecord.
func crc(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}
