import conclave.Config;
import conclave.Elector;
import conclave.Env;
import conclave.Node;
import conclave.Spec;
import java.util.List;

/** Fails at lines that KitTest knows. */
@Spec(summary = "a test", messages = {}) final class Outside extends Node implements Elector {
    Outside(Config config) {
        super(config); if (id == 2) throw new IllegalStateException("not 2");
    }

    @Override public void elect(Env env) {
        List.of().get(0);
    }

    @Override public void receive(Env env, int from, Record message) {}
}
