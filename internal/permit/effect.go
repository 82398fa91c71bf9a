package permit

import (
	"regexp"
	"slices"
	"strings"
)

// A kind is what an effect does to the world.
type kind uint8

const (
	looks    kind = iota // reads files or state
	changes              // makes or changes the files it names
	removes              // removes what it names
	runs                 // runs code that cannot be seen from here
	connects             // reaches the network
	raises               // works with another user's rights
	system               // changes the machine: processes, services, devices
	hidden               // cannot be known before it runs
)

// An effect is one thing that a simple command does.
type effect struct {
	kind  kind
	paths []word // that it changes, removes or reads
	why   string // "" where the kind says enough
}

// effects says what a simple command does, by what its name is known for and by
// its arguments. A command that is not known runs code.
func effects(c command) []effect {
	if !c.name.known {
		return []effect{{kind: hidden, why: "the name of the command is not known before it runs"}}
	}
	if special, ok := specials[c.name.text]; ok {
		return special(c)
	}
	switch {
	case slices.Contains(lookers, c.name.text):
		return []effect{{kind: looks, paths: c.operands()}}
	case slices.Contains(changers, c.name.text):
		return []effect{{kind: changes, paths: c.operands()}}
	case slices.Contains(networkers, c.name.text):
		return []effect{{kind: connects}}
	case slices.Contains(systemics, c.name.text) || strings.HasPrefix(c.name.text, "mkfs"):
		return []effect{{kind: system}}
	}
	return []effect{{kind: runs}}
}

// lookers only read, whatever their arguments.
var lookers = []string{
	"ls", "dir", "cat", "tac", "head", "tail", "more", "wc", "nl", "cut", "paste", "tr", "grep", "egrep", "fgrep", "zgrep", "zcat", "stat", "file", "du", "df", "pwd", "cd", "pushd", "popd", "dirs",
	"echo", "true", "false", ":", "test", "[", "[[", "basename", "dirname", "realpath", "readlink", "diff", "cmp", "comm", "join", "column", "fold", "fmt", "expand", "unexpand", "rev", "seq", "expr", "bc", "factor", "which", "type", "whereis", "whoami", "id", "groups", "uname", "arch", "nproc", "uptime", "free", "ps", "pgrep", "printenv", "locale",
	"md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "sum", "shasum", "base32", "basenc", "od", "hexdump", "strings", "nm", "objdump", "readelf", "size", "jq", "sleep", "exit", "return", "break", "continue", "shift", "set", "shopt", "unset", "let", "wait", "jobs", "fg", "bg", "disown", "umask", "ulimit", "times", "caller", "tty", "cal", "tokei", "cloc", "scc", "lsof", "command", "numfmt", "ts", "pr", "xargs", "builtin", "time", "exec", "getconf",
}

// changers change the files that their operands name and nothing else.
var changers = []string{"touch", "mkdir", "tee", "truncate", "chmod", "mkfifo", "unix2dos", "dos2unix"}

var networkers = []string{"wget", "ftp", "sftp", "telnet", "nc", "ncat", "netcat", "socat", "nmap", "ping", "dig", "nslookup", "host", "whois", "traceroute", "gcloud", "aws", "az", "heroku", "flyctl", "vercel", "netlify", "wrangler", "rclone", "lynx", "w3m", "aria2c", "gsutil", "doctl", "terraform", "ansible", "ansible-playbook", "yt-dlp", "mail", "sendmail", "xdg-open", "open"}

var systemics = []string{"kill", "pkill", "killall", "chown", "chgrp", "mount", "umount", "systemctl", "service", "launchctl", "crontab", "at", "batch", "useradd", "userdel", "usermod", "groupadd", "passwd", "chpasswd", "visudo", "iptables", "ufw", "sysctl", "modprobe", "insmod", "rmmod", "fdisk", "parted", "shutdown", "reboot", "halt", "poweroff", "init", "telinit", "setfacl", "chattr", "swapoff", "swapon", "losetup", "apt", "apt-get", "dpkg", "yum", "dnf", "rpm", "pacman", "apk", "snap", "flatpak", "brew", "port", "zypper", "update-alternatives", "loginctl", "hostnamectl", "timedatectl", "nsenter", "unshare", "renice"}

