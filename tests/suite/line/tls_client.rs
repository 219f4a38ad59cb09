//! The Rust client and the sidecars over encrypted connections to a real daemon, whose certificate an
//! authority of the test has signed.

use std::{fs, net::SocketAddr, path::Path, process::Output};

use evenkeel::{
    client::{Client, ClientError, ClientSettings, Trust},
    model::ident::Ident,
    protocol::{Received, Reply, Request, request::Join},
};
use rcgen::ExtendedKeyUsagePurpose;
use tempfile::TempDir;

use crate::common::{
    authority::Authority,
    process::{Process, evenkeel},
};

/// Starts a daemon with a second listener, whose certificate the authority has signed. The file `ca.pem` has
/// the certificate of the authority.
fn daemon(folder: &Path) -> (Process, Authority) {
    let authority = Authority::new();
    let own = authority.sign(ExtendedKeyUsagePurpose::ServerAuth);
    for (name, text) in [
        ("ca.pem", authority.certificate.pem()),
        ("cert.pem", own.certificate),
        ("key.pem", own.key),
        (
            "evenkeel.toml",
            "[server.tls]\nlisten = '127.0.0.1:0'\ncertificate = 'cert.pem'\nkey = 'key.pem'\n"
                .to_owned(),
        ),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let variables = [("EVENKEEL_CONFIG", "evenkeel.toml")];
    (Process::start_with(folder, &variables), authority)
}

async fn connect(
    address: SocketAddr,
    authority: &Authority,
    host: &str,
) -> Result<Client, ClientError> {
    let trust = Trust::new(authority.certificate.pem().as_bytes(), host)?;
    Client::connect_encrypted(address, &trust, ClientSettings::default()).await
}

#[tokio::test]
async fn the_client_speaks_over_tls() {
    let folder = TempDir::new().unwrap();
    let (mut process, authority) = daemon(folder.path());
    let address = process.tls.unwrap();
    for host in ["localhost", "127.0.0.1"] {
        let mut client = connect(address, &authority, host).await.unwrap();
        client.hello("my server", None).await.unwrap();
        client
            .ask(&Request::Game(Ident::from_text("ctf")))
            .await
            .unwrap();
        for name in ["ann", "bob", "cid", "dan"] {
            let join = Request::Join(Join::new(Ident::from_text(name)));
            client.ask(&join).await.unwrap();
        }
        let seed = Request::Balance {
            top: None,
            seed: Some(7),
        };
        let Ok(Some(Reply::Balance { humans, .. })) = client.ask(&seed).await else {
            panic!("no teams");
        };
        assert_eq!(humans.len(), 4);
        // Many requests at once, and both directions in different tasks.
        let (mut sender, mut receiver) = client.split();
        let asking = tokio::spawn(async move {
            for _ in 0..20_000 {
                sender.queue(&Request::MeanBot);
            }
            sender.flush().await.unwrap();
            sender.close().await.unwrap();
        });
        for _ in 0..20_000 {
            let reply = receiver.receive().await.unwrap();
            assert_eq!(reply, Received::Reply(Reply::MeanBot(50.0, 0)));
        }
        asking.await.unwrap();
        let end = receiver.receive().await.unwrap_err();
        assert!(matches!(end, ClientError::Closed), "{end}");
    }
    // A daemon that is killed ends the connection.
    let mut client = connect(address, &authority, "localhost").await.unwrap();
    client.hello("my server", None).await.unwrap();
    process.kill();
    let end = client.receive().await.unwrap_err();
    assert!(
        matches!(end, ClientError::Closed | ClientError::Io(_)),
        "{end}"
    );
}

#[tokio::test]
async fn a_daemon_that_cannot_prove_its_name_is_not_spoken_to() {
    let folder = TempDir::new().unwrap();
    let (process, authority) = daemon(folder.path());
    let address = process.tls.unwrap();
    let refused = async |authority: &Authority, host: &str, address| {
        let refused = connect(address, authority, host).await.unwrap_err();
        assert!(matches!(refused, ClientError::Connect(_)), "{refused}");
        refused.to_string()
    };
    let stranger = refused(&Authority::new(), "localhost", address).await;
    assert!(stranger.contains("certificate"), "{stranger}");
    let other = refused(&authority, "evenkeel.example", address).await;
    assert!(other.contains("certificate"), "{other}");
    // The plain address does not answer with encryption.
    refused(&authority, "localhost", process.address).await;
    for pem in [
        "",
        "garbage",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        let error = Trust::new(pem.as_bytes(), "localhost").unwrap_err();
        assert!(matches!(error, ClientError::Trust(_)), "{pem}: {error}");
    }
    Trust::new(authority.certificate.pem().as_bytes(), "no host").unwrap_err();
}

fn sidecar(folder: &Path, options: &[&str]) -> Output {
    let mut command = evenkeel(folder);
    command.args([
        "sidecar",
        "idtech3",
        "--log",
        "games.log",
        "--rcon",
        "127.0.0.1:1",
        "--dry-run",
    ]);
    command.args(options).output().unwrap()
}

#[test]
fn a_sidecar_states_what_is_wrong_with_its_address() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("ca.pem"), "garbage").unwrap();
    for (options, why) in [
        (
            &["--daemon", "tls://localhost:7"][..],
            "tls:// needs --tls-ca FILE",
        ),
        (&["--tls-ca", "ca.pem"], "write --daemon tls://HOST:PORT"),
        (
            &["--daemon", "tls://localhost:7", "--tls-ca", "none.pem"],
            "none.pem",
        ),
        (
            &["--daemon", "tls://localhost:7", "--tls-ca", "ca.pem"],
            "there is no certificate",
        ),
        (
            &["--daemon", "localhost"],
            "expected ADDRESS:PORT or tls://HOST:PORT",
        ),
    ] {
        let output = sidecar(folder.path(), options);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && error.contains(why),
            "{options:?}: {error}"
        );
    }
}
