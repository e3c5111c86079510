package feishu

import (
	"encoding/binary"
	"errors"
)

// Frame is one message of the long connection, a protobuf:
//
//	1 SeqID, 2 LogID uint64; 3 Service, 4 Method int32; 5 Headers, each 1 Key, 2 Value; 6 Encoding, 7 Kind string; 8 Payload bytes; 9 LogIDNew string
type Frame struct {
	SeqID, LogID    uint64
	Service, Method int32 // method 0 is control, 1 is data
	Headers         []Header
	Encoding, Kind  string
	Payload         []byte
	LogIDNew        string
}

// Header is a name and a value of a frame.
type Header struct{ Key, Value string }

// Get returns the value of a header, "" when there is none.
func (f *Frame) Get(key string) string {
	for _, h := range f.Headers {
		if h.Key == key {
			return h.Value
		}
	}
	return ""
}

// Bytes encodes a frame. The numbers are always there, as the platform's own programs write them.
func (f *Frame) Bytes() []byte {
	b := number(nil, 1, f.SeqID)
	b = number(b, 2, f.LogID)
	b = number(b, 3, uint64(int64(f.Service)))
	b = number(b, 4, uint64(int64(f.Method)))
	for _, h := range f.Headers {
		b = bytesField(b, 5, bytesField(bytesField(nil, 1, []byte(h.Key)), 2, []byte(h.Value)))
	}
	for _, s := range []struct {
		field uint64
		text  string
	}{{6, f.Encoding}, {7, f.Kind}, {8, string(f.Payload)}, {9, f.LogIDNew}} {
		if s.text != "" {
			b = bytesField(b, s.field, []byte(s.text))
		}
	}
	return b
}

func number(b []byte, field, n uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, field<<3), n)
}

func bytesField(b []byte, field uint64, data []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, field<<3|2), uint64(len(data)))
	return append(b, data...)
}

var errFrame = errors.New("not a frame")

// maxHeaders bounds the headers of a frame.
const maxHeaders = 64

// ParseFrame decodes a frame. Fields that it does not know are passed over.
func ParseFrame(b []byte) (*Frame, error) {
	f := &Frame{}
	err := fieldsOf(b, func(field, n uint64, data []byte) error {
		switch field {
		case 1:
			f.SeqID = n
		case 2:
			f.LogID = n
		case 3:
			f.Service = int32(n)
		case 4:
			f.Method = int32(n)
		case 5:
			h, err := parseHeader(data)
			if err != nil || len(f.Headers) == maxHeaders {
				return errFrame
			}
			f.Headers = append(f.Headers, h)
		case 6:
			f.Encoding = string(data)
		case 7:
			f.Kind = string(data)
		case 8:
			f.Payload = append([]byte(nil), data...)
		case 9:
			f.LogIDNew = string(data)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func parseHeader(b []byte) (h Header, err error) {
	err = fieldsOf(b, func(field, _ uint64, data []byte) error {
		switch field {
		case 1:
			h.Key = string(data)
		case 2:
			h.Value = string(data)
		}
		return nil
	})
	return h, err
}

// fieldsOf visits the fields of a protobuf message: n for numbers, data for all that has a length. What has
// another kind than is expected reads as 0 or as empty.
func fieldsOf(b []byte, visit func(field, n uint64, data []byte) error) error {
	for len(b) > 0 {
		tag, size := binary.Uvarint(b)
		if size <= 0 || tag>>3 == 0 {
			return errFrame
		}
		b = b[size:]
		var n uint64
		data := []byte(nil)
		switch tag & 7 {
		case 0:
			if n, size = binary.Uvarint(b); size <= 0 {
				return errFrame
			}
			b = b[size:]
		case 1, 5:
			if size = 8; tag&7 == 5 {
				size = 4
			}
			if len(b) < size {
				return errFrame
			}
			b = b[size:]
			continue
		case 2:
			if n, size = binary.Uvarint(b); size <= 0 || n > uint64(len(b)-size) {
				return errFrame
			}
			data, b = b[size:size+int(n)], b[size+int(n):]
			n = 0
		default:
			return errFrame
		}
		if err := visit(tag>>3, n, data); err != nil {
			return err
		}
	}
	return nil
}
