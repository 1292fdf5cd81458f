package main

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// rowGroup is how many rows a row group has: enough to be read in parallel, and few enough for
// a hundred columns of them to fit into memory.
const rowGroup = 1 << 15

// writeParquet writes a file for each table into the folder, all of them or none.
func writeParquet(ctx context.Context, r *request) error {
	var drafts []*draft
	for i := range r.Tables {
		d, err := newDraft(filepath.Join(r.Out, r.Tables[i].Name+".parquet"))
		if err != nil {
			return err
		}
		defer d.discard()
		drafts = append(drafts, d)
		if err := r.Tables[i].writeParquet(ctx, d, r.About); err != nil {
			return err
		}
	}
	for _, d := range drafts {
		if err := d.settle(); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) writeParquet(ctx context.Context, to *draft, about map[string]string) error {
	options := []parquet.WriterOption{
		parquet.NewSchema(t.Name, parquet.SchemaOf(reflect.New(t.structure()).Interface())),
		parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroup),
	}
	for key, value := range about {
		options = append(options, parquet.KeyValueMetadata("conclave."+key, value))
	}
	w := parquet.NewWriter(to, options...)
	line := make(parquet.Row, len(t.Columns))
	err := t.each(ctx, func(row []any) error {
		for i, v := range row {
			if v == nil {
				line[i] = parquet.NullValue().Level(0, 0, i)
			} else {
				line[i] = parquet.ValueOf(v).Level(0, 1, i)
			}
		}
		_, err := w.WriteRows([]parquet.Row{line})
		return err
	})
	if err != nil {
		return err
	}
	return w.Close()
}

// structure is the type of a row: parquet.Group would sort the columns by their names.
func (t *table) structure() reflect.Type {
	var fields []reflect.StructField
	for i, c := range t.Columns {
		tag := c.Name + ",optional"
		if c.Type == text {
			tag += ",dict" // most texts are names, the same in many rows
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("C%d", i), Type: c.Type.of(), Tag: reflect.StructTag("parquet:" + strconv.Quote(tag)),
		})
	}
	return reflect.StructOf(fields)
}

func (k kind) of() reflect.Type {
	switch k {
	case whole:
		return reflect.TypeFor[int64]()
	case real:
		return reflect.TypeFor[float64]()
	case truth:
		return reflect.TypeFor[bool]()
	}
	return reflect.TypeFor[string]()
}
