//go:build purego

package algo

import "reflect"

// Under this build tag nothing relies on how Go lays values out in memory.

type typeID = reflect.Type

func idOf(m any) typeID { return reflect.TypeOf(m) }

func appendDirect(b []byte, plan []field, m Message) []byte {
	return appendReflected(b, plan, reflect.ValueOf(m))
}

func sizeDirect(plan []field, m Message) int { return sizeReflected(plan, reflect.ValueOf(m)) }

func copyDirect(k *kind, m Message) Message { return copyReflected(k, m) }

func decodeDirect(b []byte, k *kind) (Message, []byte, error) { return decodeReflected(b, k) }
