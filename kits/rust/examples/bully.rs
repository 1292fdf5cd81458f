//! The election of Garcia-Molina (IEEE ToC 1982) as textbooks and lecture notes teach it, not as the
//! paper has it: by estimate, without halting and reorganizing the others. Comments cite the numbered
//! rules of that form.
//!
//! A process that misses the coordinator asks all of higher rank. If none answers within T it announces
//! itself to all of lower rank. If one answers, it leaves the election to that one and waits, for T' at
//! most, for the announcement of the winner. A process that is asked answers and holds an election of its
//! own, so the live process of highest rank wins. This relies on known delays: an answer later than T
//! leads to a second coordinator.

use std::time::Duration;

use conclave::{messages, record, serve, Config, Env, Id, Network, Params, Process, NONE};

record! {
    /// Identifies one election of one process across its crashes, so that an answer to an earlier one is
    /// not taken for an answer to this one.
    #[derive(Clone, Copy, Debug)]
    struct Attempt { incarnation: u32, count: u32 }
}

messages! {
    #[derive(Clone, Debug)]
    enum Message {
        /// Asks a process of higher rank whether it is alive.
        Election = "ELECTION" { attempt: Attempt },
        /// Says that its sender is, in answer to the attempt.
        Answer = "ANSWER" { attempt: Attempt },
        /// Announces its sender.
        Coordinator = "COORDINATOR",
    }
}

#[derive(Debug, PartialEq, Clone, Copy)]
enum Status {
    Idle,
    /// ELECTION is out, no answer yet.
    Electing,
    /// A process of higher rank answered.
    Waiting,
}

/// A process is the coordinator, by its own account.
#[derive(Debug)]
struct Announcement {
    from: Id,
    at: Duration,
}

#[derive(Debug)]
struct Bully {
    id: Id,
    others: Vec<Id>,
    incarnation: u32,
    /// Of each process, by ID: the first part of its rank.
    estimates: Vec<i64>,
    suppress: bool,
    unicast: bool,
    /// T, for an answer.
    t: Duration,
    /// T', for an announcement.
    t_prime: Duration,
    status: Status,
    coordinator: Id,
    /// Of the last T, believed or not.
    heard: Vec<Announcement>,
    /// Made so far in this incarnation.
    attempts: u32,
    /// Attempts without an answer: with suppression, one at most.
    open: Vec<u32>,
}

const COORDINATOR_TIMER: &str = "T'";

/// What default time-outs leave on top of the latency, for the schedulers of real machines.
const SLACK: Duration = Duration::from_millis(20);

impl Process for Bully {
    type Message = Message;

