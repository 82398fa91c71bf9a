package ingest

import (
	"github.com/quire-agent/quire/internal/quire"
)

// ProjectName is what the table and the index call a project, and so what a
// reader has to say who stands in it: its folder with the secrets in it masked.
// Where there are some, a piece of the hash of the whole path keeps projects
// apart that differ in nothing else: who may read is decided by this name.
func ProjectName(folder string, mask func(text string) string) string {
	masked := mask(folder)
	if masked == folder {
		return folder
	}
	return masked + "~" + quire.Sum(folder).String()[:8]
}

// maskInfo masks what is known of a session.
func (p *Pool) maskInfo(info quire.SessionInfo) quire.SessionInfo {
	info.Project = ProjectName(info.Project, p.Mask)
	for _, text := range []*string{&info.ID, (*string)(&info.Agent), &info.Version, &info.Branch, &info.Model, &info.Parent} {
		*text = p.Mask(*text)
	}
	return info
}
