/** How each assistant is connected: a command where there is one, and what its settings file takes. */

export type Client = { name: string; command?: string; file?: string; snippet?: string };

const quoted = (part: string): string => (/^[\w@%+=:,./~-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`);
const json = (value: unknown): string => JSON.stringify(value, null, 2);

export function clients(command: string[], origin: string): Client[] {
  const [program = "mcp-memory", ...args] = command;
  const entry = { command: program, ...(args.length ? { args } : {}) };
  const servers = json({ mcpServers: { memory: entry } });
  const line = command.map(quoted).join(" ");
  return [
    { name: "Claude Code", command: `claude mcp add --scope user memory -- ${line}`, file: ".mcp.json", snippet: servers },
    { name: "Claude Desktop", file: "claude_desktop_config.json", snippet: servers },
    { name: "Cursor", file: "~/.cursor/mcp.json", snippet: servers },
    {
      name: "Codex",
      command: `codex mcp add memory -- ${line}`,
      file: "~/.codex/config.toml",
      snippet: `[mcp_servers.memory]\ncommand = ${JSON.stringify(program)}\nargs = ${JSON.stringify(args)}`,
    },
    { name: "Gemini CLI", command: `gemini mcp add memory ${line}`, file: "~/.gemini/settings.json", snippet: servers },
    { name: "VS Code", file: ".vscode/mcp.json", snippet: json({ servers: { memory: { type: "stdio", ...entry } } }) },
    { name: "OpenCode", file: "opencode.json", snippet: json({ mcp: { memory: { type: "local", command, enabled: true } } }) },
    { name: "Windsurf", file: "~/.codeium/windsurf/mcp_config.json", snippet: servers },
    { name: "Zed", file: "settings.json", snippet: json({ context_servers: { memory: { ...entry, args } } }) },
    { name: "Over HTTP", file: "any client that takes an address", snippet: json({ mcpServers: { memory: { type: "http", url: `${origin}/mcp` } } }) },
  ];
}
