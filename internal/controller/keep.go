package controller

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/olmgraft/graft/internal/controller/operands"
	"github.com/olmgraft/graft/internal/oci"
)

// keeping holds the flags for ConfigMaps with operands. Without namespaces it keeps and reads none.
type keeping struct {
	namespaces []string
	poll       time.Duration
	conf       string
}

func (k *keeping) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&k.namespaces, "operands-namespace", nil, "namespaces whose ConfigMaps follow their operand policies. Defaults to none")
	f.DurationVar(&k.poll, "operands-poll", time.Minute, "time between checks whether the tags of catalogs moved. Graft watches other changes")
	f.StringVar(&k.conf, "registries-conf", "", "registries.conf with mirrors of catalog images")
}

func (k *keeping) keeper(c *Controller) (*operands.Keeper, error) {
	client, err := oci.New(oci.Options{RegistriesConf: k.conf, UserAgent: component})
	if err != nil {
		return nil, err
	}
	return operands.New(operands.Options{
		Config: c.Config, Namespaces: k.namespaces, Poll: k.poll, Registry: client, Events: c.Events, Log: c.Log, Resource: operands.ConfigMaps,
	})
}

// run is the controller's Run, which also keeps ConfigMaps.
func (k *keeping) run(c *Controller) (func(context.Context) error, error) {
	if len(k.namespaces) == 0 {
		return c.Run, nil
	}
	keeper, err := k.keeper(c)
	return func(ctx context.Context) error {
		ctx, stop := context.WithCancel(ctx)
		var keeping sync.WaitGroup
		defer keeping.Wait()
		defer stop() // before waiting
		keeping.Go(func() { keeper.Run(ctx) })
		return c.Run(ctx)
	}, err
}

// once is the controller's Once, which also checks each ConfigMap once.
func (k *keeping) once(ctx context.Context, c *Controller) error {
	if len(k.namespaces) == 0 {
		return c.Once(ctx)
	}
	keeper, err := k.keeper(c)
	if err != nil {
		return err
	}
	return errors.Join(c.Once(ctx), keeper.Once(ctx))
}
