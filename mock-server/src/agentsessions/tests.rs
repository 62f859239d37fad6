//! The host over its wire, with a client that a library made; every defect and every weather changes something.

use super::*;
use proofmark_schema::agentsessions::v1;
use proofmark_schema::agentsessions::v1::harness_registry_client::HarnessRegistryClient;
use proofmark_schema::agentsessions::v1::sessions_client::SessionsClient;
use tonic::Code;
use tonic::transport::Channel;

async fn host(behaviour: &Behaviour) -> (Running, Channel) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let running = start(listener, behaviour).expect("a known behaviour");
    let address = running.url().replace("grpc://", "http://");
    let channel = Channel::from_shared(address).expect("an address").connect().await.expect("the host accepts");
    (running, channel)
}

fn asked() -> v1::Session {
    let metadata = v1::ResourceMetadata { name: "n".to_owned(), uid: "mine".to_owned(), ..v1::ResourceMetadata::default() };
    v1::Session {
        metadata: Some(metadata),
        annotations: [("a".to_owned(), "b".to_owned())].into(),
        identity: Some(v1::IdentityRef { principal: "p".to_owned(), ..v1::IdentityRef::default() }),
        ..v1::Session::default()
    }
}

async fn create(client: &mut SessionsClient<Channel>, session: Option<v1::Session>) -> Result<v1::Session, Code> {
    client.create_session(v1::CreateSessionRequest { session }).await.map(tonic::Response::into_inner).map_err(|status| status.code())
}

async fn get(client: &mut SessionsClient<Channel>, uid: &str) -> Result<v1::Session, Code> {
    client.get_session(v1::GetSessionRequest { uid: uid.to_owned() }).await.map(tonic::Response::into_inner).map_err(|status| status.code())
}

fn uid(session: &v1::Session) -> &str {
    session.metadata.as_ref().map_or("", |metadata| &metadata.uid)
}

#[tokio::test]
async fn sessions_are_created_and_read() {
    let (running, channel) = host(&Behaviour::default()).await;
    let mut client = SessionsClient::new(channel.clone());
    let created = create(&mut client, Some(asked())).await.expect("created");
    assert!(uid(&created).strip_prefix("sess-").is_some_and(|digits| digits.len() == 24), "{}", uid(&created));
    assert_eq!(get(&mut client, uid(&created)).await, Ok(created));
    let bare = create(&mut client, None).await.expect("created");
    assert_eq!(get(&mut client, uid(&bare)).await, Ok(bare));
    assert_eq!(get(&mut client, "").await, Err(Code::InvalidArgument));
    assert_eq!(get(&mut client, "mine").await, Err(Code::NotFound));
    let elsewhere = v1::Session { harness: "nobody".to_owned(), ..v1::Session::default() };
    assert_eq!(create(&mut client, Some(elsewhere)).await, Err(Code::InvalidArgument));
    assert!(running.applications().is_empty());
    drop((client, channel));
    running.stop().await;
}

#[tokio::test]
async fn what_is_not_there_says_so() {
    let (running, channel) = host(&Behaviour::default()).await;
    let mut client = SessionsClient::new(channel.clone());
    let codes = [
        client.list_sessions(v1::ListSessionsRequest::default()).await.err(),
        client.delete_session(v1::DeleteSessionRequest::default()).await.err(),
        client.cancel(v1::CancelRequest::default()).await.err(),
        client.exec(v1::ExecRequest::default()).await.err(),
        client.replay(v1::ReplayRequest::default()).await.err(),
        client.approve(v1::ApproveRequest::default()).await.err(),
        client.suspend(v1::SuspendRequest::default()).await.err(),
        client.resume(v1::ResumeRequest::default()).await.err(),
        client.fork(v1::ForkRequest::default()).await.err(),
        HarnessRegistryClient::new(channel.clone()).get_harness(v1::GetHarnessRequest::default()).await.err(),
    ];
    assert!(codes.iter().all(|status| status.as_ref().is_some_and(|status| status.code() == Code::Unimplemented)), "{codes:?}");
    drop((client, channel));
    running.stop().await;
}

/// Calls everything that a defect or a weather could sit in, and returns what each answered.
async fn tour(behaviour: &Behaviour) -> (Vec<Result<v1::Session, Code>>, u64) {
    let (running, channel) = host(behaviour).await;
    let mut client = SessionsClient::new(channel);
    let mut answers = Vec::new();
    for session in [Some(asked()), Some(asked()), None, Some(v1::Session { harness: "nobody".to_owned(), ..v1::Session::default() })] {
        let created = create(&mut client, session).await;
        if let Ok(created) = &created {
            answers.push(get(&mut client, uid(created)).await);
        }
        answers.push(created);
    }
    answers.push(get(&mut client, "").await);
    answers.push(get(&mut client, "unknown").await);
    let deleted = client.delete_session(v1::DeleteSessionRequest::default()).await;
    answers.push(deleted.map(tonic::Response::into_inner).map_err(|status| status.code()));
    let applied = running.applications().values().sum();
    drop(client);
    running.stop().await;
    (answers, applied)
}

/// The answers less what differs from one call to the next.
fn without_names(answers: Vec<Result<v1::Session, Code>>) -> Vec<Result<v1::Session, Code>> {
    let without = |mut session: v1::Session| {
        if let Some(metadata) = &mut session.metadata {
            (metadata.create_time, metadata.update_time) = (None, None);
            metadata.uid = String::new();
            metadata.project = String::new();
        }
        session.harness = String::new();
        session
    };
    answers.into_iter().map(|answer| answer.map(without)).collect()
}

#[tokio::test]
async fn every_defect_is_applied() {
    for entry in defects::all() {
        let behaviour = Behaviour { defects: vec![entry.defect.name.to_owned()], ..Behaviour::default() };
        let (_, applied) = tour(&behaviour).await;
        assert!(applied > 0, "{}", entry.defect.name);
    }
}

#[tokio::test]
async fn every_weather_is_applied_and_changes_only_what_it_may() {
    let (reference, applied) = tour(&Behaviour::default()).await;
    assert_eq!(applied, 0);
    let reference = without_names(reference);
    for entry in weather::all() {
        let behaviour = Behaviour { weather: vec![entry.weather.name.to_owned()], seed: 1, ..Behaviour::default() };
        let (answers, applied) = tour(&behaviour).await;
        assert!(applied > 0, "{}", entry.weather.name);
        assert_eq!(without_names(answers), reference, "{}", entry.weather.name);
    }
}

#[tokio::test]
async fn unknown_names_do_not_start() {
    for behaviour in [
        Behaviour { defects: vec!["none".to_owned()], ..Behaviour::default() },
        Behaviour { weather: vec!["none".to_owned()], ..Behaviour::default() },
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        assert!(start(listener, &behaviour).is_err());
    }
}

#[test]
fn the_layers_keep_apart() {
    let (rules, machine) = (include_str!("rules.rs"), include_str!("machine.rs"));
    for text in [rules, machine, include_str!("grpc.rs"), include_str!("wire.rs")] {
        for word in ["defect", "weather", "applied"] {
            assert!(!text.to_lowercase().contains(word), "the reference mentions {word}");
        }
    }
    for text in [rules, machine] {
        for word in ["tokio::", "tonic", "axum"] {
            assert!(!text.contains(word), "a decision depends on {word}");
        }
    }
}
