import static conclave.Tests.equal;

import conclave.Driver;
import conclave.Driver.Elected;
import conclave.Driver.Granted;
import conclave.Driver.Sent;
import conclave.Driver.TimerCancelled;
import conclave.Driver.TimerSet;
import conclave.Program;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The tests of the examples: run them with java -cp ... conclave.Tests ExamplesTest. */
final class ExamplesTest {
    private static final Duration MS = Duration.ofMillis(1);

    private static RicartAgrawala.Request request(long number, int id) {
        return new RicartAgrawala.Request(new RicartAgrawala.Stamp(number, id));
    }

    private static RicartAgrawala.Reply reply(long number, int id) {
        return new RicartAgrawala.Reply(new RicartAgrawala.Stamp(number, id));
    }

    private static Driver lock(Program program) {
        return new Driver(program, 3);
    }

    /** 2 asks with number 1, then hears of 9. A request with number 5 comes after its own nevertheless. */
    static void testRicartAgrawalaComparesTheRequestNotTheClock() {
        Driver driver = lock(RicartAgrawala.program());
        equal(List.of(new Sent(1, request(1, 2)), new Sent(3, request(1, 2))), driver.request(2));
        equal(List.of(), driver.receive(2, 3, request(9, 3)));
        equal(List.of(), driver.receive(2, 1, request(5, 1)));
        equal(List.of(), driver.receive(2, 1, reply(1, 2)));
        equal(List.of(), driver.receive(2, 1, reply(1, 2)));
        equal(List.of(new Granted()), driver.receive(2, 3, reply(1, 2)));
        equal(List.of(new Sent(3, reply(9, 3)), new Sent(1, reply(5, 1))), driver.release(2));
        equal(List.of(new Sent(1, request(10, 2)), new Sent(3, request(10, 2))), driver.request(2));
        equal(List.of(), driver.receive(2, 1, reply(1, 2)));
    }

    /** Everybody asks at once: they enter one after the other, in the order of the stamps. */
    static void testRicartAgrawalaLetsInOneAtATime() {
        Driver driver = lock(RicartAgrawala.program());
        for (int p = 3; p >= 1; p--) driver.request(p);
        for (int p = 1; p <= 3; p++) {
            driver.deliverAll();
            equal(List.of(p), driver.inside());
            driver.release(p);
        }
    }

    /** A process that comes back numbers its requests beyond those of its former life. */
    static void testRicartAgrawalaRecovers() {
        Driver driver = lock(RicartAgrawala.program());
        driver.crash(1);
        driver.recover(1);
        equal(new Sent(2, request((1L << 32) + 1, 1)), driver.request(1).get(0));
    }

    static void testBrokenLockLetsInTwo() {
        Driver driver = lock(BrokenLock.program());
        driver.request(1);
        driver.request(2);
        driver.deliverAll();
        equal(List.of(1, 2), driver.inside());
    }

    /** 3 has crashed and 1 notices: 2 answers it, asks 3 in vain, and leads. */
    static void testBullyElectsTheHighest() {
        Driver driver = new Driver(Bully.program(), 3).leader(3, true);
        var attempt = new Bully.Attempt(0, 1);
        equal(List.of(new Sent(2, new Bully.Election(attempt)), new Sent(3, new Bully.Election(attempt)),
                new Elected(0, 0), new TimerSet("T", MS.multipliedBy(23))), driver.elect(1));
        driver.run();
        for (int p = 1; p <= 2; p++) equal(2, driver.leader(p));
        equal(MS.multipliedBy(23), driver.now());
        driver.recover(3);
        driver.run();
        for (int p = 1; p <= 3; p++) equal(3, driver.leader(p));
    }

