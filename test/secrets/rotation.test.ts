import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {openStore} from '../../src/store/dialect/index.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard, json, openaiLike} from '../support/provider.ts'
import {type VaultDouble, vaultDouble} from '../support/secret-managers/vault.ts'

const KEYS = ['sk-rotated-0-0123456789', 'sk-rotated-1-0123456789'] as const
/** Calls leave in groups, at 500 a second. */
const EVERY_MS = 20
const GROUP = 10
const GROUPS = 150

let gateway: TestGateway
let provider: FakeProvider
let vault: VaultDouble
let taken: string
let refused = 0
beforeAll(async () => {
  vault = await vaultDouble()
  provider = await fakeProvider()
  gateway = await startGateway({SECRET_MANAGER_HOSTS: '127.0.0.1', TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
}, 120_000)
afterAll(async () => {
  await gateway.close()
  await provider.close()
  await vault.close()
})
beforeEach(() => {
  taken = KEYS[0]
  refused = 0
  provider.answer((request: Heard, response) => {
    if (request.headers.authorization === `Bearer ${taken}`) return openaiLike(request, response)
    refused++
    json(response, {error: {message: 'Incorrect API key provided', code: 'invalid_api_key'}}, 401)
  })
})

/** A provider whose key is in the vault; gives how another version of it gets there. */
async function mapped(slug: string) {
  const keep = (version: number) => {
    vault.state.secrets[`secret/${slug}`] = {data: {key: KEYS[version]!}, version: version + 1}
  }
  keep(0)
  await gateway.admin('POST', '/secret-references', {
    ...{name: slug, slug, manager_type: 'hashicorp_vault', secret_path: `secret/${slug}`},
    auth_config: {
      ...{vault_auth_type: 'approle', vault_addr: vault.url, vault_role_id: 'role', vault_secret_id: 'hush'},
    },
  })
  const secret_mappings = [{target_field: 'key', secret_reference_id: slug}]
  await gateway.provider(slug, 'openai', provider.url, {key: undefined, secret_mappings})
  return keep
}

/** Calls at 500 a second; `events` happen before the group of their number leaves. Gives the statuses. */
async function crowd(slug: string, events: Readonly<Record<number, () => void>>): Promise<readonly number[]> {
  const calls: Promise<number>[] = []
  const one = async () => {
    const reply = await gateway.chat({model: `@${slug}/gpt-4o`, messages: [{role: 'user', content: 'Hi'}]})
    await reply.text()
    return reply.status
  }
  await new Promise<void>(resolve => {
    let group = 0
    const timer = setInterval(() => {
      events[group]?.()
      for (let at = 0; at < GROUP; at++) calls.push(one())
      if (++group < GROUPS) return
      clearInterval(timer)
      resolve()
    }, EVERY_MS)
  })
  return Promise.all(calls)
}

async function attemptsOf(slug: string) {
  await gateway.app.flushed()
  const store = await openStore({kind: 'sqlite', folder: gateway.folder, role: 'operator'})
  try {
    const entries = await store.db
      .selectFrom('traffic.ledger_entries')
      .select(['call_id', 'attempt', 'status'])
      .where('provider_slug', '=', slug)
      .execute()
    return entries
  } finally {
    await store.close()
  }
}

test.each([
  ['manager and provider change 20 ms apart', 'at-once', 0],
  ['the provider changes half a second after the manager', 'later', 25],
] as const)(
  'a rotation under 500 calls a second costs no call more than one repetition: %s',
  async (_, slug, later) => {
    const keep = await mapped(slug)
    const reads = () => vault.count(`secret/data/${slug}`)
    const statuses = await crowd(slug, {
      50: () => keep(1),
      [51 + later]: () => {
        taken = KEYS[1]
      },
    })
    expect(statuses.filter(status => status !== 200)).toEqual([])
    expect(refused).toBeGreaterThan(0)
    const entries = await attemptsOf(slug)
    const calls = new Map<string, number>()
    for (const {call_id} of entries) calls.set(call_id, (calls.get(call_id) ?? 0) + 1)
    expect(calls.size).toBe(GROUPS * GROUP)
    expect(Math.max(...calls.values())).toBe(2)
    expect(entries.filter(({status}) => status === 401)).toHaveLength(refused)
    expect(reads()).toBe(2)
  },
  60_000,
)
