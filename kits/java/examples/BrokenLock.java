import conclave.Config;
import conclave.Program;
import conclave.Spec;
import java.io.IOException;

/**
 * A lock with an error for you to find: {@link RicartAgrawala} with one rule wrong. It compares the numbers of two
 * requests alone. If the numbers are equal, both processes reply, and both enter.
 */
@Spec(
        summary = "ricart-agrawala with one rule wrong: two processes that ask at once both enter",
        messages = {RicartAgrawala.Request.class, RicartAgrawala.Reply.class},
        survives = @Spec.Survives(duplication = true),
        promises = @Spec.Promises(starvationFree = true))
public final class BrokenLock extends RicartAgrawala {
    BrokenLock(Config config) {
        super(config);
    }

    @Override boolean comesFirst(Stamp own, Stamp other) {
        return own.number() < other.number();
    }

    public static void main(String[] args) throws IOException {
        new Program(BrokenLock.class).serve();
    }
}
