package conclave;

import java.lang.reflect.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A type of Java in the protocol: how fields declare it, and how JSON, of which absent means zero, becomes a value. */
record Type(Object declared, Function<Object, Object> read) {
    /** The accessors of records by their keys in JSON: the JVM would make new ones at each call. */
    private static final ClassValue<Map<String, Method>> ACCESSORS = new ClassValue<>() {
        @Override protected Map<String, Method> computeValue(Class<?> type) {
            var accessors = new LinkedHashMap<String, Method>();
            for (var c : type.getRecordComponents()) accessors.put(snake(c.getName()), c.getAccessor());
            accessors.values().forEach(accessor -> accessor.setAccessible(true));
            return accessors;
        }
    };

    static Type of(AnnotatedType annotated) {
        if (annotated instanceof AnnotatedParameterizedType p && p.getAnnotatedActualTypeArguments().length == 1) {
            Type item = of(p.getAnnotatedActualTypeArguments()[0]);
            return new Type(List.of(item.declared), v -> v == null ? List.of()
                    : ((List<?>) v).stream().map(item.read).toList());
        }
        String whole = annotated.isAnnotationPresent(Node.Id.class) ? "id"
                : annotated.isAnnotationPresent(Node.Uint.class) ? "uint" : "int";
        return of(annotated.getType() instanceof Class<?> c ? c : Map.class, whole);
    }

    static Type of(Class<?> type, String whole) {
        return switch (type.getSimpleName()) {
            case "int", "Integer" -> new Type(whole, v -> v == null ? 0 : Math.toIntExact((Long) v));
            case "long", "Long" -> new Type(whole, v -> v == null ? 0L : v);
            case "boolean", "Boolean" -> new Type("bool", v -> v == Boolean.TRUE);
            case "double", "Double" -> new Type("float", v -> v == null ? 0.0 : ((Number) v).doubleValue());
            case "Duration" -> new Type("duration", v -> Duration.ofNanos(v == null ? 0 : (Long) v));
            case "String" -> new Type("string", v -> v);
            case "Map" -> new Type(null, v -> v == null ? Map.of() : v); // this and the next are not for messages
            case "Object", "Record" -> new Type(null, v -> v);
            default -> type.isEnum() ? constant(type) : record(type);
        };
    }

    /** Users write the constant AT_MOST_ONE as at-most-one. */
    private static Type constant(Class<?> type) {
        return new Type("enum", v -> Stream.of(type.getEnumConstants())
                .filter(c -> Json.write(c).equals(Json.write(v))).findFirst().orElseThrow());
    }

    /** A record has a field for each component, in their order. */
    static Type record(Class<?> type) {
        if (!type.isRecord()) throw new IllegalArgumentException("a message can neither be nor hold a " + type);
        var components = type.getRecordComponents();
        var keys = Stream.of(components).map(c -> snake(c.getName())).toArray(String[]::new);
        var types = Stream.of(components).map(c -> of(c.getAnnotatedType())).toArray(Type[]::new);
        var constructor = call(() -> type.getDeclaredConstructor(Stream.of(components).map(RecordComponent::getType)
                .toArray(Class<?>[]::new)));
        constructor.setAccessible(true);
        var fields = IntStream.range(0, keys.length).mapToObj(i -> Arrays.asList(keys[i], types[i].declared)).toList();
        return new Type(Map.of("fields", fields), v -> {
            Object[] values = new Object[keys.length];
            for (int i = 0; i < keys.length; i++)
                values[i] = types[i].read.apply(v == null ? null : ((Map<?, ?>) v).get(keys[i]));
            return call(() -> constructor.newInstance(values));
        });
    }

    /** What JSON has of a record. */
    static Map<String, Object> members(Record record) {
        var members = new LinkedHashMap<String, Object>();
        ACCESSORS.get(record.getClass())
                .forEach((key, accessor) -> members.put(key, call(() -> accessor.invoke(record))));
        return members;
    }

    /** The fields of a record. */
    Object fields() { return ((Map<?, ?>) declared).get("fields"); }

    static <T> T call(Callable<T> reflective) {
        try {
            return reflective.call();
        } catch (Exception e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** The name newLeader as the protocol has it: new_leader. */
    static String snake(String name) {
        return name.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "_").toLowerCase(Locale.ROOT);
    }
}