    const SPEC: &'static str = r#"{
        "summary": "ask all of higher rank; if none answers in time, announce yourself",
        "paper": {
            "authors": "H. Garcia-Molina",
            "title": "Elections in a distributed computing system",
            "venue": "IEEE Transactions on Computers C-31(1), 48-59",
            "year": 1982,
            "doi": "10.1109/TC.1982.1675885",
            "deviations": "This is the textbook form (Coulouris et al., section 15.3; lecture notes), and
                messages are counted by it. In the paper a process is down, or in the state Election,
                Reorganization or Normal. A process that holds an election asks those of higher rank in
                turn whether they are there, and stops at the first that answers; that one does not hold
                an election because it was asked. If none answers, it HALTs all of lower rank before it
                announces itself to those that heed it, and makes them READY when they are reorganized.
                Here all of higher rank are asked at once, a process that is asked holds an election, and
                a single COORDINATOR ends it. Ours differs from that form, too: ranks are pairs (est, ID),
                since estimates may be equal. Answers name the attempt that they answer. A process that is
                electing answers but does not start again (suppress_duplicates; false is the literal text,
                with a number of messages exponential in n). A coordinator that is asked announces itself
                to all of lower rank again (coordinator_reply; unicast: to the asker alone). If a process
                of lower rank announces itself within T after one of higher rank, a process that hears
                both holds an election: the two announcements may be a race between a process that came
                back and one that did not know of it."
        },
        "parameters": [
            {"name": "t_answer", "type": "duration", "asks": true, "min": 0,
                "doc": "T, how long to wait for an answer; default 3d + 20 ms, d the largest latency"},
            {"name": "t_coordinator", "type": "duration", "asks": true, "min": 0,
                "doc": "T', how long to wait for the announcement after an answer; default T + 3d + 20 ms"},
            {"name": "suppress_duplicates", "type": "bool", "default": true,
                "doc": "a process that is electing does not start again when asked"},
            {"name": "coordinator_reply", "type": "enum", "default": "broadcast",
                "choices": ["broadcast", "unicast"],
                "doc": "to which processes a coordinator that is asked announces itself"},
            {"name": "est", "type": "int", "default": 0, "per_process": true,
                "doc": "estimate: the rank's first part, the ID is its second"}
        ],
        "timers": ["T'", "T", "T of attempt *"],
        "needs": {"synchrony": "synchronous", "detector": "eventually perfect"},
        "doubts": true,
        "survives": {"crashes": "all but one", "recovery": true},
        "promises": {"announced": true, "leadership": "eventual", "highest": true, "live": "steady"},
        "breaks": "Delays above the bound, or a partition, make several coordinators: one in each part, or
            one for each process whose answers come too late. A heal alone does not end it: a process must
            start an election."
    }"#;

    /// Starts idle, with the coordinator that is settled, if one is.
    fn new(config: Config, params: Params, _: Option<Message>) -> Self {
        Bully {
            id: config.id,
            others: config.others(),
            incarnation: config.incarnation,
            estimates: params.all("est", config.peers.len()),
            suppress: params.get("suppress_duplicates"),
            unicast: params.get::<String>("coordinator_reply") == "unicast",
            t: params.get("t_answer"),
            t_prime: params.get("t_coordinator"),
            status: Status::Idle,
            coordinator: config.leader,
            heard: Vec::new(),
            attempts: 0,
            open: Vec::new(),
        }
    }

    /// Time-outs cover a round trip; T' comes on top of T.
    fn default_of(parameter: &str, network: &Network, params: &Params) -> String {
        let round_trip = 3 * network.latency + SLACK;
        let before = if parameter == "t_answer" { Duration::ZERO } else { params.get("t_answer") };
        (before + round_trip).as_nanos().to_string()
    }

    /// The promises rest on time-outs that cover a round trip.
    fn doubt(network: &Network, params: &Params) -> Result<(), String> {
        let (t, t_prime): (Duration, Duration) = (params.get("t_answer"), params.get("t_coordinator"));
        let least = 2 * network.latency;
        if t < least {
            return Err(format!("t_answer {:?} is below 2d = {:?}", t, least));
        }
        if t_prime < t + least {
            return Err(format!("t_coordinator {:?} is below T + 2d = {:?}", t_prime, t + least));
        }
        Ok(())
    }

    fn receive(&mut self, env: &mut Env<Message>, from: Id, message: Message) {
        match message {
            Message::Election { attempt } => self.on_election(env, from, attempt),
            Message::Answer { attempt } => self.on_answer(env, attempt),
            Message::Coordinator => self.on_coordinator(env, from),
        }
    }

    /// With suppression there is one attempt at a time, and a process that takes part in it follows none.
    /// A process that has taken part in one follows none below itself.
    fn invariant(&self) -> Result<(), String> {
        let status = self.status;
        if self.suppress && (status == Status::Electing) != (self.open.len() == 1) {
            return Err(format!(
                "status {} with {} attempts without an answer",
                status as u8,
                self.open.len()
            ));
        }
        if self.suppress && status != Status::Idle && self.coordinator != NONE {
            return Err(format!("status {} but follows {}", status as u8, self.coordinator));
        }
        if status == Status::Idle && self.attempts > 0 && self.above(self.id, self.coordinator) {
            return Err(format!("follows {} after attempt {}", self.coordinator, self.attempts));
        }
        Ok(())
    }
}

impl Bully {
    /// Rule 1: a suspicion, or a withdrawn one, starts an election unless one is in progress here.
    fn elect(&mut self, env: &mut Env<Message>) {
        if self.status == Status::Idle {
            self.hold_election(env);
        }
    }

    /// Rule 7: a process that comes back holds an election, and so displaces a coordinator of lower rank.
    fn start(&mut self, env: &mut Env<Message>) {
        if self.incarnation > 0 {
            self.hold_election(env);
        }
    }

    fn timeout(&mut self, env: &mut Env<Message>, timer: String) {
        if timer == COORDINATOR_TIMER {
            // Rule 5: a process that answered died before it announced itself.
            self.hold_election(env);
        } else {
            self.on_silence(env, &timer);
        }
    }

    /// Says whether p ranks above q: by estimate, then by ID.
    fn above(&self, p: Id, q: Id) -> bool {
        let rank = |id: Id| (id.checked_sub(1).map_or(0, |i| self.estimates[i as usize]), id);
        rank(p) > rank(q)
    }

    /// The body of rule 1. The suspect is asked as well: were it not, the process next to it in rank
    /// would wait for no process.
    fn hold_election(&mut self, env: &mut Env<Message>) {
        self.attempts += 1;
        let attempt = Attempt { incarnation: self.incarnation, count: self.attempts };
        let higher: Vec<Id> = self.others.iter().copied().filter(|p| self.above(*p, self.id)).collect();
        if higher.is_empty() {
            self.declare(env);
            return;
        }
        env.broadcast(&higher, Message::Election { attempt });
        self.status = Status::Electing;
        self.coordinator = NONE;
        env.elected(NONE, 0);
        self.open.push(self.attempts);
        env.set_timer(&self.answer_timer(self.attempts), self.t);
    }