// specials are judged by their arguments.
var specials = map[string]func(command) []effect{
	"rm": removed, "rmdir": removed, "unlink": removed, "shred": removed,
	"cp": copied, "mv": moved, "ln": copied, "install": copied, "rsync": synced, "dd": dumped,
	"sed": edited, "awk": scripted, "gawk": scripted, "mawk": scripted, "sort": sorted, "uniq": second, "tree": outputs("-o"), "shuf": outputs("-o", "--output"), "less": outputs("-o", "-O", "--log-file"), "printf": binds, "read": binds, "mapfile": binds, "readarray": binds, "getopts": binds, "xxd": second, "base64": looker,
	"find": found, "fd": found, "fdfind": found, "rg": searched, "ag": looker, "ack": looker, "yq": inPlace, "curl": fetched, "date": dated, "hostname": named, "env": looker,
	"git": gitEffects, "go": goEffects, "ssh": remote, "scp": remote, "sudo": raised, "doas": raised, "su": raised, "runuser": raised, "pkexec": raised, "chroot": raised,
	"npm": packaged, "pnpm": packaged, "yarn": packaged, "bun": packaged, "pip": packaged, "pip3": packaged, "uv": packaged, "poetry": packaged, "cargo": packaged, "gem": packaged, "bundle": packaged, "composer": packaged, "npx": packaged, "pnpx": packaged, "bunx": packaged, "uvx": packaged, "pipx": packaged, "gh": packaged, "docker": packaged, "podman": packaged, "kubectl": packaged, "helm": packaged, "deno": packaged,
	"gofmt": formatted, "gzip": inPlaced, "gunzip": inPlaced, "bzip2": inPlaced, "xz": inPlaced, "python": versioned, "python3": versioned, "node": versioned, "ruby": versioned, "java": versioned, "rustc": versioned, "gcc": versioned, "make": versioned,
}

func looker(c command) []effect { return []effect{{kind: looks, paths: c.operands()}} }

func removed(c command) []effect { return []effect{{kind: removes, paths: c.operands()}} }

func raised(command) []effect {
	return []effect{{kind: raises}}
}

func remote(command) []effect {
	return []effect{{kind: connects}, {kind: hidden, why: "what it does happens on another machine"}}
}

// copied reads all operands but the last, and changes that one.
func copied(c command) []effect {
	for i, w := range c.args {
		if dir, ok := strings.CutPrefix(w.text, "--target-directory="); ok {
			return []effect{{kind: changes, paths: words(dir)}, {kind: looks, paths: c.operands()}}
		}
		if w.text == "-t" && i+1 < len(c.args) {
			return []effect{{kind: changes, paths: c.args[i+1 : i+2]}, {kind: looks, paths: c.operands()}}
		}
	}
	ops := c.operands()
	if len(ops) == 0 {
		return []effect{{kind: looks}}
	}
	last := len(ops) - 1
	return []effect{{kind: looks, paths: ops[:last]}, {kind: changes, paths: ops[last:]}}
}

func moved(c command) []effect {
	return append(copied(c), effect{kind: changes, paths: c.operands()})
}

func synced(c command) []effect {
	out := copied(c)
	for _, w := range c.operands() {
		if !w.known || strings.Contains(w.text, ":") {
			out = append(out, effect{kind: connects})
		}
	}
	if c.hasFlag("-e", "--rsh") {
		out = append(out, effect{kind: runs})
	}
	if c.hasFlag("--delete", "--delete-after", "--remove-source-files") {
		out = append(out, effect{kind: removes, paths: c.operands()})
	}
	return out
}

func dumped(c command) []effect {
	out := []effect{{kind: looks}}
	for _, w := range c.args {
		if to, ok := strings.CutPrefix(w.text, "of="); ok {
			out = append(out, effect{kind: changes, paths: words(to)})
		}
		if !w.known {
			out = append(out, effect{kind: hidden, why: "where dd writes to is not known"})
		}
	}
	return out
}

var awkRuns = regexp.MustCompile("system|getline|\\||print[^;}\n]*>|@load|@include")

// scripted is awk, whose language can run commands and write files.
func scripted(c command) []effect {
	if c.hasFlag("-f", "-i", "--file", "-E", "-l") || len(c.args) == 0 {
		return []effect{{kind: runs}}
	}
	for _, w := range c.args {
		if !w.flag() {
			if !w.known || awkRuns.MatchString(w.text) {
				return []effect{{kind: runs, why: "its script may run commands or write files"}}
			}
			break
		}
	}
	return []effect{{kind: looks}}
}

func sorted(c command) []effect {
	if c.hasFlag("--compress-program") {
		return []effect{{kind: runs}}
	}
	return outputs("-o", "--output")(c)
}

