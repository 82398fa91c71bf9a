package packet

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A Schema is the JSON schema of a packet.
type Schema struct {
	Name   string
	Schema json.RawMessage
}

// Schemas are those of all packets, generated from the types. Their order and
// their bytes are always the same.
func Schemas() []Schema {
	list := []struct {
		name string
		of   reflect.Type
	}{
		{"HandoffPacket", reflect.TypeFor[Handoff]()}, {"WorkerResult", reflect.TypeFor[Result]()}, {"Note", reflect.TypeFor[Note]()},
		{"BrainTaskContext", reflect.TypeFor[BrainTaskContext]()}, {"AgentTaskContext", reflect.TypeFor[AgentTaskContext]()},
		{"TaskProgress", reflect.TypeFor[TaskProgress]()}, {"ContextRef", reflect.TypeFor[ContextRef]()},
		{"AgentMessage", reflect.TypeFor[Message[BrainToAgent]]()},
	}
	out := make([]Schema, len(list))
	for i, l := range list {
		head := fmt.Sprintf(`{"$schema":"https://json-schema.org/draft/2020-12/schema","title":%q,`, l.name)
		out[i] = Schema{l.name, json.RawMessage(head + schemaOf(l.of)[1:])}
	}
	return out
}

// A valued type has few values.
type valued interface{ Values() []string }

// schemaOf is the schema of a type of this package.
func schemaOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[InBrain]():
		return `{"const":"` + layerBrain + `"}`
	case t == reflect.TypeFor[InAgent]():
		return `{"const":"` + layerAgent + `"}`
	case t == reflect.TypeFor[route.Status]():
		return oneOf(string(route.Pending), string(route.Running), string(route.Completed), string(route.Blocked), string(route.Failed))
	case t == reflect.TypeFor[json.RawMessage]():
		return `{"type":"object"}`
	}
	if v, ok := reflect.Zero(t).Interface().(valued); ok {
		return oneOf(v.Values()...)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return `{"type":"array","items":` + schemaOf(t.Elem()) + `}`
	case reflect.Struct:
		return objectOf(t)
	case reflect.Float64:
		return `{"type":"number"}`
	default:
		return `{"type":"string"}`
	}
}

func oneOf(values ...string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = string(rawjson.AppendText(nil, v))
	}
	return `{"enum":[` + strings.Join(quoted, ",") + `]}`
}

// objectOf is the schema of a struct. Members that nobody knows are allowed: the
// packets grow by additions.
func objectOf(t reflect.Type) string {
	var members, required []string
	for _, f := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" {
			continue
		}
		members = append(members, fmt.Sprintf("%q:%s", name, schemaOf(f.Type)))
		if option == "" {
			required = append(required, fmt.Sprintf("%q", name))
		}
	}
	return `{"type":"object","properties":{` + strings.Join(members, ",") + `},"required":[` + strings.Join(required, ",") + `]}`
}
