package evolve

import (
	"strings"
	"testing"
)

func TestFenceCannotBeClosed(t *testing.T) {
	got := fence("File:", "a\n````\nb")
	if want := "File:\n`````\na\n````\nb\n`````\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClip(t *testing.T) {
	if got := clip("äöü", 3); got != "äöü" {
		t.Errorf("got %q", got)
	}
	if got := clip("äöüß", 2); got != "äö\n[… 2 more characters]" {
		t.Errorf("got %q", got)
	}
	if got := line("a\n b\tcdef", 5); got != "a b …" {
		t.Errorf("got %q", got)
	}
}

// B40, B72: an object is found among prose, fences and other braces, with backticks in its texts, and "false" is not true.
func TestB40Object(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		ok   bool
	}{
		"plain":             {`{"proceed": true}`, true},
		"fenced":            {"```json\n{\"proceed\": true}\n```", true},
		"backticks inside":  {"{\"proceed\": true, \"note\": \"run ```sh\\nls\\n```\"}", true},
		"prose with braces": {`I looked at {this} and {"a": 1}. Answer: {"proceed": true} (see {that})`, true},
		"the last counts":   {`{"proceed": false} no wait {"proceed": true}`, true},
		"nested only":       {`{"outer": {"proceed": true}}`, false},
		"broken":            {`{"proceed": tru`, false},
		"none":              {"maybe", false},
	} {
		obj, ok := object(tt.text, "proceed")
		if ok != tt.ok || ok && !truth(obj["proceed"]) {
			t.Errorf("%s: got %v, %v, want %v", name, obj, ok, tt.ok)
		}
	}
	for v, want := range map[any]bool{true: true, false: false, "true": true, "Yes": true, "false": false, "no": false, 1.0: true, 0.0: false, nil: false} {
		if got := truth(v); got != want {
			t.Errorf("truth(%v): got %v", v, got)
		}
	}
}

func TestParseReply(t *testing.T) {
	const body = "---\nname: w\ndescription: d\n---\nText.\n"
	for name, tt := range map[string]struct{ text, summary, edit string }{
		"as asked":                     {"CHANGE_SUMMARY: adds it\n\n" + body + "<EVOLUTION_COMPLETE>\n", "adds it", body},
		"decorated (vector 3)":         {"**CHANGE_SUMMARY:** text\n\nbody", "text", "body\n"},
		"full-width colon":             {"Change summary：adds it\n" + body, "adds it", body},
		"chatter before":               {"Sure, here it is:\n\nCHANGE-SUMMARY: adds it\n\n" + body, "adds it", body},
		"no summary":                   {body, "", body},
		"a fence around all":           {"```markdown\nCHANGE_SUMMARY: s\n\n" + body + "```\n<EVOLUTION_COMPLETE>", "s", body},
		"token inside the fence":       {"```\nCHANGE_SUMMARY: s\n\n" + body + "<EVOLUTION_COMPLETE>\n```", "s", body},
		"thoughts":                     {"<think>plan\nCHANGE_SUMMARY: no</think>\nCHANGE_SUMMARY: s\n\n" + body, "s", body},
		"thoughts of another name":     {"<thinking>plan</thinking>" + body, "", body},
		"thoughts without a start":     {"plan\n</think>\nCHANGE_SUMMARY: s\n\n" + body, "s", body},
		"windows":                      {"CHANGE_SUMMARY: s\r\n\r\nbody\r\n", "s", "body\n"},
		"B71, vector 23: token quoted": {"CHANGE_SUMMARY: s\n\n" + body + "Answer <EVOLUTION_FAILED> if not.\n<EVOLUTION_COMPLETE>", "s", body + "Answer <EVOLUTION_FAILED> if not.\n"},
		"a summary in the edit":        {"*** Begin Patch\n*** Update File: a\n CHANGE_SUMMARY: x\n*** End Patch", "", "*** Begin Patch\n*** Update File: a\n CHANGE_SUMMARY: x\n*** End Patch\n"},
		"empty":                        {" \n", "", ""},
	} {
		r := parseReply(tt.text)
		if r.failed || r.summary != tt.summary || r.edit != tt.edit {
			t.Errorf("%s:\n got %+v\nwant %q, %q", name, r, tt.summary, tt.edit)
		}
	}
}

// B56: a model that gives up in an answer to an error has given up; its reason is not an edit.
func TestB56Declined(t *testing.T) {
	for name, text := range map[string]string{
		"first line":       "<EVOLUTION_FAILED>\nReason: it is right as it is",
		"last line":        "Reason: it is right as it is\n\n<EVOLUTION_FAILED>",
		"before a reason":  "I looked.\n<EVOLUTION_FAILED>\n**Reason:** it is right as it is",
		"after thoughts":   "<think>hm</think>\n`<EVOLUTION_FAILED>`\nit is right as it is",
		"with the summary": "<EVOLUTION_FAILED>\nreason: it is\nright as it is\n",
	} {
		r := parseReply(text)
		if !r.failed || r.edit != "" || !strings.HasSuffix(r.reason, "it is right as it is") {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

func TestVector15RepairID(t *testing.T) {
	offered := []string{"w__imp_a1b2c3d4", "v__imp_00000001", "v__imp_00000002"}
	var many []string
	for i := range 21 {
		many = append(many, "w__imp_a1b2c3d"+string(rune('a'+i)))
	}
	for name, tt := range map[string]struct {
		id, want string
		offered  []string
	}{
		"the same":          {"w__imp_a1b2c3d4", "w__imp_a1b2c3d4", offered},
		"a typo":            {"w__imp_a1b2c3d5", "w__imp_a1b2c3d4", offered},
		"too far":           {"w__imp_zzzzzzzz", "", offered},
		"another name":      {"x__imp_a1b2c3d4", "", offered},
		"no id":             {"x", "", offered},
		"only the name":     {"w", "w__imp_a1b2c3d4", offered},
		"a name of two":     {"v", "", offered},
		"between two":       {"v__imp_00000003", "", offered},
		"far among many":    {"w__imp_a1b2c4dz", "", append(many, "w__imp_a1b2c3d4")},
		"nothing offered":   {"w__imp_a1b2c3d4", "", nil},
		"kind misspelt too": {"w__im_a1b2c3d4", "w__imp_a1b2c3d4", offered},
	} {
		if got, ok := repairID(tt.id, tt.offered); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, ok, tt.want)
		}
	}
}

func FuzzParseReply(f *testing.F) {
	f.Add("CHANGE_SUMMARY: s\n\nbody\n<EVOLUTION_COMPLETE>")
	f.Add("<think>x</think>```\nCHANGE_SUMMARY: s\n```")
	f.Add("<EVOLUTION_FAILED>\nReason: no")
	f.Fuzz(func(t *testing.T, text string) {
		r := parseReply(text)
		if r.failed && r.edit != "" {
			t.Errorf("declined and edited: %+v", r)
		}
		if strings.HasSuffix(strings.TrimSpace(r.edit), "\n"+doneToken) {
			t.Errorf("the token stays in %q", r.edit)
		}
		object(text, "proceed")
	})
}
