package feishutest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/coder/websocket"

	"github.com/openspace-dev/openspace/pkg/gateway/feishu"
)

func (s *Server) endpoint(w http.ResponseWriter, r *http.Request) {
	var in struct{ AppID, AppSecret string }
	json.NewDecoder(r.Body).Decode(&in)
	if in.AppID != AppID || in.AppSecret != AppSecret {
		reply(w, http.StatusOK, 514, nil)
		return
	}
	reply(w, http.StatusOK, 0, map[string]any{"data": map[string]any{
		"URL":          trimWS(s.URL) + "/ws?device_id=d1&service_id=7",
		"ClientConfig": map[string]any{"ReconnectCount": -1, "ReconnectInterval": 1, "ReconnectNonce": 1, "PingInterval": 1},
	}})
}

func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(4 << 20)
	s.mu.Lock()
	s.conn = conn
	s.conns++
	s.flush()
	s.mu.Unlock()
	for {
		_, data, err := conn.Read(context.Background())
		if err != nil {
			break
		}
		if f, err := feishu.ParseFrame(data); err == nil {
			s.frame(conn, f)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == conn {
		s.conn = nil
	}
}

// frame is a frame of the app: a ping, or an acknowledgement.
func (s *Server) frame(conn *websocket.Conn, f *feishu.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mute {
		return
	}
	if f.Method == 0 {
		pong := &feishu.Frame{Service: f.Service, Headers: []feishu.Header{{Key: "type", Value: "pong"}}, Payload: []byte(`{"PingInterval":1}`)}
		conn.Write(context.Background(), websocket.MessageBinary, pong.Bytes())
		return
	}
	var got struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(f.Payload, &got) == nil && got.Code == http.StatusOK && f.Get("biz_rt") != "" {
		if m := s.said[f.Get("om")]; m != nil {
			m.acked = true
		}
	}
}

// pieceSize is how much of an event is in one frame.
const pieceSize = 8 << 10

// flush sends what waits for a connection.
func (s *Server) flush() {
	for s.conn != nil && !s.mute && len(s.pending) > 0 {
		m := s.pending[0]
		s.pending = s.pending[1:]
		body := s.Body(m.event)
		sum := (len(body) + pieceSize - 1) / pieceSize
		s.n++
		id := fmt.Sprintf("frames_%d", s.n)
		for i := range sum {
			piece := body[i*pieceSize : min((i+1)*pieceSize, len(body))]
			f := &feishu.Frame{SeqID: 1, LogID: 2, Service: 7, Method: 1, Payload: piece}
			for _, kv := range [][2]string{{"type", "event"}, {"message_id", id}, {"sum", strconv.Itoa(sum)}, {"seq", strconv.Itoa(i)}, {"om", m.id}} {
				f.Headers = append(f.Headers, feishu.Header{Key: kv[0], Value: kv[1]})
			}
			if s.conn.Write(context.Background(), websocket.MessageBinary, f.Bytes()) != nil {
				s.pending = append([]*message{m}, s.pending...)
				return
			}
		}
	}
}
