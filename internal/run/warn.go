package run

import (
	"context"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
)

// A Warner says what the model has to be told between two calls: warnings, and news
// of the world around the session. Each text is said once.
type Warner interface {
	Warnings(ctx context.Context) []string
}

// warn appends what there is to be told before a call. The messages are state, not
// pages: the call that answers has seen them, and the next epoch leaves them out.
func (l *Loop) warn(ctx context.Context) error {
	if l.Warner == nil {
		return nil
	}
	for _, text := range l.Warner.Warnings(ctx) {
		block := quire.Block{Part: quire.Part{Kind: quire.PartMachine, Origin: quire.OriginOwn, Text: text}}
		if err := l.enter(quire.RoleUser, block); err != nil {
			return fmt.Errorf("append a warning: %w", err)
		}
	}
	return nil
}
