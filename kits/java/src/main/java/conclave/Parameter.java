package conclave;

import java.util.*;
import java.util.function.Function;

/** A parameter: a constant of the algorithm's class, of type Boolean, Long, Double, Duration, or an enum. */
public final class Parameter<T> {
    final Map<String, Object> declared;
    Function<Network, T> preset;
    private final Class<T> type;
    private final Type json;

    /** Users write an enum's constant INITIATORS_ONLY as initiators-only. */
    public Parameter(Class<T> type, String name, String doc) {
        this.type = type;
        json = Type.of(type, "int");
        declared = Json.object("name", name, "doc", doc, "type", json.declared(),
                "choices", type.isEnum() ? Arrays.asList(type.getEnumConstants()) : null);
    }

    private Parameter<T> put(String key, Object value) {
        declared.put(key, value);
        return this;
    }

    /** The default. */
    public Parameter<T> preset(T value) { return put("default", value); }

    /** A default that follows from the network, and from nothing else. */
    public Parameter<T> preset(Function<Network, T> preset) {
        this.preset = preset;
        return put("asks", true);
    }

    public Parameter<T> min(T least) { return put("min", least); }

    public Parameter<T> max(T largest) { return put("max", largest); }

    /** It may differ between processes. */
    public Parameter<T> perProcess() { return put("per_process", true); }

    /** It names a process. */
    public Parameter<T> process() { return put("process", true); }

    /** What it is to the detection of crashes: "patience" or "spread". */
    public Parameter<T> tunes(String what) { return put("tunes", what); }

    /** The name. */
    public String name() { return (String) declared.get("name"); }

    /** A value that JSON has. */
    T of(Object value) { return type.cast(json.read().apply(value)); }
}
