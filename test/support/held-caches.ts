import {hash} from 'node:crypto'
import {type KyselyPlugin, type OperationNode, RawNode, TableNode} from 'kysely'
import {expect} from 'vitest'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {rememberedPrices} from '../../src/app/remembered-prices.ts'
import {administeredBy} from '../../src/app/server.ts'
import {Destinations} from '../../src/base/egress/target.ts'
import {readTrusted} from '../../src/base/egress/trust.ts'
import type {ClientRequest} from '../../src/base/ingress/request.ts'
import {Tokens} from '../../src/identity/jwt/tokens.ts'
import {createPolicyLookup} from '../../src/limits/policy-lookup.ts'
import {createToolGuardLookup} from '../../src/mcp/guards/find-guards.ts'
import {openPricing} from '../../src/pricing/open.ts'
import {PriceCache} from '../../src/pricing/price-cache.ts'
import {find as findKind} from '../../src/providers/registry.ts'
import {dryRunCall} from '../../src/proxy/call/offline-call.ts'
import {openGuards} from '../../src/proxy/lookups/guardrails.ts'
import {createLookups} from '../../src/proxy/lookups/lookups.ts'
import {createTokenCallers} from '../../src/proxy/lookups/token-callers.ts'
import {Prompts} from '../../src/proxy/run/prompt.ts'
import type {Caller} from '../../src/proxy/services.ts'
import {PlanCache} from '../../src/proxy/targets/plan-cache.ts'
import {createCircuits} from '../../src/routing/breaker.ts'
import type {TableName} from '../../src/store/database.ts'
import {mcpServersForCalls} from '../../src/store/mcp-for-call.ts'
import type {Remembered} from '../../src/store/remembered.ts'
import {INVALIDATES} from '../../src/store/tables/invalidation.ts'
import {type Admin, startAdmin} from './admin.ts'
import {seedUser} from './people.ts'
import type {StoreKind} from './stores.ts'
import {heldToken, signer} from './tokens.ts'

const SIGNER = signer('EdDSA')

/** A cache with two entries, each made of rows of its own. */
export interface HeldCache {
  readonly name: string
  readonly remembered: readonly Remembered[]
  look(which?: 'one' | 'other'): Promise<unknown>
}

/** Notes which tables the statements read that run through it, and how many there were. */
class Reads implements KyselyPlugin {
  readonly tables = new Set<TableName>()
  statements = 0

  transformQuery({node}: Parameters<KyselyPlugin['transformQuery']>[0]) {
    this.statements++
    this.#note(node)
    return node
  }

  async transformResult({result}: Parameters<KyselyPlugin['transformResult']>[0]) {
    return result
  }

  #note(node: unknown): void {
    if (typeof node !== 'object' || node === null) return
    if ('kind' in node && TableNode.is(node as OperationNode)) {
      const {schema, identifier} = (node as TableNode).table
      const name = schema ? `${schema.name}.${identifier.name}` : identifier.name
      if (Object.hasOwn(INVALIDATES, name)) this.tables.add(name as TableName) // else an alias
    }
    if ('kind' in node && RawNode.is(node as OperationNode))
      expect((node as RawNode).sqlFragments.join('?'), 'nobody sees which tables it reads').not.toMatch(/from|join/i)
    for (const part of Object.values(node)) this.#note(part)
  }
}

