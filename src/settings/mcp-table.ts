import {
  listOf,
  milliseconds,
  origins,
  RSA_KEY,
  type SettingKind,
  switched,
  trueFalse,
  url,
  whole,
  word,
} from './kinds.ts'
import type {Setting} from './setting.ts'

const ORIGIN = url('an origin such as https://mcp.example.com, without a path or a slash at its end', [
  'http:',
  'https:',
])
/** Clients compare it letter by letter, so it has one spelling. */
const origin: SettingKind<string> = {
  ...ORIGIN,
  schema: ORIGIN.schema.refine(text => URL.parse(text)?.origin === text, `it takes ${ORIGIN.takes}`),
}
/** A browser runs these, or fetches them, in place of opening an app. */
const NOT_OF_APPS = /^(?:https?|wss?|ftp|file|data|blob|about|javascript|vbscript|view-source|filesystem)$/
const schemes = listOf('schemes of apps such as zed, without a colon', entry => {
  const name = entry.toLowerCase()
  return /^[a-z][a-z0-9+.-]{0,62}$/.test(name) && !NOT_OF_APPS.test(name) ? name : undefined
})
const hosts = listOf('hosts or *.domains, or * for any', entry => {
  const name = entry.toLowerCase()
  return name === '*' || /^(?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(name) ? name : undefined
})

/** Calls of tools over MCP (docs/mcp.md). */
export const MCP = {
  MCP_ENABLED: {
    kind: switched,
    fallback: 'ON',
    group: 'MCP',
    meaning: 'OFF: no MCP server is served. Its administration stays.',
  },
  MCP_PORT: {
    kind: whole(0, 65_535),
    group: 'MCP',
    meaning:
      'A second port that serves MCP servers, their OAuth and registry, and /health alone, with the address and ' +
      'certificate of the first; unset: PORT serves them alone. 0 takes any free one.',
  },
  SERVER_MODE: {
    kind: word('gateway', 'all', 'mcp'),
    fallback: 'all',
    group: 'MCP',
    meaning:
      'mcp: PORT serves what MCP_PORT would, sign-in, probes and metrics; no calls of models, no administration. ' +
      'all and gateway: everything.',
  },
  MCP_REQUEST_TIMEOUT_MS: {
    kind: milliseconds,
    fallback: '60000',
    group: 'MCP',
    meaning:
      'Longest silence of an MCP server in one request. Progress lets a request take ten times as long; ' +
      'the time in which a question waits for its answer counts in neither.',
  },
  MCP_ALLOWED_ORIGINS: {
    kind: origins,
    fallback: '',
    group: 'MCP',
    meaning: 'Origins of web pages that may call MCP servers, beside the own one; `*` does not count here.',
  },
  MCP_MAX_TURNS: {
    kind: whole(1, 100),
    fallback: '10',
    group: 'MCP',
    meaning: 'Most answers of a model in one request whose tools the gateway runs (`x-gateway-beta`).',
  },
  MCP_POOL_ENABLED: {
    kind: trueFalse,
    fallback: 'true',
    group: 'MCP',
    meaning: 'false: a connection to an MCP server ends with its call, where no session of a client owns it.',
  },
  MCP_POOL_MAX_CONNECTIONS: {
    kind: whole(1, 100_000),
    fallback: '1000',
    group: 'MCP',
    meaning: 'Most connections to MCP servers that are open at a time.',
  },
  MCP_POOL_MAX_IDLE_MS: {
    kind: milliseconds,
    fallback: '300000',
    group: 'MCP',
    meaning: 'A connection that no session of a client owns ends after so long without a call.',
  },
  MCP_POOL_MAX_LIFETIME_MS: {
    kind: milliseconds,
    fallback: '600000',
    group: 'MCP',
    meaning: 'A connection that no session of a client owns ends after so long.',
  },
  MCP_POOL_CLEANUP_INTERVAL_MS: {
    kind: milliseconds,
    fallback: '60000',
    group: 'MCP',
    meaning: 'How often connections are looked at that may end.',
  },
  JWT_PRIVATE_KEY: {
    kind: RSA_KEY,
    group: 'MCP',
    secret: true,
    path: true,
    meaning:
      'RSA key of at least 2048 bits that signs the identity of callers for MCP servers (X-User-JWT). Unset: one is ' +
      'made at first need and kept sealed in the database.',
  },
  MCP_ALLOW_TOKEN_PASSTHROUGH: {
    kind: switched,
    fallback: 'OFF',
    group: 'MCP',
    meaning:
      'ON: integrations may forward the token of a caller to their server (user_identity_forwarding with the method ' +
      'bearer). The protocol forbids it. A service key is never forwarded.',
  },
  MCP_POOL_TOKEN_EXPIRY_BUFFER_MS: {
    kind: milliseconds,
    fallback: '300000',
    group: 'MCP',
    meaning:
      'How long before its end a token for an MCP server is renewed; one that lives for less than twice as long is ' +
      'renewed at half of its life.',
  },
  MCP_GATEWAY_BASE_URL: {
    kind: origin,
    group: 'MCP',
    meaning: 'Address at which clients of MCP reach this gateway; unset: CONTROL_PLANE_URL.',
  },
  MCP_REDIRECT_SCHEMES: {
    kind: schemes,
    fallback: '',
    group: 'MCP',
    meaning: 'Schemes of apps that may be redirected to, beside cursor, vscode, vscode-insiders and all with a dot.',
  },
  MCP_REFRESH_GRACE_S: {
    kind: whole(0, 3600, 'seconds'),
    fallback: '120',
    group: 'MCP',
    meaning: 'How long a used refresh token may be used again by its client; after it such a use revokes its grant.',
  },
  MCP_CIMD_HOSTS: {
    kind: hosts,
    fallback: '',
    group: 'MCP',
    meaning: 'Hosts whose documents clients may name as their id (client ID metadata documents); empty: none.',
  },
} as const satisfies Record<string, Setting>
