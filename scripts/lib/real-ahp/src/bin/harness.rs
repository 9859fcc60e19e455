//! A harness of the crate a3s-ahp with the test handler of the suite `ahp-server` (conformance/README.md).
//! CONFORMANCE_ENDPOINT is `http://127.0.0.1:PORT/ahp`; without it, or with `stdio:`, it speaks over standard input and output.

use a3s_ahp::protocol::*;
use a3s_ahp::server::EventHandler;
use a3s_ahp::transport::http::HttpServer;
use a3s_ahp::{AhpError, AhpServer, Result};
use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::{json, to_value, Value};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
struct TestHandler {
    seen: Mutex<Vec<AhpEvent>>,
}

impl TestHandler {
    /// Remembers the event and does what its metadata asks for; the answer has to be a decision of the event's type.
    async fn decide<T: DeserializeOwned>(&self, event: &AhpEvent) -> Result<T> {
        self.seen.lock().unwrap().push(event.clone());
        let wish = event.metadata.as_ref().and_then(|all| all.get("conformance")).cloned().unwrap_or(Value::Null);
        if let Some(delay) = wish["delay_ms"].as_u64() {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        if let Some(words) = wish["fail"].as_str() {
            return Err(AhpError::Other(words.to_string()));
        }
        Ok(serde_json::from_value(wish.get("answer").cloned().unwrap_or(json!({ "decision": "allow" })))?)
    }
}

#[async_trait]
impl EventHandler for TestHandler {
    async fn handle_event(&self, event: &AhpEvent) -> Result<Decision> {
        self.decide(event).await
    }
    async fn handle_notification(&self, event: &AhpEvent) -> Result<()> {
        self.decide::<Value>(event).await.map(|_| ())
    }
    async fn handle_query(&self, query: &QueryRequest) -> Result<QueryResponse> {
        if query.query_type != "conformance.seen" {
            return Err(AhpError::UnsupportedCapability(query.query_type.clone()));
        }
        let seen = self.seen.lock().unwrap();
        let own: Vec<&AhpEvent> = seen.iter().filter(|event| event.session_id == query.session_id).collect();
        Ok(QueryResponse { answer: to_value(own)?, reason: None, alternatives: None })
    }
    async fn handle_context_perception(&self, event: &AhpEvent, _: &ContextPerceptionEvent) -> Result<ContextPerceptionDecision> {
        self.decide(event).await
    }
    async fn handle_memory_recall(&self, event: &AhpEvent, _: &MemoryRecallEvent) -> Result<MemoryRecallDecision> {
        self.decide(event).await
    }
    async fn handle_planning(&self, event: &AhpEvent, _: &PlanningEvent) -> Result<PlanningDecision> {
        self.decide(event).await
    }
    async fn handle_rate_limit(&self, event: &AhpEvent, _: &RateLimitEvent) -> Result<RateLimitDecision> {
        self.decide(event).await
    }
    async fn handle_confirmation(&self, event: &AhpEvent, _: &ConfirmationEvent) -> Result<ConfirmationDecision> {
        self.decide(event).await
    }
    async fn handle_intent_detection(&self, event: &AhpEvent, _: &IntentDetectionEvent) -> Result<IntentDetectionDecision> {
        self.decide(event).await
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let server = AhpServer::new(Arc::new(TestHandler::default()));
    let endpoint = std::env::var("CONFORMANCE_ENDPOINT").unwrap_or_default();
    let Some(address) = endpoint.strip_prefix("http://") else {
        return server.run_stdio().await;
    };
    let address = address.split('/').next().unwrap_or_default();
    let address: std::net::SocketAddr = address.parse().map_err(|_| AhpError::Other(format!("not an address: {address}")))?;
    HttpServer::new(Arc::new(server)).run(address).await
}
