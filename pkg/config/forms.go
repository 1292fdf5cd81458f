package config

import (
	"fmt"
	"reflect"
	"time"
)

// Longest bounds every duration that has no bound of its own, so that sums cannot overflow.
const Longest = 24 * time.Hour

// forms is how values are written, by their Go type.
var forms = map[reflect.Type]func(p *Field) Type[any]{}

// Form declares how values of type T are written, where a parameter does not say it. It is called
// before main; the type is made when it is first needed.
func Form[T any](of func(p *Field) Type[T]) {
	forms[reflect.TypeFor[T]()] = func(p *Field) Type[any] {
		return As(of(p), func(x T) any { return x }, func(x any) T { return x.(T) })
	}
}

func init() {
	Form(func(p *Field) Type[bool] {
		if p.Choices == nil {
			return Truth()
		}
		return As(Choice(p.Choices...), func(w string) bool { return w == p.Choices[1] },
			func(b bool) string { return p.Choices[map[bool]int{true: 1}[b]] })
	})
	Form(func(p *Field) Type[string] {
		if p.Choices == nil {
			return SomeText(p.Unit)
		}
		return Choice(p.Choices...)
	})
	Form(func(p *Field) Type[int] {
		count := Whole[int](int64(bound(p.Min, 0)), int64(bound(p.Max, MaxInt)))
		if p.Choices == nil {
			return count
		}
		zero := p.Choices[0]
		return count.Want(Int, "a whole number, or "+zero).Or(zero, 0, func(n int) bool { return n == 0 }).
			Called("a whole number of " + p.Unit + ", or " + zero)
	})
	Form(func(p *Field) Type[float64] { return Number(bound(p.Min, 0), bound(p.Max, 1)) })
	Form(func(p *Field) Type[time.Duration] {
		return Duration(time.Duration(bound(p.Min, 0)), time.Duration(bound(p.Max, float64(Longest))))
	})
}

// bound is that of a number, whatever its type.
func bound(v any, otherwise float64) float64 {
	if v == nil {
		return otherwise
	}
	return reflect.ValueOf(v).Convert(reflect.TypeFor[float64]()).Float()
}

// form is how values of a Go type are written that p declares: a pointer as what it points to, which
// may be missing, and a slice as a list.
func form(t reflect.Type, p *Field) Type[any] {
	if of := forms[t]; of != nil {
		return of(p)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return As(form(t.Elem(), p), func(x any) any {
			to := reflect.New(t.Elem())
			to.Elem().Set(reflect.ValueOf(x))
			return to.Interface()
		}, func(x any) any { return reflect.ValueOf(x).Elem().Interface() })
	case reflect.Slice:
		return As(Each(form(t.Elem(), p)), func(list []any) any {
			out := reflect.MakeSlice(t, len(list), len(list))
			for i, x := range list {
				out.Index(i).Set(reflect.ValueOf(x))
			}
			return out.Interface()
		}, func(x any) []any {
			v := reflect.ValueOf(x)
			out := make([]any, v.Len())
			for i := range out {
				out[i] = v.Index(i).Interface()
			}
			return out
		})
	}
	panic(fmt.Sprintf("config: %s is a %v, of which no form is declared", p.Name, t))
}

// Of is how the values of a parameter are written, and the place where they go.
func Of(p *Field) Slot {
	if s, ok := p.Of.(Slot); ok {
		return s
	}
	at := reflect.ValueOf(p.At).Elem()
	s := form(at.Type(), p).Into(func(x any) { at.Set(reflect.ValueOf(x)) })
	s.get = func() (any, bool) { return at.Interface(), at.IsZero() }
	return s
}
