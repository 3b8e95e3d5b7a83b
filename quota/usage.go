package quota

import (
	"encoding/json"
	"time"
)

// Usage is what a tenant has used over some time. Its JSON form has milliseconds
// of CPU, seconds of streams and hours of bytes.
type Usage struct {
	Requests     int64
	RowsRead     int64         // answered to requests and streams
	RowsWritten  int64         // written or deleted
	BytesRead    int64         // of answers
	BytesWritten int64         // of what was written
	CPU          time.Duration // spent on requests
	Streams      time.Duration // that subscriptions were open, all added up
	ByteSeconds  int64         // bytes held, times the seconds they were
}

// What the parts of a cost weigh: one unit is a millisecond of CPU. The others
// are about what they take of a disk or a network card of middling speed.
const (
	writtenPerUnit     = 64 << 10 // bytes
	readPerUnit        = 1 << 20  // bytes
	streamPerUnit      = 10 * time.Second
	byteSecondsPerUnit = (1 << 30) * 60 // a GiB for a minute
)

// Cost weighs the usage into one number, by which tenants are ranked. It is a
// rule of thumb: a unit is as much as a millisecond of CPU.
func (u Usage) Cost() float64 {
	return float64(u.CPU)/float64(time.Millisecond) +
		float64(u.BytesWritten)/writtenPerUnit +
		float64(u.BytesRead)/readPerUnit +
		float64(u.Streams)/float64(streamPerUnit) +
		float64(u.ByteSeconds)/byteSecondsPerUnit
}

// MarshalJSON writes the JSON form.
func (u Usage) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Requests     int64   `json:"requests"`
		RowsRead     int64   `json:"rows_read"`
		RowsWritten  int64   `json:"rows_written"`
		BytesRead    int64   `json:"bytes_read"`
		BytesWritten int64   `json:"bytes_written"`
		CPU          int64   `json:"cpu_ms"`
		Streams      int64   `json:"stream_seconds"`
		ByteHours    float64 `json:"byte_hours"`
	}{
		u.Requests, u.RowsRead, u.RowsWritten, u.BytesRead, u.BytesWritten,
		u.CPU.Milliseconds(), int64(u.Streams / time.Second), float64(u.ByteSeconds) / 3600,
	})
}

func (u *Usage) add(d Usage) {
	u.Requests += d.Requests
	u.RowsRead += d.RowsRead
	u.RowsWritten += d.RowsWritten
	u.BytesRead += d.BytesRead
	u.BytesWritten += d.BytesWritten
	u.CPU += d.CPU
	u.Streams += d.Streams
	u.ByteSeconds += d.ByteSeconds
}