    /** One that answered dies before it announces itself: after T', the next election decides. */
    static void testBullyRespondentDies() {
        Driver driver = new Driver(Bully.program(), 3).leader(3, true);
        driver.elect(1);
        driver.deliver();
        driver.deliver();
        driver.deliver(); // the answer of 2
        driver.crash(2);
        driver.run();
        equal(1, driver.leader(1));
        equal(MS.multipliedBy(46 + 23), driver.now());
    }

    /** Estimates rank before IDs, and each process knows all. */
    static void testBullyRanksByEstimate() {
        Driver driver = new Driver(Bully.program(), 3).setEach("est", List.of(7L, 0L, 7L));
        driver.elect(2);
        driver.run();
        equal(3, driver.leader(2));
        driver.crash(3);
        driver.elect(2);
        driver.run();
        equal(1, driver.leader(2));
    }

    /** The literal text: each question starts an attempt of its own, with a timer of its own. */
    static void testBullyWithoutSuppression() {
        Driver driver = new Driver(Bully.program(), 3).set("suppress_duplicates", false);
        driver.elect(2);
        var attempt = new Bully.Attempt(0, 1);
        equal(List.of(new Sent(1, new Bully.Answer(attempt)),
                        new Sent(3, new Bully.Election(new Bully.Attempt(0, 2))),
                        new Elected(0, 0), new TimerSet("T of attempt 2", MS.multipliedBy(23))),
                driver.receive(2, 1, new Bully.Election(attempt)));
        equal(List.of(new TimerCancelled("T of attempt 1"), new TimerSet("T'", MS.multipliedBy(46))),
                driver.receive(2, 3, new Bully.Answer(attempt)));
    }

    static void testBullyCoordinatorRepliesToTheAsker() {
        Driver driver = new Driver(Bully.program(), 3).leader(3, false).set("coordinator_reply", "unicast");
        var attempt = new Bully.Attempt(0, 1);
        equal(List.of(new Sent(1, new Bully.Answer(attempt)), new Sent(1, new Bully.Coordinator())),
                driver.receive(3, 1, new Bully.Election(attempt)));
    }

    /**
     * Two announcements within T: the process that hears both holds an election; later it believes the lower
     * one.
     */
    static void testBullyRace() {
        Driver driver = new Driver(Bully.program(), 4).leader(4, true);
        driver.receive(1, 3, new Bully.Coordinator());
        equal(new Sent(2, new Bully.Election(new Bully.Attempt(0, 1))),
                driver.receive(1, 2, new Bully.Coordinator()).get(0));
    }

    static void testChangRobertsElectsTheLargestInitiator() {
        Driver driver = new Driver(ChangRoberts.program(), 4);
        driver.elect(2);
        driver.elect(3);
        driver.run();
        for (int p = 1; p <= 4; p++) equal(3, driver.leader(p));
    }

    static void testChangRobertsJoin() {
        Driver driver = new Driver(ChangRoberts.program(), 4).set("mode", "join");
        driver.elect(2);
        driver.run();
        for (int p = 1; p <= 4; p++) equal(4, driver.leader(p));
    }

    /** Without the rule, a process that has passed an ID on begins nevertheless. */
    static void testChangRobertsPassive() {
        for (boolean passive : List.of(true, false)) {
            Driver driver = new Driver(ChangRoberts.program(), 3).set("relay_makes_passive", passive);
            equal(List.of(new Sent(3, new ChangRoberts.Probe(3))),
                    driver.receive(2, 1, new ChangRoberts.Probe(3)));
            equal(passive ? List.of() : List.of(new Sent(3, new ChangRoberts.Probe(2))), driver.elect(2));
        }
    }

    static void testTextOfDurations() {
        Map.of("0s", 0L, "1ns", 1L, "1.5\u00b5s", 1_500L, "23ms", 23_000_000L, "1.2s", 1_200_000_000L,
                "1m30s", 90_000_000_000L, "1h0m0.5s", 3_600_500_000_000L)
                .forEach((text, ns) -> equal(text, Timeouts.text(Duration.ofNanos(ns))));
    }
}
