import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * An event loop as JBotSim's, and no more: a clock of rounds. In each round every node first takes the messages that
 * were sent to it in the round before (onMessage), then acts (onClock). java Loop ALGORITHM NODES ENTRIES
 */
public final class Loop {
    static final int REQUEST = 0, REPLY = 1, ACK = 2, RELEASE = 3;

    record Message(int source, int kind, int number, int id) {}

    static boolean before(int number, int id, int otherNumber, int otherId) {
        return number < otherNumber || number == otherNumber && id < otherId;
    }

    abstract static class Node {
        final int id;
        final Loop loop;
        ArrayDeque<Message> mailbox = new ArrayDeque<>(), next = new ArrayDeque<>();
        int left, wake = 1, leave = -1;

        Node(Loop loop, int id, int left) {
            this.loop = loop;
            this.id = id;
            this.left = left;
        }

        abstract void request();

        abstract void release();

        abstract void onMessage(Message m);

        void onClock(int round) {
            if (round == leave) {
                leave = -1;
                loop.inside--;
                loop.done++;
                left--;
                release();
                wake = left > 0 ? round + 1 : -1;
            } else if (round == wake) {
                wake = -1;
                request();
            }
        }

        void granted() {
            if (++loop.inside != 1) {
                throw new IllegalStateException("two processes are inside");
            }
            leave = loop.round + 1;
        }

        void send(Node to, int kind, int number) {
            loop.sent++;
            to.next.add(new Message(id, kind, number, id));
        }

        void sendAll(int kind, int number) {
            for (Node n : loop.nodes) {
                if (n != this) {
                    send(n, kind, number);
                }
            }
        }
    }

    static final class RicartAgrawala extends Node {
        int highest, own, missing;
        boolean requesting;
        List<Node> deferred = new ArrayList<>();

        RicartAgrawala(Loop loop, int id, int left) {
            super(loop, id, left);
        }

        void request() {
            requesting = true;
            own = highest + 1;
            missing = loop.nodes.size() - 1;
            sendAll(REQUEST, own);
        }

        void release() {
            requesting = false;
            for (Node n : deferred) {
                send(n, REPLY, 0);
            }
            deferred.clear();
        }

        void onMessage(Message m) {
            if (m.kind == REPLY) {
                if (--missing == 0) {
                    granted();
                }
                return;
            }
            highest = Math.max(highest, m.number);
            Node source = loop.nodes.get(m.source);
            if (requesting && before(own, id, m.number, m.id)) {
                deferred.add(source);
            } else {
                send(source, REPLY, 0);
            }
        }
    }

    static final class Lamport extends Node {
        int clock, own, acks;
        boolean requesting;
        final int[] queue;

        Lamport(Loop loop, int id, int left, int nodes) {
            super(loop, id, left);
            queue = new int[nodes];
            Arrays.fill(queue, Integer.MAX_VALUE);
        }

        void request() {
            requesting = true;
            own = ++clock;
            acks = 0;
            queue[id] = own;
            sendAll(REQUEST, own);
        }

        void release() {
            requesting = false;
            queue[id] = Integer.MAX_VALUE;
            sendAll(RELEASE, ++clock);
        }

        void onMessage(Message m) {
            clock = Math.max(clock, m.number) + 1;
            if (m.kind == REQUEST) {
                queue[m.source] = m.number;
                send(loop.nodes.get(m.source), ACK, clock);
                return;
            }
            if (m.kind == ACK) {
                acks++;
            } else {
                queue[m.source] = Integer.MAX_VALUE;
            }
            if (!requesting || acks < queue.length - 1) {
                return;
            }
            for (int i = 0; i < queue.length; i++) {
                if (i != id && before(queue[i], i, own, id)) {
                    return;
                }
            }
            acks = 0;
            granted();
        }
    }

    final List<Node> nodes = new ArrayList<>();
    int round, inside, done;
    long sent;

    void run(int entries) {
        while (done < entries) {
            round++;
            for (Node n : nodes) {
                ArrayDeque<Message> box = n.mailbox;
                n.mailbox = n.next;
                n.next = box;
            }
            for (Node n : nodes) {
                for (Message m; (m = n.mailbox.poll()) != null; ) {
                    n.onMessage(m);
                }
            }
            for (Node n : nodes) {
                n.onClock(round);
            }
        }
    }

    public static void main(String[] args) {
        int count = Integer.parseInt(args[1]), entries = Integer.parseInt(args[2]);
        Loop loop = new Loop();
        for (int i = 0; i < count; i++) {
            loop.nodes.add(args[0].equals("lamport")
                    ? new Lamport(loop, i, entries / count, count) : new RicartAgrawala(loop, i, entries / count));
        }
        long begun = System.nanoTime();
        loop.run(entries);
        System.out.printf("%d %d %.6f%n", loop.done, loop.sent, (System.nanoTime() - begun) / 1e9);
    }
}
