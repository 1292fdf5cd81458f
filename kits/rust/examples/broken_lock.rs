//! ricart_agrawala with one rule wrong, to see how Conclave finds it: a process that wants to enter
//! compares the sequence numbers alone, and defers a request only if its own number is lower. To a request
//! with an equal number it replies, and so does the other process. So two processes that ask at once both
//! enter.

use conclave::{messages, record, serve, Config, Env, Id, Params, Process, NONE};

record! {
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
struct BrokenLock {
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

impl Process for BrokenLock {
    type Message = Message;

    const SPEC: &'static str = r#"{
        "summary": "ricart-agrawala with one rule wrong: of two requests with equal numbers, none waits",
        "survives": {"duplication": true},
        "promises": {"starvation_free": true},
        "breaks": "Any crash blocks it, also of a process that does not want to enter, and so does a lost
            message: a process that asks afterwards lacks one reply forever."
    }"#;

    /// Starts with no request and no number seen. A process that comes back from a crash counts on
    /// beyond its former life, or its requests would come before those inside.
    fn new(config: Config, _: Params, _: Option<Message>) -> Self {
        BrokenLock {
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

impl BrokenLock {
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

    /// Rule 2, with the mistake: the rest of the stamps should decide between equal numbers.
    fn on_request(&mut self, env: &mut Env<Message>, stamp: Stamp) {
        self.highest = self.highest.max(stamp.number);
        if self.requesting && self.own.number < stamp.number {
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

serve!(BrokenLock: request(), release());

#[cfg(test)]
mod tests {
    use super::BrokenLock;
    use conclave::testing::Cluster;

    /// What the mistake does: two that ask at once are inside at once.
    #[test]
    fn two_enter() {
        let mut cluster = Cluster::<BrokenLock>::new(2, "{}");
        cluster.request(1);
        cluster.request(2);
        cluster.settle();
        assert_eq!(cluster.inside(), [2, 1]);
    }
}
