package page

// Texts returns the strings in the arguments of a tool call, unescaped and in
// their order: what the model wrote, without the JSON around it. Names of fields
// and numbers are left out. Arguments that are no JSON object are one text as
// they are; of an object that is cut off comes what can be read.
func Texts(args string) []string {
	v := parseJSON(args)
	if v.kind != kindObject {
		return []string{args}
	}
	return v.strings(nil)
}

func (v value) strings(to []string) []string {
	if v.kind == kindText {
		to = append(to, v.text)
	}
	for _, e := range v.list {
		to = e.strings(to)
	}
	for _, f := range v.fields {
		to = f.value.strings(to)
	}
	return to
}
