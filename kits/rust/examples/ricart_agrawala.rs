//! The permission algorithm of Ricart and Agrawala (CACM 1981).
//!
//! A process that wants to enter asks all others and enters when all have replied. A process that
//! wants to enter itself, or is inside, compares the two requests: to the later one it replies only
//! when it leaves. Requests are ordered by the sequence number that each carries, one above the
//! highest that its sender had seen, and equal numbers by process. So of any two requests one waits
//! for the other, and never both. There is no RELEASE: the deferred replies take its place.

use conclave::{messages, record, serve, Config, Env, Id, Params, Process, NONE};

record! {
    /// Orders requests: by sequence number, and equal ones by process.
    #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
    struct Stamp { number: u64, id: Id }
}

messages! {
    #[derive(Clone, Debug, PartialEq)]
    enum Message {
        /// Asks its receiver for permission to enter.
        Request = "REQUEST" { stamp: Stamp },
        /// Gives permission to the request that it names.
        Reply = "REPLY" { stamp: Stamp },
    }
}

/// The paper's variables; its `Outstanding_Reply_Count` is the set `needed`.
#[derive(Debug)]
struct RicartAgrawala {
    id: Id,
    others: Vec<Id>,
    /// Of the present request, otherwise of the last one.
    own: Stamp,
    /// The highest sequence number seen in any request.
    highest: u64,
    /// From the request until the release.
    requesting: bool,
    /// Processes whose replies are still to come, ascending.
    needed: Vec<Id>,
    /// Requests to be answered at the release.
    deferred: Vec<Stamp>,
}

impl Process for RicartAgrawala {
    type Message = Message;

    const SPEC: &'static str = r#"{
        "summary": "ask all others; a process that asked earlier or is inside replies when it leaves",
        "paper": {
            "authors": "G. Ricart, A. K. Agrawala",
            "title": "An optimal algorithm for mutual exclusion in computer networks",
            "venue": "CACM 24(1), 9-17",
            "year": 1981,
            "doi": "10.1145/358527.358537",
            "deviations": "A REPLY names the request that it answers, and those that have replied are kept
                as a set; the paper counts bare REPLYs. So duplicates change nothing. A process that
                comes back numbers its requests beyond those of its former life."
        },
        "survives": {"duplication": true},
        "promises": {"starvation_free": true},
        "breaks": "Any crash blocks it, also of a process that does not want to enter, and so does a lost
            message: a process that asks afterwards lacks one reply forever."
    }"#;

    /// Starts with no request and no number seen. A process that comes back from a crash counts on
    /// beyond its former life, or its requests would come before those inside.
    fn new(config: Config, _: Params, _: Option<Message>) -> Self {
        RicartAgrawala {
            id: config.id,
            others: config.others(),
            own: Stamp { number: 0, id: NONE },
            highest: u64::from(config.incarnation) << 32,
            requesting: false,
            needed: Vec::new(),
            deferred: Vec::new(),
        }
    }

    fn receive(&mut self, env: &mut Env<Message>, from: Id, message: Message) {
        match message {
            Message::Request { stamp } => self.on_request(env, stamp),
            Message::Reply { stamp } => self.on_reply(env, from, stamp),
        }
    }

    /// What the paper's proof rests on: only a requester waits or makes others wait, and those come
    /// after it.
    fn invariant(&self) -> Result<(), String> {
        if !self.requesting && !(self.needed.is_empty() && self.deferred.is_empty()) {
            return Err("not requesting, but replies are due".into());
        }
        match self.deferred.iter().find(|deferred| **deferred < self.own) {
            Some(s) => Err(format!("request {:?} is deferred, but comes before ours, {:?}", s, self.own)),
            None => Ok(()),
        }
    }
}

impl RicartAgrawala {
    /// Rule 1: choose a number above all that were seen, and ask.
    fn request(&mut self, env: &mut Env<Message>) {
        self.requesting = true;
        self.own = Stamp { number: self.highest + 1, id: self.id };
        self.needed = self.others.clone();
        env.broadcast(&self.others, Message::Request { stamp: self.own });
        self.enter_if_allowed(env);
    }

    /// Rule 4: the answers that others have been waiting for.
    fn release(&mut self, env: &mut Env<Message>) {
        self.requesting = false;
        for stamp in self.deferred.drain(..) {
            env.send(stamp.id, Message::Reply { stamp });
        }
    }

    /// Rule 2. What counts is the number of the own request, not the highest seen since. Inside the
    /// critical section, too: whatever comes before the own request was over when its sender replied.
    fn on_request(&mut self, env: &mut Env<Message>, stamp: Stamp) {
        self.highest = self.highest.max(stamp.number);
        if self.requesting && self.own < stamp {
            self.deferred.push(stamp);
        } else {
            env.send(stamp.id, Message::Reply { stamp });
        }
    }

    /// Rule 3. A reply to an earlier request changes nothing.
    fn on_reply(&mut self, env: &mut Env<Message>, from: Id, stamp: Stamp) {
        if stamp != self.own {
            return;
        }
        if let Ok(i) = self.needed.binary_search(&from) {
            self.needed.remove(i);
            self.enter_if_allowed(env);
        }
    }

    fn enter_if_allowed(&self, env: &mut Env<Message>) {
        if self.needed.is_empty() {
            env.granted();
        }
    }
}

serve!(RicartAgrawala: request(), release());

#[cfg(test)]
mod tests {
    use super::{Message, RicartAgrawala, Stamp};
    use conclave::testing::{Cluster, Effect};

    fn stamp(number: u64, id: u32) -> Stamp {
        Stamp { number, id }
    }

    /// 2(N-1) messages for each entry, and entries follow the order of the stamps.
    #[test]
    fn all_ask_at_once() {
        let n = 5;
        let mut cluster = Cluster::<RicartAgrawala>::new(n, "{}");
        for id in 1..=n {
            cluster.request(id);
        }
        for id in 1..=n {
            cluster.settle();
            assert_eq!(cluster.inside(), [id]);
            cluster.release(id);
        }
        assert_eq!((cluster.sent("REQUEST"), cluster.sent("REPLY")), (20, 20));
    }

    /// 2 asks with number 1, then hears of number 9. A request with number 5 comes after its own, although
    /// the highest number that it has seen is larger.
    #[test]
    fn compares_the_request_not_the_clock() {
        let mut cluster = Cluster::<RicartAgrawala>::new(3, "{}");
        cluster.request(2);
        assert_eq!(cluster.receive(2, 3, Message::Request { stamp: stamp(9, 3) }), []);
        assert_eq!(cluster.receive(2, 1, Message::Request { stamp: stamp(5, 1) }), []);
        assert_eq!(cluster.receive(2, 1, Message::Reply { stamp: stamp(1, 2) }), []);
        assert_eq!(cluster.receive(2, 3, Message::Reply { stamp: stamp(1, 2) }), [Effect::Granted]);
        let replies = [stamp(9, 3), stamp(5, 1)]
            .map(|s| Effect::Send { to: s.id, message: Message::Reply { stamp: s } });
        assert_eq!(cluster.release(2), replies);
    }
}
