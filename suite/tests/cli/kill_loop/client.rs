//! The load: clients that start, follow, cancel and repeat until the server dies, and note what they were told.

use super::Dice;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Clients at once; each has a reader a run besides.
const CLIENTS: u64 = 4;

/// One thing after another with one execution; nothing once a request was not answered.
pub(crate) type Turn<P> = fn(&Client<P>, &str, &mut Dice, &mut Readers) -> Option<()>;
pub(crate) type Readers = Vec<JoinHandle<()>>;

/// Whom a client of a contract talks to, and what all of them were told.
#[derive(Clone)]
pub(crate) struct Client<P> {
    pub(crate) url: String,
    name: String,
    promises: Arc<Mutex<P>>,
}

impl<P: Send + 'static> Client<P> {
    /// Ends, with all its readers, when a request is not answered.
    fn run(&self, turn: Turn<P>, dice: &mut Dice) {
        let mut readers = Readers::new();
        let mut count = 1;
        while turn(self, &format!("{}-{count}", self.name), dice, &mut readers).is_some() {
            count += 1;
        }
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    }

    pub(crate) fn note(&self, note: impl FnOnce(&mut P)) {
        note(&mut self.promises.lock().unwrap());
    }
}

pub(crate) struct Load<P> {
    promises: Arc<Mutex<P>>,
    clients: Vec<JoinHandle<()>>,
}

impl<P: Clone + Default + Send + 'static> Load<P> {
    pub(crate) fn start(url: &str, round: u64, turn: Turn<P>, dice: &mut Dice) -> Self {
        let promises = Arc::<Mutex<P>>::default();
        let clients = (0..CLIENTS).map(|number| {
            let client = Client { url: url.to_owned(), name: format!("{round}-{number}"), promises: promises.clone() };
            let mut dice = Dice(dice.below(u64::MAX));
            thread::spawn(move || client.run(turn, &mut dice))
        });
        Self { clients: clients.collect(), promises }
    }

    /// Waits until every client has met the death of the server.
    pub(crate) fn end(self) -> P {
        self.clients.into_iter().for_each(|client| client.join().unwrap());
        self.promises.lock().unwrap().clone()
    }
}