    /// Rules 2 and 2': answer always; hold an election only if idle.
    fn on_election(&mut self, env: &mut Env<Message>, from: Id, attempt: Attempt) {
        env.send(from, Message::Answer { attempt });
        if self.status != Status::Idle && self.suppress {
            return;
        }
        if self.coordinator == self.id && self.unicast {
            env.send(from, Message::Coordinator);
        } else {
            self.hold_election(env);
        }
    }

    /// Rules 3 and 3': leave the election to the process that answered.
    fn on_answer(&mut self, env: &mut Env<Message>, attempt: Attempt) {
        let open = self.open.iter().position(|count| *count == attempt.count);
        if let (Some(i), true) = (open, attempt.incarnation == self.incarnation) {
            self.open.remove(i);
            env.cancel_timer(&self.answer_timer(attempt.count));
            self.status = Status::Waiting;
            env.set_timer(COORDINATOR_TIMER, self.t_prime);
        }
    }

    /// Rule 4: T is over and no process of higher rank answered.
    fn on_silence(&mut self, env: &mut Env<Message>, timer: &str) {
        let attempt = self.open.iter().position(|count| self.answer_timer(*count) == timer);
        attempt.map(|i| self.open.remove(i));
        self.declare(env);
    }

    /// Makes this process the coordinator, and tells those of lower rank: rule 4.
    fn declare(&mut self, env: &mut Env<Message>) {
        self.status = Status::Idle;
        self.coordinator = self.id;
        env.cancel_timer(COORDINATOR_TIMER);
        env.elected(self.id, 0);
        let lower: Vec<Id> = self.others.iter().copied().filter(|p| self.above(self.id, *p)).collect();
        env.broadcast(&lower, Message::Coordinator);
    }

    /// Rule 6. One of lower rank that announces itself is bullied. If one of higher rank did so within T,
    /// the two messages raced each other: an election tells which of the two is alive.
    fn on_coordinator(&mut self, env: &mut Env<Message>, from: Id) {
        if self.raced(from, env.now) || self.above(self.id, from) {
            self.elect(env);
            return;
        }
        self.status = Status::Idle;
        self.coordinator = from;
        for attempt in std::mem::take(&mut self.open) {
            env.cancel_timer(&self.answer_timer(attempt));
        }
        env.cancel_timer(COORDINATOR_TIMER);
        env.elected(from, 0);
    }

    /// Notes that `from` announces itself, and says whether one above it did so less than T ago.
    fn raced(&mut self, from: Id, now: Duration) -> bool {
        let t = self.t;
        self.heard.retain(|a| a.from != from && now - a.at < t);
        self.heard.push(Announcement { from, at: now });
        self.heard.iter().any(|a| self.above(a.from, from))
    }

    /// T of one attempt. With suppression there is but one at a time.
    fn answer_timer(&self, attempt: u32) -> String {
        if self.suppress {
            "T".into()
        } else {
            format!("T of attempt {}", attempt)
        }
    }
}

serve!(Bully: start(), timeout(timer), elect());

#[cfg(test)]
mod tests {
    use super::Bully;
    use conclave::testing::Cluster;

    fn all_follow(cluster: &Cluster<Bully>, leader: u32, live: usize) {
        assert_eq!(cluster.leaders().values().copied().collect::<Vec<_>>(), vec![leader; live]);
    }

    /// N-1 messages if the second highest detects the crash of the highest alone: one asks the highest.
    #[test]
    fn second_highest_detects() {
        let mut cluster = Cluster::<Bully>::new(5, "{}");
        cluster.crash(5);
        cluster.elect(4);
        cluster.settle();
        assert_eq!(cluster.expire(), Some((4, "T".into())));
        cluster.settle();
        all_follow(&cluster, 4, 4);
        assert_eq!(
            (cluster.sent("ELECTION"), cluster.sent("ANSWER"), cluster.sent("COORDINATOR")),
            (1, 0, 3)
        );
    }

    /// A process that comes back displaces a coordinator of lower rank.
    #[test]
    fn highest_comes_back() {
        let mut cluster = Cluster::<Bully>::new(3, "{}");
        cluster.crash(3);
        cluster.elect(1);
        cluster.settle();
        while cluster.expire().is_some() {
            cluster.settle();
        }
        all_follow(&cluster, 2, 2);
        cluster.recover(3);
        cluster.settle();
        all_follow(&cluster, 3, 3);
    }

    /// Without suppression each attempt has a timer of its own.
    #[test]
    fn literal_text() {
        let mut cluster = Cluster::<Bully>::new(2, r#"{"suppress_duplicates": false}"#);
        cluster.crash(2);
        cluster.elect(1);
        assert_eq!(cluster.expire(), Some((1, "T of attempt 1".into())));
        all_follow(&cluster, 1, 1);
    }
}
