package alibaba

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/stores/cloud"
)

// profile is a profile in the configuration file of Alibaba's command line tool.
type profile struct {
	Name    string
	Mode    string
	Region  string `json:"region_id"`
	ID      string `json:"access_key_id"`
	Secret  string `json:"access_key_secret"`
	Token   string `json:"sts_token"`
	Machine string `json:"ram_role_name"`
	ARN     string `json:"ram_role_arn"`
	Session string `json:"ram_session_name"`
	Seconds int    `json:"expired_seconds"`
}

// Profile returns the source of keys that a profile describes, and its region. file may be "" for the usual
// one.
func Profile(file, name string, client *http.Client) (cloud.Source, string, error) {
	home, err := os.UserHomeDir()
	switch {
	case err == nil && file == "":
		file = filepath.Join(home, ".aliyun", "config.json")
	case err == nil && strings.HasPrefix(file, "~/"):
		file = filepath.Join(home, file[2:])
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	var all struct{ Profiles []profile }
	if json.Unmarshal(b, &all) != nil {
		return nil, "", fmt.Errorf("%s is not a configuration file of the command line tool", file) // it may have keys
	}
	for _, p := range all.Profiles {
		if p.Name == name {
			s, err := p.source(client)
			return s, p.Region, err
		}
	}
	return nil, "", fmt.Errorf("%s has no profile %q", file, name)
}

func (p profile) source(client *http.Client) (cloud.Source, error) {
	switch p.Mode {
	case "EcsRamRole":
		return Machine(p.Machine, client), nil
	case "RamRoleArn":
		return Assume(Role{ARN: p.ARN, Session: p.Session, Seconds: p.Seconds}, cloud.Static(cloud.Keys{ID: p.ID, Secret: p.Secret}), client), nil
	}
	if p.ID == "" || p.Secret == "" {
		return nil, errors.New("the profile has no keys, and its mode is not AK, StsToken, RamRoleArn or EcsRamRole")
	}
	return cloud.Static(cloud.Keys{ID: p.ID, Secret: p.Secret, Token: p.Token}), nil
}
