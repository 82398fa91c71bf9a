package page

import "github.com/quire-agent/quire/internal/quire"

// actionOf returns what a tool of a known name does. The name is in lower case
// and without marks between its words.
func actionOf(name string) (quire.Action, bool) {
	switch name {
	case "read", "readfile", "view", "viewfile", "viewimage", "notebookread", "readnotebook", "readmanyfiles", "open", "openfile", "cat":
		return quire.ActionRead, true
	case "write", "writefile", "create", "createfile", "writetofile", "save", "savefile":
		return quire.ActionWrite, true
	case "edit", "editfile", "multiedit", "strreplace", "strreplaceeditor", "strreplacebasededittool", "notebookedit", "applypatch",
		"patch", "replace", "replaceinfile", "searchreplace", "insert", "applydiff", "delete", "deletefile":
		return quire.ActionEdit, true
	case "bash", "shell", "sh", "zsh", "powershell", "pwsh", "execcommand", "exec", "localshell", "runshellcommand", "runcommand", "executebash",
		"executecommand", "runterminalcmd", "runinterminal", "terminal", "writestdin", "bashoutput", "killshell", "killbash", "readbash",
		"writebash", "stopbash", "readpowershell", "writepowershell", "stoppowershell", "monitor", "python", "runtests", "ipython":
		return quire.ActionRun, true
	case "grep", "rg", "ripgrep", "search", "searchfiles", "searchfilecontent", "codebasesearch", "grepsearch", "codesearch",
		"semanticsearch", "searchcode", "lsp", "toolsearch":
		return quire.ActionSearch, true
	case "glob", "ls", "list", "listdir", "listdirectory", "listfiles", "find", "findfiles", "filesearch", "tree":
		return quire.ActionList, true
	case "webfetch", "fetch", "websearch", "fetchurl", "fetchwebpage", "openurl", "browse", "googlewebsearch":
		return quire.ActionFetch, true
	case "task", "agent", "spawnagent", "dispatchagent", "newtask", "delegate", "runsubagent", "sendinput", "waitagent", "taskoutput", "subagent":
		return quire.ActionTask, true
	case "todowrite", "todoread", "updateplan", "updatetodo", "updatetodolist", "managetodolist", "taskcreate", "taskupdate", "tasklist", "taskget",
		"exitplanmode", "enterplanmode", "writetodos", "plan", "reportintent":
		return quire.ActionPlan, true
	}
	return quire.ActionNone, false
}

// shape guesses what a tool of an unknown name does from what it is asked for.
func (c invocation) shape() quire.Action {
	has := func(names ...string) bool { _, ok := c.args.get(names...); return ok }
	path := c.path() != ""
	switch {
	case path && (has(oldNames()...) || has("edits")):
		return quire.ActionEdit
	case path && has("content", "file_text", "contents"):
		return quire.ActionWrite
	case has("todos", "plan", "todo_list"):
		return quire.ActionPlan
	case has("url"):
		return quire.ActionFetch
	case has("pattern", "regex", "query", "search_term"):
		return quire.ActionSearch
	case has("subagent_type", "agent_type") || has("prompt") && has("description"):
		return quire.ActionTask
	case path && has("directory", "dir", "folder", "dir_path", "target_directory"):
		return quire.ActionList
	case path:
		return quire.ActionRead
	}
	return quire.ActionNone
}
