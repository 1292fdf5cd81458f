//! The election on a ring of Chang and Roberts (CACM 1979).
//!
//! A process that wants an election sends its ID round the ring, in one direction. A process that takes
//! part itself passes larger IDs on, and swallows smaller ones. So the largest comes round, and its process
//! leads. It says so in a second lap. How many messages that takes depends on the order of the IDs: about
//! twice N if they ascend in the direction of the messages, half of N squared if they descend, and N times
//! the N-th harmonic number on average.

use conclave::{messages, serve, Config, Env, Id, Network, Params, Process, NONE};

messages! {
    #[derive(Clone, Debug)]
    enum Message {
        /// Goes round the ring with the ID of the process that wants to lead.
        Probe = "PROBE" { id: Id },
        /// Goes round with the ID of the leader.
        Elected = "ELECTED" { id: Id },
    }
}

#[derive(Debug)]
struct ChangRoberts {
    id: Id,
    next: Id,
    join: bool,
    /// It does not want to lead once it has passed an ID on.
    passive: bool,
    /// It has taken part in the election, if only by passing an ID on.
    taken: bool,
    /// Its own ID went out.
    candidate: bool,
    leader: Id,
}

impl Process for ChangRoberts {
    type Message = Message;

    const SPEC: &'static str = r#"{
        "summary": "on a ring; each passes larger IDs on, so that the largest returns to its sender",
        "paper": {
            "authors": "E. Chang, R. Roberts",
            "title": "An improved algorithm for decentralized extrema-finding in circular configurations
                of processes",
            "venue": "CACM 22(5), 281-283",
            "year": 1979,
            "doi": "10.1145/359104.359108",
            "deviations": "With mode initiators-only, a process that has passed an ID on does not want to
                lead any more. With mode join, it puts its own ID in place of a smaller one, so that the
                largest of all processes leads. There is one election: a later request for another is
                ignored."
        },
        "needs": {"topology": "ring"},
        "doubts": true,
        "parameters": [
            {"name": "mode", "type": "enum", "default": "initiators-only",
                "choices": ["initiators-only", "join"],
                "doc": "which processes may lead: those that wanted an election, or all"},
            {"name": "relay_makes_passive", "type": "bool", "default": true,
                "doc": "a process that has passed an ID on does not want to lead any more; without this
                    rule two may"}
        ],
        "promises": {"announced": true, "leadership": "at most one"},
        "breaks": "Any crash opens the ring, and a lost message is not sent again: no process leads, or
            some never learn of the leader."
    }"#;

    /// Has heard of no election.
    fn new(config: Config, params: Params, _: Option<Message>) -> Self {
        ChangRoberts {
            id: config.id,
            next: config.neighbors[config.neighbors.len() - 1],
            join: params.get::<String>("mode") == "join",
            passive: params.get("relay_makes_passive"),
            taken: false,
            candidate: false,
            leader: NONE,
        }
    }

    /// Two may lead if a process that has passed an ID on wants to lead afterwards.
    fn doubt(_: &Network, params: &Params) -> Result<(), String> {
        if params.get("relay_makes_passive") {
            return Ok(());
        }
        Err("relay_makes_passive is false: a process whose ID comes behind that of the winner wins too"
            .into())
    }

    fn receive(&mut self, env: &mut Env<Message>, _: Id, message: Message) {
        match message {
            Message::Probe { id } => self.on_probe(env, id),
            Message::Elected { id } => self.announce(env, id),
        }
    }
}

impl ChangRoberts {
    /// Sends the own ID out, unless it is too late.
    fn elect(&mut self, env: &mut Env<Message>) {
        if !self.taken {
            self.taken = true;
            self.candidate = true;
            env.send(self.next, Message::Probe { id: self.id });
        }
    }

    fn on_probe(&mut self, env: &mut Env<Message>, id: Id) {
        if id == self.id {
            self.announce(env, id); // it has come round
        } else if id < self.id && self.candidate {
            // It is swallowed.
        } else if id < self.id && self.join && !self.taken {
            self.elect(env);
        } else {
            self.taken |= self.passive;
            env.send(self.next, Message::Probe { id });
        }
    }

    /// Names the leader and passes that on: the lap begins, or continues. It ends where it began, since that
    /// process knows the leader; or, if a second election ran anyway, where the lap of a larger ID has
    /// already passed.
    fn announce(&mut self, env: &mut Env<Message>, leader: Id) {
        if leader > self.leader {
            self.leader = leader;
            env.elected(leader, 1);
            env.send(self.next, Message::Elected { id: leader });
        }
    }
}

serve!(ChangRoberts: elect());

#[cfg(test)]
mod tests {
    use super::ChangRoberts;
    use conclave::testing::Cluster;

    /// 3N-1 messages if all want to lead, on a ring in ascending order; 2N if one does.
    #[test]
    fn counts() {
        for (candidates, leader, messages) in [(vec![1, 2, 3, 4, 5], 5, 14), (vec![2], 2, 10)] {
            let mut cluster = Cluster::<ChangRoberts>::new(5, "{}");
            candidates.into_iter().for_each(|id| drop(cluster.elect(id)));
            cluster.settle();
            assert_eq!(cluster.leaders().values().copied().collect::<Vec<_>>(), [leader; 5]);
            assert_eq!(cluster.sent("PROBE") + cluster.sent("ELECTED"), messages);
        }
    }

    /// With mode join, the largest of all leads, whichever process wants an election.
    #[test]
    fn join() {
        let mut cluster = Cluster::<ChangRoberts>::new(4, r#"{"mode": "join"}"#);
        cluster.elect(1);
        cluster.settle();
        assert_eq!(cluster.leaders()[&1], 4);
    }
}