// outputs makes the judge of a command that reads, and writes to what one of its
// flags names.
func outputs(flags ...string) func(command) []effect {
	return func(c command) []effect {
		out := looker(c)
		for i, w := range c.args {
			name, value, glued := strings.Cut(w.text, "=")
			switch {
			case glued && slices.Contains(flags, name):
				out = append(out, effect{kind: changes, paths: words(value)})
			case slices.Contains(flags, w.text) && i+1 < len(c.args):
				out = append(out, effect{kind: changes, paths: c.args[i+1 : i+2]})
			case c.hasFlag(flags...) && w.flag() && slices.ContainsFunc(flags, func(f string) bool { return isFlag(w.text, f) }):
				out = append(out, effect{kind: changes, paths: []word{{}}})
			}
		}
		return out
	}
}

// second is a command whose second operand is what it writes.
func second(c command) []effect {
	ops := c.operands()
	if len(ops) < 2 {
		return looker(c)
	}
	return []effect{{kind: looks, paths: ops[:1]}, {kind: changes, paths: ops[1:2]}}
}

func found(c command) []effect {
	out := looker(c)
	for i, w := range c.args {
		switch w.text {
		case "-delete":
			out = append(out, effect{kind: removes, paths: foundPaths(c)})
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			out = append(out, effect{kind: changes, paths: c.args[min(i+1, len(c.args)):min(i+2, len(c.args))]})
		}
		if !w.known {
			out = append(out, effect{kind: hidden, why: "an argument of find is not known, and some of them run commands"})
		}
	}
	return out
}

// foundPaths stand for what find finds: with a test for names something in the
// folders that it starts from, without one all of them.
func foundPaths(c command) []word {
	list := foundRoots(c)
	tests := slices.ContainsFunc(c.args, func(w word) bool {
		return slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"}, w.text)
	})
	for i, w := range list {
		if tests && w.known {
			list[i].text = strings.TrimSuffix(w.text, "/") + "/found"
		}
	}
	return list
}

// foundRoots are the folders that find starts from.
func foundRoots(c command) []word {
	var list []word
	for _, w := range c.args {
		if w.flag() || w.text == "!" || w.text == "(" {
			break
		}
		list = append(list, w)
	}
	if len(list) == 0 {
		return words(".")
	}
	return list
}

func searched(c command) []effect {
	if c.hasFlag("--pre", "--hostname-bin") || c.loose() && !c.terminated() {
		return []effect{{kind: runs}}
	}
	return looker(c)
}

// terminated reports whether what is not known comes after --.
func (c command) terminated() bool {
	for _, w := range c.args {
		if !w.known {
			return false
		}
		if w.text == "--" {
			return true
		}
	}
	return true
}

func inPlace(c command) []effect {
	if c.hasFlag("-i", "--inplace") {
		return []effect{{kind: changes, paths: c.operands()}}
	}
	return looker(c)
}

func inPlaced(c command) []effect {
	if c.hasFlag("-c", "--stdout", "-l", "-t") {
		return looker(c)
	}
	return []effect{{kind: changes, paths: c.operands()}}
}

func formatted(c command) []effect {
	if c.hasFlag("-w") {
		return []effect{{kind: changes, paths: c.operands()}}
	}
	return looker(c)
}

func fetched(c command) []effect {
	out := outputs("-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--output-dir", "--trace", "--trace-ascii")(c)
	out[0] = effect{kind: connects}
	return out
}

func dated(c command) []effect {
	if c.hasFlag("-s", "--set") {
		return []effect{{kind: system}}
	}
	return []effect{{kind: looks}}
}

func named(c command) []effect {
	if len(c.operands()) > 0 {
		return []effect{{kind: system}}
	}
	return []effect{{kind: looks}}
}

// versioned is a program that only says what it is when asked for its version.
func versioned(c command) []effect {
	if len(c.args) == 1 && slices.Contains([]string{"--version", "-V", "--help", "-version"}, c.args[0].text) {
		return []effect{{kind: looks}}
	}
	return []effect{{kind: runs}}
}

// binds sets variables by their names.
func binds(c command) []effect {
	if c.name.text == "printf" && !c.hasFlag("-v") {
		return []effect{{kind: looks}}
	}
	for _, w := range c.args {
		if !w.known || decides(w.text) {
			return []effect{{kind: runs, why: "it sets a variable that may change what other commands do"}}
		}
	}
	return []effect{{kind: looks}}
}
