package config

import "fmt"

// File is the path of the settings file of a layer. It need not exist.
func (s *Settings) File(layer Layer) (string, error) {
	switch {
	case layer == LayerUser && s.home != "":
		return s.userFile(), nil
	case layer == LayerUser:
		return "", &Error{Where: "settings", What: "there is no home folder to keep them in", Next: "set QUIRE_HOME to a folder"}
	case layer == LayerProject && s.project != "":
		return s.project, nil
	default:
		return "", &Error{Where: s.sources.Dir, What: "not inside a repository, so there is no project to set it for",
			Next: "go to a folder under version control, or leave out --project"}
	}
}

// Set writes one key into the settings file of a layer and returns the file's
// path. Settings already loaded do not change. A path is stored as an absolute
// one, since the file may be read from anywhere. What cannot be set (unknown key,
// wrong value, a key that the layer may not set) is an [*Error]; then, and when
// writing fails, the file is as it was.
func (s *Settings) Set(layer Layer, name, text string) (string, error) {
	k, err := known("settings", name)
	if err != nil {
		return "", err
	}
	if err := s.allow(k, layer); err != nil {
		return "", err
	}
	value, err := k.Parse(text)
	if err != nil {
		return "", &Error{Where: name, What: err.Error(), Next: "it means: " + k.Help}
	}
	if k.Type == TypePath {
		value = s.absolute(value, s.sources.Dir)
	}
	path, err := s.File(layer)
	if err != nil {
		return "", err
	}
	return path, s.rewrite(path, k, value)
}

func (s *Settings) allow(k Key, layer Layer) error {
	least := ReachUser
	if layer == LayerProject {
		least = ReachProject
	}
	if k.Reach >= least {
		return nil
	}
	next := fmt.Sprintf("`quire config set %s VALUE` sets it for you alone", k.Name)
	if k.Reach == ReachEnv {
		next = "set " + k.Env() + " in the environment"
	}
	return &Error{Where: k.Name, What: s.refusal(k, layer), Next: next}
}

func (s *Settings) rewrite(path string, k Key, value string) error {
	d, err := readDocument(path)
	if err != nil {
		return err
	}
	return writeFile(path, d.with(k.Name, k.JSON(value)))
}
