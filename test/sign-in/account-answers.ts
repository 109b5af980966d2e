import type {FakeGateway} from './fake-gateway.ts'

const TIMES = {
  created_at: '2026-11-01T08:00:00.000Z',
  expires_at: '2026-11-01T20:00:00.000Z',
  idle_expires_at: '2026-11-01T09:00:00.000Z',
}
const ORGANISATION = {id: 'org-1', slug: 'acme', name: 'Acme', role: 'admin'}
const WORKSPACE = {id: 'ws-1', slug: 'research', name: 'Research', role: 'member'}

export const SELF = {
  user: {id: 'user-1', email: 'ada@acme.example', first_name: 'Ada', last_name: 'Lovelace'},
  organisation: ORGANISATION,
  organisations: [
    {...ORGANISATION, opens: true},
    {id: 'org-2', slug: 'globex', name: 'Globex', role: 'member', opens: true},
  ],
  workspaces: [WORKSPACE],
  session: {id: 'se-1', kind: 'browser', method: 'oidc', ...TIMES},
  csrf_token: 'PROOF',
  object: 'self',
}

const SESSION = {kind: 'browser', method: 'oidc', ...TIMES, last_seen_at: TIMES.created_at, client_ip: '192.0.2.7'}
export const SESSIONS = [
  {id: 'se-1', ...SESSION, user_agent: 'Firefox', current: true},
  {id: 'se/2', ...SESSION, kind: 'cli', user_agent: 'gateway-cli', current: false},
]

const KEY = {workspace: WORKSPACE, status: 'active', created_at: TIMES.created_at}
export const KEYS = [
  {id: 'key-1', name: 'Notebook', masked: 'gk-…1234', ...KEY, expires_at: null, spent_usd: 0.01234, calls: 12},
  {id: 'key-2', name: 'Unused', masked: 'gk-…5678', ...KEY, expires_at: TIMES.expires_at, spent_usd: null, calls: null},
]

/** A signed-in person, as the account page asks for it; each text is what `spell` makes of it. */
export function answerAccount(gateway: FakeGateway, spell: (text: string) => string = text => text): void {
  const spelled = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value), (key, each) =>
      typeof each === 'string' && !/(?:_at|^id|^object|csrf_token)$/.test(key) ? spell(each) : each,
    ) as T
  gateway.answer('GET /v1/auth/self', spelled(SELF))
  gateway.answer('GET /v1/auth/sessions', {object: 'list', total: 2, data: spelled(SESSIONS)})
  gateway.answer('GET /v1/auth/keys', {object: 'list', total: 2, data: spelled(KEYS)})
}
