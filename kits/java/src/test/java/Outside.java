import conclave.Node;
import conclave.Program;
import java.util.List;

/** Fails at lines that KitTest knows. */
public final class Outside extends Node implements Node.Elector {
    public static final Program PROGRAM = new Program("{}", Outside.class, Outside::new);

    Outside(Config config) {
        super(config); if (id == 2) throw new IllegalStateException("not 2");
    }

    @Override public void elect(Env env) {
        List.of().get(0);
    }

    @Override public void receive(Env env, int from, Record message) {}

    record Note(int n) {}
}
