package conclave;

import java.lang.reflect.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;

/** A type of Java in the protocol: how fields declare it, and how JSON, of which absent means zero, becomes a value. */
record Type(Object declared, Function<Object, Object> read) {
    /** What the JVM would make anew at each call. */
    private static final ClassValue<RecordComponent[]> COMPONENTS = new ClassValue<>() {
        @Override protected RecordComponent[] computeValue(Class<?> type) {
            return Stream.of(type.getRecordComponents()).peek(c -> c.getAccessor().setAccessible(true))
                    .toArray(RecordComponent[]::new);
        }
    };

    static Type of(AnnotatedType annotated) {
        if (annotated instanceof AnnotatedParameterizedType list && list.getAnnotatedActualTypeArguments().length == 1) {
            Type item = of(list.getAnnotatedActualTypeArguments()[0]);
            return new Type(List.of(item.declared), v -> v == null ? List.of() : ((List<?>) v).stream().map(item.read).toList());
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
        var types = new LinkedHashMap<String, Type>();
        for (var c : COMPONENTS.get(type)) types.put(snake(c.getName()), of(c.getAnnotatedType()));
        var fields = types.entrySet().stream().map(e -> Arrays.asList(e.getKey(), e.getValue().declared)).toList();
        var constructor = call(() -> type.getDeclaredConstructor(Stream.of(type.getRecordComponents())
                .map(RecordComponent::getType).toArray(Class<?>[]::new)));
        constructor.setAccessible(true);
        return new Type(Map.of("fields", fields), v -> call(() -> constructor.newInstance(types.entrySet().stream()
                .map(e -> e.getValue().read.apply(v == null ? null : ((Map<?, ?>) v).get(e.getKey()))).toArray())));
    }

    /** What JSON has of a record. */
    static Map<String, Object> members(Record record) {
        var members = new LinkedHashMap<String, Object>();
        for (var c : COMPONENTS.get(record.getClass()))
            members.put(snake(c.getName()), call(() -> c.getAccessor().invoke(record)));
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
