package gateway_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/feishu"
	"github.com/openspace-dev/openspace/pkg/gateway/slack"
	"github.com/openspace-dev/openspace/pkg/gateway/telegram"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp"
)

func read(data string, env map[string]string) (gateway.Config, feishu.Config, []string, error) {
	section := feishu.DefaultConfig()
	c, warnings, err := gateway.Reader{
		Sections: map[string]any{"feishu": &section}, Getenv: func(name string) string { return env[name] }, Abs: func(s string) string { return "/abs/" + s },
	}.Read([]byte(data))
	return c, section, warnings, err
}

func TestConfig(t *testing.T) {
	c, f, warnings, err := read(`{"data_dir": "d", "openspace": {"max_iterations": 5, "llm_timeout": 3}, "runtime": null, "server": {"health_path": "ok"},
		"feishu": {"enabled": true, "allowed_users": [" a ", ""], "groups": {" oc_1 ": "all"}, "app_secret": null}}`,
		map[string]string{"FEISHU_ALLOW_DM": "off", "FEISHU_APP_SECRET": " s ", "OPENSPACE_MAX_ITERATIONS": "7", "FEISHU_ALLOWED_USERS": "", "OPENSPACE_COMMUNICATION_MAX_PARALLEL": "64"})
	if err != nil {
		t.Fatal(err)
	}
	if c.DataDir != "/abs/d" || c.Agent.MaxIterations != 7 || c.Server.HealthPath != "/ok" || c.Sessions.MaxParallelSessions != 64 || c.Sessions.HistoryMaxTurns != 12 {
		t.Errorf("got %+v", c)
	}
	if !f.Enabled || f.AllowDM || f.AppSecret != "s" || len(f.AllowedUsers) != 1 || f.AllowedUsers[0] != "a" || f.Groups["oc_1"] != "all" {
		t.Errorf("got %+v", f)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "agent.llm_timeout") {
		t.Errorf("got warnings %q", warnings)
	}
	if c, _, _, err := read("", nil); err != nil || !reflect.DeepEqual(c, gateway.DefaultConfig()) {
		t.Errorf("got %+v, %v of an empty file", c, err)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tt := range []struct {
		data string
		env  map[string]string
		want string
	}{
		{`[]`, nil, "not an object"},
		{`{} {}`, nil, "more than one value"},
		{"{\n\"a\": }", nil, "line 2"},
		{`{"agnet": {}}`, nil, `agnet: unknown key; did you mean "agent"`},
		{`{"fieshu": {}}`, nil, `did you mean "feishu"`},
		{`{"server": 3}`, nil, "server: want an object, got 3"},
		{`{"server": {"port": 1.5}}`, nil, "server.port: want a number"},
		{`{"server": {"port": "80"}}`, nil, "server.port: want a number, got a string"},
		{`{"server": {"health_path": "/{x"}}`, nil, "server.health_path: want a path of letters"},
		{`{"feishu": {"webhook_path": "/a b"}}`, nil, "feishu.webhook_path: want a path of letters"},
		{`{}`, map[string]string{"FEISHU_WEBHOOK_PATH": "/hook?x"}, "FEISHU_WEBHOOK_PATH: want a path of letters"},
		{`{"feishu": {"enabled": "yes"}}`, nil, "feishu.enabled: want true or false"},
		{`{"feishu": {"allowed_users": "ann"}}`, nil, "feishu.allowed_users: want a list"},
		{`{"feishu": {"allowed_users": [1]}}`, nil, "want strings in the list"},
		{`{"feishu": {"allowed_users": ["ann", " * "]}}`, nil, `feishu.allowed_users: "*" lets nobody in; allow_all_users lets everybody write`},
		{`{}`, map[string]string{"FEISHU_ALLOWED_USERS": "*"}, `FEISHU_ALLOWED_USERS: "*" lets nobody in`},
		{`{"feishu": {"groups": {"*": "all"}}}`, nil, `feishu.groups: "*" is no group; group_policy`},
		{`{"feishu": {"group_policy": "most"}}`, nil, "feishu.group_policy: want one of disabled, mention_only"},
		{`{"feishu": {"groups": {"oc_1": "most"}}}`, nil, "feishu.groups.oc_1: want one of"},
		{`{"feishu": {"app_secret": 12345678}}`, nil, "feishu.app_secret: want a string"},
		{`{}`, map[string]string{"FEISHU_ENABLED": "maybe"}, "FEISHU_ENABLED: want true or false"},
		{`{}`, map[string]string{"OPENSPACE_COMMUNICATION_QUEUE_SIZE": "many"}, "OPENSPACE_COMMUNICATION_QUEUE_SIZE: want a number"},
		{`{}`, map[string]string{"OPENSPACE_COMMUNICATION_IDLE_TTL": "9"}, ""},
	} {
		_, _, _, err := read(tt.data, tt.env)
		if tt.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %v: got %v, want %q", tt.data, tt.env, err, tt.want)
		}
	}
}

// The page of the config file has every key and every variable.
func TestConfigIsDocumented(t *testing.T) {
	data, err := os.ReadFile("../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	page, n := string(data), 0
	check := func(v any) {
		values := reflect.TypeOf(v)
		var walk func(prefix string, typ reflect.Type)
		walk = func(prefix string, typ reflect.Type) {
			for i := range typ.NumField() {
				f := typ.Field(i)
				name := prefix + f.Tag.Get("json")
				switch {
				case f.Anonymous:
					walk("", f.Type)
				case f.Type.Kind() == reflect.Struct:
					walk(name+".", f.Type)
				default:
					n++
					if !strings.Contains(page, "`"+name+"`") {
						t.Errorf("docs/gateway.md has no key %s", name)
					}
					for v := range strings.SplitSeq(f.Tag.Get("env"), ",") {
						if v = strings.Replace(v, "*", "X", 1); v != "" && f.Tag.Get("kind") != "retired" && !strings.Contains(page, "`"+v+"`") {
							t.Errorf("docs/gateway.md has no variable %s", v)
						}
					}
				}
			}
		}
		walk("", values)
	}
	check(gateway.Config{})
	check(feishu.Config{})
	check(slack.Config{})
	check(telegram.Config{})
	check(whatsapp.Config{})
	if n < 35 {
		t.Errorf("got %d keys", n)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add(`{"feishu": {"groups": {"a": "all"}}, "agent": {"execute_args": ["--x"]}}`)
	f.Add(`{"server": {"port": 1e9}}`)
	f.Fuzz(func(t *testing.T, data string) {
		if c, _, _, err := read(data, nil); err == nil && (c.Sessions.MaxParallelSessions < 1 || c.Server.Port < 0 || c.Server.Port > 65535) {
			t.Errorf("%s: got %+v", data, c)
		}
	})
}
