package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// AppendRecord appends r: its fixed part, the length of its text in four bytes,
// its text.
func AppendRecord(b []byte, r *Record) []byte {
	at := len(b)
	b = append(b, make([]byte, Size)...)
	r.Put(b[at:])
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Text)))
	return append(b, r.Text...)
}

// EachRecord hands the records in b to sink, all or up to the first that is none.
func EachRecord(b []byte, sink Sink) error {
	for len(b) > 0 {
		var r Record
		if err := r.Get(b); err != nil {
			return err
		}
		b = b[Size:]
		if len(b) < 4 {
			return errors.New("trace record: the length of its text is cut off")
		}
		size := binary.LittleEndian.Uint32(b)
		if b = b[4:]; uint64(size) > uint64(len(b)) {
			return fmt.Errorf("trace record: a text of %d bytes, of which %d are there", size, len(b))
		}
		r.Text, b = string(b[:size]), b[size:]
		sink.Record(&r)
	}
	return nil
}
