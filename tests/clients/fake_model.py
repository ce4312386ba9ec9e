"""A fake model on loopback: real clients run whole turns against it, and what they send is recorded."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Events = list[tuple[str, Json | str]]


def count_results(node: Any) -> int:
    """How many tool results a request body holds, in any of the four dialects."""
    if isinstance(node, list):
        return sum(count_results(item) for item in node)
    if not isinstance(node, dict):
        return 0
    kind = node.get("type")
    if kind in ("tool_result", "function_call_output", "custom_tool_call_output", "mcp_tool_call_output"):
        return 1
    if node.get("role") == "tool" or "functionResponse" in node:
        return 1
    return sum(count_results(value) for value in node.values())


def offered_tools(body: Json) -> list[tuple[str | None, str]]:
    """(namespace, name) of every tool offered; only the Responses API has namespaces."""
    found: list[tuple[str | None, str]] = []
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            found += [(tool.get("name"), inner.get("name", "")) for inner in tool.get("tools") or []]
        elif "functionDeclarations" in tool:
            found += [(None, each["name"]) for each in tool["functionDeclarations"]]
        elif "function" in tool:
            found.append((None, tool["function"]["name"]))
        else:
            found.append((None, tool.get("name") or ""))
    return found


def find_tool(wanted: str, offered: list[tuple[str | None, str]]) -> tuple[str | None, str] | None:
    for match in (str.__eq__, str.endswith):
        for space, name in offered:
            if match(name, wanted):
                return space, name
    return None


class Model:
    """Decides what to answer and keeps what was asked.

    The step taken is the one whose index is the number of tool results in the request, the last step
    thereafter. Requests that offer no tools (titles, summaries) are answered plainly.
    """

    def __init__(self) -> None:
        self.script: list[Json] = [{"text": "Done."}]
        self.requests: list[Json] = []
        self.lock = threading.Lock()

    def record(self, body: Any) -> int:
        with self.lock:
            self.requests.append(body)
            return len(self.requests)

    def step(self, number: int, body: Json) -> Json:
        """{"text"} or {"tool", "space", "input"} for this request."""
        offered = offered_tools(body)
        if not offered:
            return {"text": "plain"}
        history = body.get("messages") or body.get("input") or body.get("contents") or []
        for step in self.script[min(count_results(history), len(self.script) - 1) :]:
            if "tool" not in step:
                return {"text": step["text"]}
            found = next(filter(None, (find_tool(name, offered) for name in step["tool"])), None)
            if found:
                return {"space": found[0], "tool": found[1], "input": step["input"]}
        return {"text": "plain"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.reply(b"")

    def do_GET(self) -> None:
        self.reply_json({"data": [], "models": []})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        number = self.model.record(body)
        path = self.path.split("?")[0]
        if path.endswith("/messages"):
            self.say_anthropic(number, body)
        elif path.endswith("/responses"):
            self.say_responses(number, body)
        elif path.endswith("/chat/completions"):
            self.say_chat(number, body)
        elif path.endswith("enerateContent"):
            self.say_gemini(number, body, stream="stream" in path)
        elif path.endswith("/count_tokens"):
            self.reply_json({"input_tokens": len(raw) // 4})
        elif path.endswith(":countTokens"):
            self.reply_json({"totalTokens": len(raw) // 4})
        else:
            self.reply_json({})

    def say_anthropic(self, number: int, body: Json) -> None:
        step = self.model.step(number, body)
        if "tool" in step:
            block: Json = {
                "type": "tool_use",
                "id": f"toolu_{number}",
                "name": step["tool"],
                "input": step["input"],
            }
            opening = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(step["input"])}
        else:
            block = {"type": "text", "text": step["text"]}
            opening, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": step["text"]}
        reason, usage = "tool_use" if "tool" in step else "end_turn", {"input_tokens": 10, "output_tokens": 5}
        message: Json = {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model"),
            "content": [block], "stop_reason": reason, "stop_sequence": None, "usage": usage,
        }  # fmt: skip
        if not body.get("stream"):
            self.reply_json(message)
            return
        parts: list[Json] = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": opening},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": usage,
            },
            {"type": "message_stop"},
        ]
        self.reply_events([(part["type"], part) for part in parts])

    def say_responses(self, number: int, body: Json) -> None:
        step = self.model.step(number, body)
        if "tool" in step:
            item: Json = {
                "type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}",
                "name": step["tool"], "arguments": json.dumps(step["input"]), "status": "completed",
            }  # fmt: skip
            if step["space"]:
                item["namespace"] = step["space"]
        else:
            content = [{"type": "output_text", "text": step["text"], "annotations": []}]
            item = {"type": "message", "id": f"m_{number}", "role": "assistant", "content": content}
            item["status"] = "completed"
        usage = {
            "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
        }  # fmt: skip
        done: Json = {
            "id": f"resp_{number}", "object": "response", "created_at": 1, "status": "completed",
            "model": body.get("model"), "output": [item], "usage": usage,
        }  # fmt: skip
        if not body.get("stream"):
            self.reply_json(done)
            return
        parts: list[Json] = [
            {"type": "response.created", "response": {**done, "status": "in_progress", "output": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ]
        self.reply_events([(part["type"], part) for part in parts])

    def say_chat(self, number: int, body: Json) -> None:
        step = self.model.step(number, body)
        message: Json = {"role": "assistant", "content": step.get("text")}
        if "tool" in step:
            function = {"name": step["tool"], "arguments": json.dumps(step["input"])}
            message["tool_calls"] = [
                {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
            ]
        reason = "tool_calls" if "tool" in step else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        base: Json = {"id": f"chat_{number}", "created": 1, "model": body.get("model")}
        if not body.get("stream"):
            choice: Json = {"index": 0, "message": message, "finish_reason": reason}
            self.reply_json({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        base["object"] = "chat.completion.chunk"
        self.reply_events([
            ("", {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
            ("", {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}),
            ("", "[DONE]"),
        ])  # fmt: skip

    def say_gemini(self, number: int, body: Json, stream: bool) -> None:
        step = self.model.step(number, body)
        part: Json = {"text": step.get("text")}
        if "tool" in step:
            part = {"functionCall": {"name": step["tool"], "args": step["input"]}}
        answer: Json = {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }
        if stream:
            self.reply_events([("", answer)])
        else:
            self.reply_json(answer)

    def reply(self, payload: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def reply_json(self, value: Json) -> None:
        self.reply(json.dumps(value).encode())

    def reply_events(self, events: Events) -> None:
        text = ""
        for name, data in events:
            text += f"event: {name}\n" if name else ""
            text += f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
        self.reply(text.encode(), "text/event-stream")


@contextmanager
def fake_model() -> Iterator[tuple[str, Model]]:
    """Its address, and what it records and answers."""
    model = Model()
    handler = type("Handler", (Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", model
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
