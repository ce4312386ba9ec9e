"""The OpenCode plugin, which passes prompts and finished turns to `mcp-memory hook`."""

from __future__ import annotations

import json
from collections.abc import Sequence

_SOURCE = """\
// Written by `mcp-memory install`; `mcp-memory uninstall opencode` removes it.
import { spawn } from "node:child_process"

const COMMAND = %(command)s
const CAPTURES = %(captures)s
const LIMIT = 1000

const ask = (event, payload) =>
  new Promise((resolve) => {
    let said = ""
    const done = () => resolve(said)
    try {
      const hook = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", event, "--client", "opencode"], {
        stdio: ["pipe", "pipe", "ignore"],
      })
      const timer = setTimeout(() => { hook.kill(); done() }, LIMIT)
      hook.stdout.on("data", (data) => { said += data })
      hook.on("error", done)
      hook.on("close", () => { clearTimeout(timer); done() })
      hook.stdin.on("error", () => {})
      hook.stdin.end(JSON.stringify(payload))
    } catch {
      done()
    }
  })

const short = (text) => (typeof text === "string" ? text.slice(0, 20000) : text)

const slim = ({ info, parts }) => ({
  info: { id: info.id, role: info.role, time: info.time },
  parts: parts
    .filter((part) => part.type === "text" || part.type === "tool")
    .map((part) => ({
      type: part.type, text: short(part.text), synthetic: part.synthetic,
      tool: part.tool, callID: part.callID,
      state: part.state && {
        status: part.state.status, input: part.state.input, output: short(part.state.output),
        error: short(part.state.error), metadata: { exit: part.state.metadata?.exit },
      },
    })),
})

export const McpMemory = async ({ client, directory }) => {
  const greeted = new Set()
  return {
    "chat.message": async (input, output) => {
      const session_id = input.sessionID
      const prompt = output.parts.filter((part) => part.type === "text").map((part) => part.text).join("\\n")
      const place = { session_id, cwd: directory }
      const asked = [ask("UserPromptSubmit", { ...place, prompt })]
      if (!greeted.has(session_id)) asked.unshift(ask("SessionStart", { ...place, source: "startup" }))
      greeted.add(session_id)
      const text = (await Promise.all(asked)).filter(Boolean).join("\\n")
      if (text)
        output.parts.push({
          id: `prt_${Date.now()}mcpmemory`, sessionID: session_id, messageID: output.message.id,
          type: "text", text, synthetic: true,
        })
    },
    "tool.execute.after": async (input, output) => {
      const exit = output.metadata?.exit
      if (input.tool !== "bash" || !exit) return
      const command = input.args?.command ?? output.metadata?.command ?? output.title ?? ""
      const error = `exit code ${exit}\\n${short(output.output)}`
      const place = { session_id: input.sessionID, cwd: directory }
      const text = await ask("tool.execute.after", { ...place, tool_input: { command }, error })
      if (text) output.output += `\\n${text}`
    },
    event: async ({ event }) => {
      if (!CAPTURES || event.type !== "session.idle") return
      const session_id = event.properties.sessionID
      const messages = await client.session.messages({ path: { id: session_id } })
      const last = (messages.data ?? []).slice(-200).map(slim)
      await ask("session.idle", { session_id, cwd: directory, messages: last })
    },
  }
}
"""


def source(command: Sequence[str], *, captures: bool) -> str:
    return _SOURCE % {"command": json.dumps(list(command)), "captures": json.dumps(captures)}