/** Every cache of rows that there is, over one database, and what its loaders read. */
export async function heldCaches(kind: StoreKind) {
  const admin = await startAdmin({kind})
  const rows = await heldRows(admin)
  const {
    store,
    services: {seal, settings, now},
  } = admin
  const reads = new Reads()
  const db = store.db.withPlugin(reads)
  const now_ms = () => now().getTime()
  const known = createLookups({db, seal, has_policies: true, kind: findKind, pricedModels: () => []})
  const by_token = createTokenCallers(
    db,
    new Tokens({
      ...{db, is_enabled: true, served: [], default_scopes: [], wall: now_ms, onRefused: () => undefined},
      key_sets: undefined as never, // the keys are in place
    }),
    [],
  )
  const destinations = new Destinations(readTrusted(settings.trusted_custom_hosts))
  const on: HeldServices = {
    ...known,
    settings,
    kind: findKind,
    destination: text => destinations.read(text, {kind: 'builtin'}),
    guardrails: openGuards({db, seal, around: undefined as never}), // no check is run
    circuits: createCircuits(),
    administered: administeredBy(OPERATIONS),
    masked: new Set<string>(),
    steady: () => performance.now(),
    option_defaults: {},
  }
  const plans = new PlanCache(on)
  const prompts = new Prompts(on)
  const mcp_servers = mcpServersForCalls(db)
  const tool_guards = createToolGuardLookup({db, seal})
  const tool_policies = createPolicyLookup({db, target: 'mcp_tools', enabled: true})
  const pricing = openPricing({settings, db, isProvider: () => true, warn: () => undefined, now_ms})
  let refreshed: Promise<void> = Promise.resolve()
  const prices = rememberedPrices({
    pricing: {
      refresh() {
        refreshed = pricing.refresh()
        return refreshed
      },
    },
    memory: new PriceCache(pricing, now_ms),
    log: {error: () => undefined},
    after: () => () => undefined,
  })
  prices.forget(null)
  const {organisation_id, workspace_id, workspace_slug} = admin
  const of = {organisation_id, workspace_id, workspace_slug, metadata: {}, config_id: null}
  const having = (table: TableName) => known.remembered.filter(each => each.of.has(table))
  const [callers_of_configs, policies_of_configs] = having('configs')
  const caches: HeldCache[] = [
    {
      name: 'callers',
      remembered: [...having('api_keys'), callers_of_configs!],
      look: async (which = 'one') => known.findCaller(hash('sha256', rows[which].key), {socket: {}} as ClientRequest),
    },
    {
      name: 'policies',
      remembered: [...having('policies'), policies_of_configs!],
      look: async (which = 'one') => known.findPolicies(rows[which].workspace_id),
    },
    {
      name: 'policies of tools',
      remembered: tool_policies.remembered,
      look: async (which = 'one') => tool_policies.find(rows[which].workspace_id),
    },
    {
      name: 'guardrails of tools',
      remembered: tool_guards.remembered,
      async look(which = 'one') {
        const {mcp_server_id: id, workspace_id} = rows[which]
        return tool_guards.find({id, organisation_id, workspace_id})
      },
    },
    {
      name: 'lists of models',
      remembered: having('providers'),
      look: async (which = 'one') => known.listedProviders(rows[which].workspace_id),
    },
    {
      name: 'plans',
      remembered: plans.remembered,
      async look(which = 'one') {
        const body = {model: 'gpt-4o', messages: [{role: 'user', content: 'Hi'}]}
        const caller = {...of, workspace_id: rows[which].workspace_id}
        const {call} = dryRunCall(
          {method: 'POST', path: '/v1/chat/completions', body},
          {caller, config: rows[which].config, at_ms: now_ms(), services: on},
        )
        const routing = await plans.find(call.incoming, call.caller, null)
        if (routing.plan.root.kind !== 'leaf') throw new Error('expected one target')
        return plans.target(routing, routing.plan.root, call.incoming, call.caller)
      },
    },
    {
      name: 'prompts',
      remembered: prompts.remembered,
      look: (which = 'one') =>
        prompts.find({...of, workspace_id: rows[which].workspace_id} as Caller, rows[which].prompt, false),
    },
    {
      name: 'callers by token',
      remembered: by_token.remembered,
      look: async (which = 'one') => by_token.find(rows[which].token, {socket: {}} as ClientRequest),
    },
    {
      name: 'MCP servers',
      remembered: mcp_servers.remembered,
      look: async (which = 'one') =>
        mcp_servers.find({organisation_id, workspace: rows[which].workspace_id, server: rows[which].mcp_server}),
    },
    {name: 'prices', remembered: [prices], look: () => refreshed},
  ]
  /** How many statements `work` read the database with. */
  const loads = async (work: () => Promise<unknown>) => {
    const before = reads.statements
    await work()
    return reads.statements - before
  }
  return {admin, store, rows, reads, caches, loads, all: caches.flatMap(({remembered}) => remembered)}
}

type HeldServices = ConstructorParameters<typeof PlanCache>[0] &
  ConstructorParameters<typeof Prompts>[0] &
  Parameters<typeof dryRunCall>[1]['services']

