import conclave.Program;
import java.io.IOException;

/**
 * A lock with an error for you to find: {@link RicartAgrawala} with one rule wrong. It compares the numbers
 * of two requests alone. If the numbers are equal, both processes reply, and both enter.
 */
public final class BrokenLock extends RicartAgrawala {
    private static final String SPEC = """
            {
              "summary": "ricart-agrawala with one rule wrong: two processes that ask at once both enter",
              "messages": ["REQUEST", "REPLY"],
              "survives": {"duplication": true},
              "promises": {"starvation_free": true}
            }""";

    BrokenLock(Config config) {
        super(config);
    }

    @Override boolean comesFirst(Stamp own, Stamp other) {
        return own.number() < other.number();
    }

    static Program program() {
        return new Program(SPEC, BrokenLock.class, BrokenLock::new);
    }

    public static void main(String[] args) throws IOException {
        program().serve();
    }
}
