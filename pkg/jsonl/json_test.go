package jsonl_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// item and its neighbours are the shapes with which older decoders and encoders panicked (LB-01).
type item struct {
	A int    `json:"a"`
	B string `json:"b"`
}

type detail struct {
	I item `json:"i"`
}

type body struct {
	Payload *detail           `json:"payload,omitempty"`
	List    []item            `json:"list,omitempty"`
	Map     map[string]*item  `json:"map,omitempty"`
	Any     any               `json:"any,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Score   *float64          `json:"score,omitempty"`
	Bytes   []byte            `json:"bytes,omitempty"`
	Omit    item              `json:"omit,omitzero"`
}

const document = `{"payload":{"i":{"a":1,"b":"x\\y\u00e9\"\n"}},"list":[{"a":-2,"b":""},{}],"map":{"k":{"a":3}},` +
	`"any":[null,true,1.5e3,{"z":"\ud83d\ude00"}],"labels":{"b":"1","a":"2"},"score":0.25,"bytes":"AAEC"}`

func TestMarshalNested(t *testing.T) {
	score := 0.5
	v := body{Payload: &detail{item{1, "<b>&"}}, Map: map[string]*item{"z": {}, "a": nil}, Score: &score, Bytes: []byte{0, 1}}
	got, err := jsonl.Marshal(v)
	want := `{"payload":{"i":{"a":1,"b":"<b>&"}},"map":{"a":null,"z":{"a":0,"b":""}},"score":0.5,"bytes":"AAE="}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, err := jsonl.Marshal(&body{}); err != nil || string(got) != "{}" {
		t.Errorf("got %s, %v, want {}", got, err)
	}
}

func TestMarshalText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"html", "<b>&", `"<b>&"`},
		{"escape", "\x1b[31m\x00\t", `"\u001b[31m\u0000\t"`},
		{"direction", "a\u202e\u2066\u200f\u061cé–“年ش", `"a\u202e\u2066\u200f\u061cé–“年ش"`},
		{"delete and C1", "a\x7f\u0080\u009b\u009f\u00a0", `"a\u007f\u0080\u009b\u009f` + "\u00a0" + `"`},
		{"broken utf-8", "a\xffb", `"a\ufffdb"`},
		{"line separators", "\u2028", `"\u2028"`},
		{"emoji", "😀", `"😀"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := jsonl.Marshal(tt.in)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got, err := jsonl.Marshal(map[string]any{"score": f}); err == nil {
			t.Errorf("got %s for %v, want an error", got, f)
		}
	}
}

// LB-01: every prefix of a valid document is an error and never a panic, and leaves the target alone.
func TestUnmarshalPrefixes(t *testing.T) {
	for n := range len(document) {
		v := body{Labels: map[string]string{"kept": "yes"}}
		if err := jsonl.Unmarshal([]byte(document[:n]), &v); err == nil {
			t.Fatalf("got no error for the prefix %q", document[:n])
		}
		if len(v.Labels) != 1 || v.Payload != nil {
			t.Fatalf("target changed by the prefix %q: %+v", document[:n], v)
		}
		var a any
		if err := jsonl.Unmarshal([]byte(document[:n]), &a); err == nil || a != nil {
			t.Fatalf("got %v, %v for the prefix %q", a, err, document[:n])
		}
	}
	for _, cut := range []string{`{"name\`, `{"name\\`, `{"a":"\u`, `{"a":"\ud83d`, `{"a":tru`, `[`, `"`} {
		var v item
		if err := jsonl.Unmarshal([]byte(cut), &v); err == nil {
			t.Errorf("got no error for %q", cut)
		}
	}
}

// Decoding is into a fresh value: nothing of an earlier record shines through.
func TestUnmarshalFresh(t *testing.T) {
	v := body{Labels: map[string]string{"old": "1"}, List: []item{{1, "old"}}}
	if err := jsonl.Unmarshal([]byte(`{"list":[{"a":2}],"labels":{"new":"2"}}`), &v); err != nil {
		t.Fatal(err)
	}
	want := body{Labels: map[string]string{"new": "2"}, List: []item{{A: 2}}}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("got %+v, want %+v", v, want)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for _, in := range []string{``, `{} {}`, `{}x`, `{"a":1,}`, `{'a':1}`, `{"a":01}`, `{"a":NaN}`, strings.Repeat("[", 20000)} {
		var v any
		if err := jsonl.Unmarshal([]byte(in), &v); err == nil {
			t.Errorf("got no error for %.40q", in)
		}
	}
	if err := jsonl.Unmarshal([]byte(`{}`), body{}); err == nil {
		t.Error("got no error for a target that is no pointer")
	}
	if err := jsonl.Unmarshal([]byte(`{}`), nil); err == nil {
		t.Error("got no error for a nil target")
	}
}

// FuzzUnmarshal holds that the decoder accepts and yields what the standard library does, and that what
// was decoded survives a round trip.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(document))
	for n := 0; n < len(document); n += 7 {
		f.Add([]byte(document[:n]))
	}
	for _, s := range []string{`{"payload":null}`, `{"A":1}`, `{"any":"\ud800"}`, `{"list":[{}]}`, "{\"labels\":{\"\xff\":\"\"}}", `{"name\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want body
		err, wantErr := jsonl.Unmarshal(data, &got), json.Unmarshal(data, &want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("got error %v, the standard library %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, the standard library %+v", got, want)
		}
		first, err := jsonl.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again body
		if err := jsonl.Unmarshal(first, &again); err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		second, err := jsonl.Marshal(again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("round trip: got %s, %v, want %s", second, err, first)
		}
	})
}

func TestUnmarshalTellsTypesInWords(t *testing.T) {
	type target struct {
		Text  string   `json:"text"`
		Count int      `json:"count"`
		Share *float64 `json:"share"`
		On    bool     `json:"on"`
		List  []string `json:"list"`
		Inner struct {
			Map map[string]string `json:"map"`
		} `json:"inner"`
	}
	for _, tt := range []struct{ in, want string }{
		{`{"text":5}`, `decode json: field "text": number in place of text`},
		{`{"count":"3"}`, `decode json: field "count": string in place of a whole number`},
		{`{"count":1e99}`, `decode json: field "count": number 1e99 in place of a whole number`},
		{`{"share":true}`, `decode json: field "share": bool in place of a number`},
		{`{"on":[]}`, `decode json: field "on": array in place of true or false`},
		{`{"list":{}}`, `decode json: field "list": object in place of a list`},
		{`{"inner":{"map":1}}`, `decode json: field "inner.map": number in place of an object`},
		{`[]`, `decode json: array in place of an object`},
	} {
		err := jsonl.Unmarshal([]byte(tt.in), &target{})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.in, err, tt.want)
		}
	}
}
