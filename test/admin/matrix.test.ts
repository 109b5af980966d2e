import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {requestOf} from '../../cli/connect.ts'
import type {AnyOperation} from '../../src/admin/operation.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {Refusal} from '../../src/base/errors.ts'
import {newId, newTimeId} from '../../src/base/ids.ts'
import {openSession} from '../../src/identity/open-session.ts'
import {ROLES, scopesOfRole} from '../../src/identity/roles.ts'
import {NEWER_SCOPES, SCOPES, scopesOf} from '../../src/identity/scopes.ts'
import {SECURITY, securityOf} from '../../src/schema/security.ts'
import {insertDomain} from '../../src/store/domains.ts'
import {insertFeedback} from '../../src/store/feedback.ts'
import {insertIdentity} from '../../src/store/identities.ts'
import {type Admin, type Answer, startAdmin} from '../support/admin.ts'
import {insertLog} from '../support/logs.ts'
import {seedUser} from '../support/people.ts'
import {forRing, generated} from '../support/ring.ts'
import {
  ASKED,
  type Asked,
  CHECKS,
  COVERS,
  DECIDES,
  DEPLOYMENT,
  EXPECTED,
  EXPORT,
  MCP,
  OF_ALL,
  OF_ITS_USER,
  type Place,
  PROMPT,
  SECRET,
} from './matrix-rows.ts'

/** Letters as in the rows; `m` and `g` are keys of a member and of a manager, `N` is nobody. */
const CALLERS = ['O', 'A', 'W', 'G', 'M', 'K', 'S', 'g', 'm', 'N', 'X'] as const
type Caller = (typeof CALLERS)[number]
const NAMES: Record<Caller, string> = {
  O: 'an owner',
  A: 'an admin of the organisation',
  W: 'an admin of the workspace',
  G: 'a manager of the workspace',
  M: 'a member of the workspace',
  K: 'an admin key',
  S: 'a service key of the workspace',
  g: "a manager's key",
  m: "a member's key",
  N: 'a user who is in no workspace',
  X: 'a caller without a key',
}
const REACH_ALL: readonly string[] = ['O', 'A', 'K']
const SHARED = new Refusal('pricing.shared').message
const TURNED = Object.fromEntries(
  Object.entries(SECURITY).map(([category, settings]) => [
    category,
    Object.fromEntries(Object.entries(settings).map(([name, on]) => [name, !on])),
  ]),
)
/** Data visibility narrows what is shown, not what may be asked. */
const VARIANTS = [
  ['usual', {}],
  ['turned', TURNED],
] as const

test('every operation, every scope and every role is in the matrix', () => {
  expect(OPERATIONS.map(({id}) => id).filter(id => !ASKED[id])).toEqual([])
  const asked = OPERATIONS.flatMap(({scopes}) => scopes ?? [])
  expect(asked.filter(scope => SCOPES.has(scope) && !EXPECTED.has(scope))).toEqual([])
  expect([...SCOPES].filter(scope => !EXPECTED.has(scope))).toEqual([])
  expect([...EXPECTED.keys()].filter(scope => !SCOPES.has(scope))).toEqual([])
  expect([SCOPES.size, NEWER_SCOPES.size]).toEqual([139, 29])
})

test.each(VARIANTS)('roles have the scopes of the matrix, with settings as %s', (variant, security) => {
  const letters = {
    'organisation owner': 'O',
    'organisation admin': 'A',
    'organisation member': 'N',
    'workspace admin': 'W',
    'workspace manager': 'G',
    'workspace member': 'M',
  }
  for (const role of ROLES) {
    const want = [...EXPECTED].filter(([, row]) => row[variant].includes(letters[role])).map(([scope]) => scope)
    expect([...scopesOfRole(role, securityOf(security))].toSorted(), role).toEqual(want.toSorted())
  }
  for (const [kind, letter] of [
    ['organisation-service', 'K'],
    ['workspace-service', 'S'],
    ['workspace-user', 'U'],
  ] as const) {
    const want = [...EXPECTED].filter(([, row]) => row.usual.includes(letter)).map(([scope]) => scope)
    expect([...scopesOf(kind)].toSorted(), kind).toEqual(want.toSorted())
  }
})