interface HeldRows {
  readonly workspace_id: string
  readonly key: string
  readonly key_id: string
  readonly token: string
  readonly config: string
  readonly config_id: string
  readonly provider_id: string
  readonly integration_id: string
  readonly prompt: string
  readonly prompt_id: string
  readonly mcp_server: string
  readonly mcp_server_id: string
  readonly mcp_integration_id: string
}

/** Rows for an entry of each cache in the first workspace, and in another: one entry reads every table that it can. */
async function heldRows(admin: Admin): Promise<Readonly<Record<'one' | 'other', HeldRows>>> {
  const {organisation_id} = admin
  const made = async (workspace_id: string, name: string): Promise<HeldRows> => {
    const ask = async (method: string, path: string, body: object) => {
      const reply = await admin.asAdmin(method, `/v1${path}`, body)
      expect(reply.status, `${method} ${path} ${reply.text}`).toBe(200)
      return (reply.body.data ?? reply.body) as {id: string; slug: string; version_id: string}
    }
    const post = (path: string, body: object) => ask('POST', path, {name, workspace_id, ...body})
    const key = await admin.seedKey({organisation_id, workspace_id})
    const {email: email_id} = await seedUser(admin)
    const claims = {organisation_id, workspace_slug: workspace_id, scope: 'completions.write', email_id}
    const slug = `p-${name}`
    const account = await ask('POST', '/integrations', {name, slug: `i-${name}`, ai_provider_id: 'openai', key: 'sk'})
    await ask('PUT', `/integrations/${account.slug}/workspaces`, {
      workspaces: [{id: workspace_id, enabled: true, default_provider_slug: slug}],
    })
    const check = {id: 'default.contains', parameters: {words: ['x'], operator: 'none'}}
    const guardrail = await post('/guardrails', {checks: [check], actions: {deny: true}})
    const config = await post('/configs', {config: {provider: `@${slug}`, input_guardrails: [guardrail.slug]}})
    await post('/policies/usage-limits', {
      conditions: [{key: 'config', value: config.slug}],
      group_by: [{key: 'api_key'}],
      type: 'cost',
      credit_limit: 10,
    })
    await post('/policies/rate-limits', {
      ...{target: 'mcp_tools', conditions: [{key: 'mcp_tool', value: '*'}]},
      ...{type: 'requests', unit: 'rpw', value: 10},
    })
    const collection = await post('/collections', {})
    const partial = await post('/prompts/partials', {string: 'Be kind.'})
    const label = await post('/labels', {})
    const prompt = await ask('POST', '/prompts', {
      name,
      collection_id: collection.id,
      string: JSON.stringify([{role: 'user', content: `{{>${partial.slug}}}`}]),
      parameters: {},
      virtual_key: slug,
      model: 'gpt-4o',
    })
    await ask('PUT', `/prompts/${prompt.slug}/versions/${prompt.version_id}`, {label_id: label.id})
    const mcp = {name, workspace_id, url: 'https://mcp.example/mcp', auth_type: 'none', transport: 'http'}
    const {id: mcp_integration_id} = await ask('POST', '/mcp-integrations', mcp)
    const server = await ask('POST', '/mcp-servers', {name, workspace_id, mcp_integration_id})
    const of_tools = await post('/guardrails', {target: 'mcp_tools', checks: [check], actions: {deny: true}})
    await ask('PUT', `/guardrails/${of_tools.slug}/mcp-servers`, {mcp_servers: [server.slug], run_on: 'both'})
    const provider = await admin.store.db
      .selectFrom('providers')
      .select(['id', 'integration_id'])
      .where('slug', '=', slug)
      .executeTakeFirstOrThrow()
    return {
      workspace_id,
      key: key.key,
      key_id: key.id,
      token: heldToken(SIGNER, claims, admin.services.now().getTime()),
      config: config.slug,
      config_id: config.id,
      provider_id: provider.id,
      integration_id: provider.integration_id,
      prompt: `${prompt.slug}@${name}`,
      prompt_id: prompt.id,
      mcp_server: server.slug,
      mcp_server_id: server.id,
      mcp_integration_id,
    }
  }
  const auth = {jwt: {jwks: {keys: [SIGNER.jwk]}, algorithms: ['EdDSA']}}
  expect((await admin.asAdmin('PUT', '/v1/admin/organisation/auth', auth)).status).toBe(200)
  const other = await admin.seedWorkspace(organisation_id)
  return {one: await made(admin.workspace_id, 'one'), other: await made(other.id, 'other')}
}
