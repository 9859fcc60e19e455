//! An agent of the crate a3s-ahp behind the driver of the suite `ahp-client` (conformance/contracts/README.md).

use a3s_ahp::protocol::*;
use a3s_ahp::{AhpClient, AhpError, AuthConfig, Result, Transport};
use serde_json::{json, to_value, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, RwLock};

#[derive(Default)]
struct Agent {
    client: RwLock<Option<Arc<AhpClient>>>,
}

fn event_of(params: &Value) -> Result<AhpEvent> {
    let mut event = json!({
        "session_id": uuid::Uuid::new_v4().to_string(), "agent_id": uuid::Uuid::new_v4().to_string(),
        "timestamp": chrono::Utc::now().to_rfc3339(), "depth": 0,
    });
    for (name, value) in params.as_object().into_iter().flatten() {
        event[name] = value.clone();
    }
    Ok(serde_json::from_value(event)?)
}

impl Agent {
    async fn client(&self) -> Result<Arc<AhpClient>> {
        self.client.read().await.clone().ok_or(AhpError::ConnectionClosed)
    }

    async fn connect(&self) -> Result<Value> {
        let endpoint = std::env::var("CONFORMANCE_ENDPOINT").unwrap_or_default();
        let transport = match endpoint.strip_prefix("stdio:") {
            Some(command) => Transport::Stdio { program: "/bin/sh".into(), args: vec!["-c".into(), format!("exec {command}")] },
            None => Transport::Http {
                url: endpoint,
                auth: std::env::var("CONFORMANCE_TOKEN").ok().map(AuthConfig::bearer),
            },
        };
        let client = Arc::new(AhpClient::new(transport).await?);
        *self.client.write().await = Some(client.clone());
        client.handshake(vec!["pre_action".into()]).await?;
        Ok(json!({}))
    }

    /// Sends it as a complete event where the suite gives more than its type and payload, and reads the decision of its type.
    async fn send(&self, params: &Value) -> Result<Value> {
        let client = self.client().await?;
        let event = event_of(params)?;
        let is_plain = params.as_object().is_some_and(|all| all.keys().all(|key| ["event_type", "payload", "timeout_ms"].contains(&key.as_str())));
        let sent = async {
            if is_plain { client.send_event(event.event_type, event.payload.clone()).await } else { client.send_event_full_value(&event).await }
        };
        let answer = match params["timeout_ms"].as_u64() {
            Some(limit) => tokio::time::timeout(Duration::from_millis(limit), sent).await.map_err(|_| AhpError::Timeout(limit))??,
            None => sent.await?,
        };
        let decision = match event.event_type {
            EventType::Idle => to_value(serde_json::from_value::<IdleDecision>(answer)?)?,
            EventType::IntentDetection => to_value(serde_json::from_value::<IntentDetectionDecision>(answer)?)?,
            EventType::ContextPerception => to_value(serde_json::from_value::<ContextPerceptionDecision>(answer)?)?,
            EventType::MemoryRecall => to_value(serde_json::from_value::<MemoryRecallDecision>(answer)?)?,
            EventType::Planning => to_value(serde_json::from_value::<PlanningDecision>(answer)?)?,
            EventType::Reasoning => to_value(serde_json::from_value::<ReasoningDecision>(answer)?)?,
            EventType::RateLimit => to_value(serde_json::from_value::<RateLimitDecision>(answer)?)?,
            EventType::Confirmation => to_value(serde_json::from_value::<ConfirmationDecision>(answer)?)?,
            _ => to_value(serde_json::from_value::<Decision>(answer)?)?,
        };
        Ok(json!({ "decision": decision }))
    }

    async fn batch(&self, params: &Value) -> Result<Value> {
        let events: Result<Vec<AhpEvent>> = params["events"].as_array().into_iter().flatten().map(event_of).collect();
        Ok(to_value(self.client().await?.send_batch(events?).await?)?)
    }

    async fn query(&self, params: &Value) -> Result<Value> {
        let client = self.client().await?;
        let asked = client.query(params["query_type"].as_str().unwrap_or_default(), params["payload"].clone());
        let limit = params["timeout_ms"].as_u64().unwrap_or(10_000);
        let answer = tokio::time::timeout(Duration::from_millis(limit), asked).await.map_err(|_| AhpError::Timeout(limit))??;
        Ok(to_value(answer)?)
    }

    async fn perform(&self, operation: &str, params: &Value) -> Result<Value> {
        match operation {
            "connect" => self.connect().await,
            "decide" | "notify" => self.send(params).await,
            "batch" => self.batch(params).await,
            "query" => self.query(params).await,
            "close" => {
                // The crate ends a child when the client that started it is dropped.
                let Some(client) = self.client.write().await.take() else { return Ok(json!({})) };
                client.close().await.map(|()| json!({}))
            }
            _ => Err(AhpError::UnsupportedCapability(operation.to_string())),
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let agent = Arc::new(Agent::default());
    let output = Arc::new(Mutex::new(tokio::io::stdout()));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let request: Value = serde_json::from_str(&line)?;
        let (agent, output) = (agent.clone(), output.clone());
        let is_told = request["do"] == "notify";
        let work = async move {
            let outcome = match agent.perform(request["do"].as_str().unwrap_or_default(), &request["params"]).await {
                Ok(result) => json!({ "id": request["id"], "result": result }),
                Err(error) => json!({ "id": request["id"], "error": { "code": "failed", "message": error.to_string() } }),
            };
            let _ = output.lock().await.write_all(format!("{outcome}\n").as_bytes()).await;
            let _ = output.lock().await.flush().await;
        };
        // What is told is sent in its order.
        if is_told { work.await } else { drop(tokio::spawn(work)) }
    }
    Ok(())
}