describe.each(VARIANTS)('with security settings as %s', (variant, security) => {
  let admin: Admin
  let tokens: Record<Caller, string | undefined>
  let own: Place
  let sibling: Place
  let foreign: Place
  const before: Record<string, unknown> = {}

  beforeAll(async () => {
    admin = await startAdmin()
    const refuse = async () => {
      throw new Refusal('config.unknown', {config: 'none'})
    }
    Object.assign(admin.services, {explain: refuse, replay: refuse})
    const settings = {settings: {security}}
    expect((await admin.asAdmin('PUT', '/v1/admin/organisation', settings)).status).toBe(200)
    const {organisation_id, workspace_id} = admin
    own = await furnish(admin.admin_key, organisation_id, workspace_id)
    sibling = await furnish(admin.admin_key, organisation_id, (await admin.seedWorkspace(organisation_id)).id)
    const other = await admin.foreign()
    foreign = await furnish(other.admin.key, other.organisation_id, other.workspace.id)
    const person = async (role: 'owner' | 'admin' | 'member', workspace?: 'admin' | 'manager' | 'member') =>
      seedUser(admin, role, workspace ? {[workspace_id]: workspace} : {})
    const [manager, member] = [await person('member', 'manager'), await person('member', 'member')]
    const userKey = async (user_id: string) =>
      (await admin.seedKey({organisation_id, workspace_id}, {kind: 'workspace-user', user_id})).key
    tokens = {
      O: (await person('owner')).token,
      A: (await person('admin')).token,
      W: (await person('member', 'admin')).token,
      G: manager.token,
      M: member.token,
      K: admin.admin_key,
      S: admin.workspace_key,
      g: await userKey(manager.id),
      m: await userKey(member.id),
      N: (await person('member')).token,
      X: undefined,
    }
    before.foreign = await rowsOf('organisation_id', foreign.organisation)
    before.sibling = await rowsOf('workspace_id', sibling.workspace)
  })
  afterAll(() => admin.close())

  /** Domains are made on the data directory alone. */
  async function seedDomain(organisation_id: string): Promise<string> {
    const id = newId()
    await insertDomain(admin.store.db, {
      ...{id, organisation_id, domain: `${id}.example.com`, allow_subdomains: 0, status: 'verified', code: ''},
      ...{created_at: admin.services.now().toISOString(), verified_at: null},
    })
    return id
  }

  /** Sessions and links come of sign-ins. */
  async function seedSignIn(organisation_id: string, user_id: string) {
    const now = admin.services.now().toISOString()
    const {db} = admin.store
    const opened = {organisation_id, user_id, ttl_s: 3600, kind: 'browser', method: 'oidc'} as const
    const {id: session} = await openSession(db, opened, now)
    const identity = newId()
    const of = {
      organisation_id,
      issuer: 'https://other.example.com',
      subject: identity,
      user_id,
      email: 'a@example.com',
    }
    await insertIdentity(db, {id: identity, ...of, created_at: now, last_seen_at: now})
    return {session, identity}
  }

  /** A row of every kind, made as clients make them. */
  async function furnish(key: string, organisation: string, workspace: string): Promise<Place> {
    const made = async (path: string, body: object) => {
      const reply = await admin.send(key, 'POST', `/v1${path}`, body)
      expect(reply.status, reply.text).toBe(200)
      return (reply.body.data ?? reply.body) as {id: string; slug: string; version_id: string}
    }
    const workspace_id = workspace
    const integration = await made('/integrations', {
      name: 'Kept',
      ai_provider_id: 'openai',
      key: 'sk-0123456789',
      workspace_id,
    })
    const virtual_key = await made('/virtual-keys', {
      name: 'Kept',
      provider: 'openai',
      key: 'sk-0123456789',
      workspace_id,
    })
    const mcp_integration = (await made('/mcp-integrations', {...MCP, workspace_id})).id
    const log = newTimeId(Date.parse('2026-03-04T05:00:00.000Z'))
    const trace = newId()
    await insertLog(admin.store.db, {id: log, trace_id: trace, organisation_id: organisation, workspace_id})
    const feedback = newId()
    const at = '2026-03-04T05:00:00.000Z'
    const thought = {id: feedback, trace_id: trace, source: 'api' as const, value: 1, weight: 1, metadata: '{}'}
    const said_by = {
      organisation_id: organisation,
      workspace_id,
      api_key_id: null,
      user_id: null,
      created_at: at,
      last_updated_at: at,
    }
    await insertFeedback(admin.store.db, [{...thought, ...said_by}])
    const collection = (await made('/collections', {name: 'Kept', workspace_id})).id
    const prompt = await made('/prompts', {
      ...PROMPT,
      name: 'Kept',
      collection_id: collection,
      virtual_key: virtual_key.slug,
    })
    const log_export = (await made('/logs/exports', {...EXPORT, workspace_id})).id
    await made(`/logs/exports/${log_export}/start`, {})
    const user = (await seedUser(admin, 'member', {[workspace]: 'member'}, {organisation_id: organisation})).id
    return {
      organisation,
      workspace,
      user,
      invite: (await made('/admin/users/invites', {email: `${newId()}@example.com`, role: 'member', workspaces: []}))
        .id,
      key: (await made('/api-keys/workspace/service', {name: 'Kept', workspace_id, scopes: ['completions.write']})).id,
      config: (await made('/configs', {name: 'Kept', config: {provider: 'openai'}, workspace_id})).slug,
      integration: integration.id,
      provider: (await made('/providers', {name: 'Kept', integration_id: integration.id, workspace_id})).slug,
      virtual_key: virtual_key.slug,
      guardrail: (await made('/guardrails', {name: 'Kept', checks: CHECKS, actions: {}, workspace_id})).slug,
      usage_policy: (await made('/policies/usage-limits', {...COVERS, type: 'cost', credit_limit: 1, workspace_id})).id,
      rate_policy: (
        await made('/policies/rate-limits', {...COVERS, type: 'requests', unit: 'rpm', value: 60, workspace_id})
      ).id,
      collection,
      label: (await made('/labels', {name: 'kept', workspace_id})).id,
      prompt: prompt.slug,
      prompt_version: prompt.version_id,
      partial: (await made('/prompts/partials', {name: 'Kept', string: 'Be kind.', workspace_id})).slug,
      log,
      trace,
      feedback,
      log_export,
      saved_filter: (await made('/saved-filters', {name: 'Kept', filters: {}, workspace_id})).id,
      secret_reference: (await made('/secret-references', SECRET)).id,
      mcp_integration,
      mcp_server: (await made('/mcp-servers', {name: 'Kept', mcp_integration_id: mcp_integration, workspace_id})).id,
      deployment: (await made('/deployments', DEPLOYMENT)).id,
      domain: await seedDomain(organisation),
      ...(await seedSignIn(organisation, user)),
      mcp_oauth_client: (await made('/mcp-oauth-clients', {name: 'Kept', redirect_uris: ['http://localhost/cb']})).id,
      scim_token: (await made('/admin/organisation/scim-tokens', {name: 'Kept'})).id,
      scim_mapping: (await made('/scim/workspaces', {workspace_id, role: 'member', scim_group_name: 'Made'})).id,
    }
  }

  const nowhere = (): Place => {
    const ids = Object.keys(own).map(name => [name, name === 'log' ? newTimeId(0) : newId()])
    return Object.fromEntries(ids) as unknown as Place
  }

  function send(caller: Caller, operation: AnyOperation, {params = {}, query = {}, body}: Asked): Promise<Answer> {
    const {method, path} = requestOf(operation, {params, query})
    return admin.send(tokens[caller], method, path, body)
  }

  /** Whether the matrix lets a caller in. */
  function isLetIn(caller: Caller, {id, scopes}: AnyOperation): boolean {
    if (scopes === null) return true
    if (caller === 'X') return false
    if (!scopes.length) return true
    const decisive = DECIDES[id] ? [DECIDES[id]!] : scopes
    return decisive.some(scope => {
      const letters = EXPECTED.get(scope)?.[variant] ?? ''
      if (caller === 'g' || caller === 'm') return letters.includes(caller.toUpperCase()) && letters.includes('U')
      return letters.includes(caller)
    })
  }

  /** Rows of every table, as text. */
  async function rowsOf(column: 'organisation_id' | 'workspace_id', id: string) {
    const tables = [
      ...(['workspace_users', 'api_keys', 'integrations', 'providers', 'configs', 'audit_logs'] as const),
      ...(['guardrails', 'policies', 'collections', 'labels', 'prompts', 'prompt_partials'] as const),
      ...([
        'mcp_integrations',
        'mcp_servers',
        'scim_mappings',
        'log_exports',
        'saved_filters',
        'traffic.feedback',
      ] as const),
    ]
    const rows = await Promise.all(
      tables.map(table =>
        admin.store.db
          .selectFrom(table)
          .selectAll()
          .where(column as never, '=', id as never)
          .execute(),
      ),
    )
    return JSON.stringify(rows)
  }

  const cases = OPERATIONS.filter(({id}) => ASKED[id]).map(operation => [operation.id, operation] as const)

  test.runIf(variant === 'usual')(
    'a key without its scope is told the same, whether what an operation is about is there or not',
    async () => {
      const {organisation_id, workspace_id} = admin
      const manager = (await seedUser(admin, 'member', {[workspace_id]: 'manager'})).id
      const keys = [
        ['workspace-service', {organisation_id, workspace_id}, {}],
        ['organisation-service', {organisation_id}, {}],
        ['workspace-user', {organisation_id, workspace_id}, {user_id: manager}],
      ] as const
      const made = new Map<string, string>()
      let asked = 0
      for (const [, operation] of cases) {
        const {id, scopes} = operation
        if (!scopes?.length) continue
        for (const [kind, at, more] of keys.slice(0, forRing({own: 1, ci: 3, full: 3}))) {
          const left = [...scopesOf(kind)].filter(scope => !scopes.includes(scope))
          const name = `${kind} ${left.join(' ')}`
          const key = made.get(name) ?? (await admin.seedKey(at, {kind, scopes: left, ...more})).key
          made.set(name, key)
          const response = new Set<string>()
          for (const place of [
            own,
            {...nowhere(), workspace: own.workspace},
            ...forRing({own: [], ci: [foreign], full: [nowhere(), sibling, foreign]}),
          ]) {
            asked++
            const {params = {}, query = {}, body} = ASKED[id]!(place)
            const {method, path} = requestOf(operation, {params, query})
            const {status, text} = await admin.send(key, method, path, body)
            response.add(`${status} ${text}`)
          }
          expect([...response], `a ${kind} key: ${id}`).toEqual([expect.stringMatching(/^403 .*"AB03"/)])
        }
      }
      generated('operations without their scope', asked)
    },
    60_000,
  )

  test.each(cases)('%s', async (_, operation) => {
    const asked = (place: Place) => ASKED[operation.id]!(place)
    const differs = (place: Place) => plain(asked(place)) !== plain(asked(own))
    const removes = operation.method === 'DELETE' && !operation.body
    for (const caller of CALLERS) {
      const why = `${NAMES[caller]}: ${operation.id}`
      const let_in = isLetIn(caller, operation)
      // what is taken away is asked for by an id that is not there, once it is clear who may
      const here = await send(caller, operation, asked(removes ? {...nowhere(), workspace: own.workspace} : own))
      if (!let_in) {
        expect([here.status, here.body.data.errorCode], why).toEqual(caller === 'X' ? [401, 'AB05'] : [403, 'AB03'])
      } else if (operation.scopes === null || operation.scopes.length === 0) {
        expect(here.status, why).toBeLessThan(500)
      } else if (OF_ALL.has(operation.id)) {
        expect([here.status, here.body.data], why).toEqual([403, {message: SHARED, errorCode: 'AB03'}])
      } else {
        if (operation.method === 'GET' && !OF_ITS_USER.has(operation.id))
          expect(here.status, `${why} ${here.text}`).toBe(200)
        expect([401, 403].includes(here.status) || here.status >= 500, `${why} ${here.text}`).toBe(false)
      }
      if (!operation.scopes?.length) continue
      const places = REACH_ALL.includes(caller) ? [foreign] : [sibling, foreign]
      // their rows as if they were in the own workspace too; a user of the organisation can be made a member, whatever
      // else he is in
      const mixed = (place: Place) => ({...place, workspace: own.workspace, ...(place === sibling && {user: own.user})})
      for (const place of places.flatMap(each => [each, mixed(each)]).filter(differs)) {
        const there = await send(caller, operation, asked(place))
        if (!let_in) {
          expect(there.text, why).toBe(here.text)
          continue
        }
        const unknown = {...nowhere(), ...(place.workspace === own.workspace && {workspace: own.workspace})}
        const nothing = await send(caller, operation, asked(unknown))
        expect([there.status, blind(there.text, place)], `${why} ${there.text}`).toEqual([
          404,
          blind(nothing.text, unknown),
        ])
      }
    }
  })

  test('what others have is as it was', async () => {
    expect(await rowsOf('organisation_id', foreign.organisation)).toBe(before.foreign)
    expect(await rowsOf('workspace_id', sibling.workspace)).toBe(before.sibling)
  })
})

/** What is asked, as text; addresses and domains are new each time. */
function plain(asked: Asked): string {
  return JSON.stringify(asked).replace(/[^"]*[@.]example\.com/g, '')
}

/** A reply with the ids that the caller sent left out. */
function blind(text: string, place: Place): string {
  return Object.values(place).reduce((left, id) => left.replaceAll(id, '?'), text)
}
