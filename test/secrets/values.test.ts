import {afterEach, beforeEach, expect, test} from 'vitest'
import {meantFetch, type SecretHouse, secretHouse} from '../support/secret-managers/house.ts'
import {type VaultDouble, vaultDouble} from '../support/secret-managers/vault.ts'

const APPROLE = {
  vault_auth_type: 'approle',
  vault_addr: 'https://vault.test',
  vault_role_id: 'role',
  vault_secret_id: 'hush',
}
const MINUTE_MS = 60_000
let vault: VaultDouble
let house: SecretHouse
beforeEach(async () => {
  vault = await vaultDouble()
  house = await secretHouse(meantFetch({'vault.test': vault}))
  vault.state.now_ms = () => house.clock.now_ms
  vault.state.secrets['secret/app'] = {data: {key: 'sk-first-0123456789'}}
  await house.reference('r', 'hashicorp_vault', APPROLE, 'secret/app')
})
afterEach(async () => {
  await house.close()
  await vault.close()
})
const reads = () => vault.count('secret/data/app')
const later = (ms: number) => {
  house.clock.now_ms += ms
}
const settled = (isDone: () => unknown) =>
  expect.poll(async () => isDone(), {timeout: 60_000, interval: 5}).toBeTruthy()
const refused = (field = {}) =>
  house.key('r', field).then(
    () => 'a value',
    fault => ({code: fault.code, status: fault.status, message: fault.message}),
  )

test('SM1: a thousand calls at once on a cold reference are one fetch and one login', async () => {
  const all = await Promise.all(Array.from({length: 1000}, () => house.key('r')))
  expect(new Set(all)).toEqual(new Set(['sk-first-0123456789']))
  expect([reads(), vault.count('auth/approle/login')]).toEqual([1, 1])
})

test('SM2: from 80 % of its time on a value is refreshed in the background, and no call waits for it', async () => {
  await house.key('r')
  vault.state.secrets['secret/app'] = {data: {key: 'sk-second-012345678'}, version: 2}
  later(3 * MINUTE_MS)
  expect([await house.key('r'), reads()]).toEqual(['sk-first-0123456789', 1])
  later(1.5 * MINUTE_MS)
  const at_once = house.secrets.fields.valuesOf(house.mapped({target_field: 'key', secret_reference_id: 'r'}))
  expect(at_once).not.toBeInstanceOf(Promise)
  await settled(async () => (await house.key('r')) === 'sk-second-012345678')
  expect([await house.key('r'), reads()]).toEqual(['sk-second-012345678', 2])
})

test('SM3: with the manager down calls continue for the grace, then fail with the reference', async () => {
  await house.key('r')
  vault.state.sealed = true
  later(6 * MINUTE_MS)
  expect(await house.key('r')).toBe('sk-first-0123456789')
  later(13 * MINUTE_MS)
  expect(await house.key('r')).toBe('sk-first-0123456789')
  expect(house.counts.get('stale')).toBe(2)
  later(2 * MINUTE_MS)
  const fault = await refused()
  expect(fault).toMatchObject({code: 'secret.unresolvable', status: 500, message: expect.stringContaining(' r ')})
  later(MINUTE_MS)
  vault.state.sealed = false
  expect(await house.key('r')).toBe('sk-first-0123456789')
})

test('SM4: without a grace calls fail right after five minutes', async () => {
  const strict = await secretHouse(meantFetch({'vault.test': vault}), {
    settings: {secret_stale_grace_s: 0, audit_logs_enabled: true},
  })
  vault.state.now_ms = () => strict.clock.now_ms
  await strict.reference('r', 'hashicorp_vault', APPROLE, 'secret/app')
  await strict.key('r')
  vault.state.sealed = true
  strict.clock.now_ms += 5 * MINUTE_MS - 1
  expect(await strict.key('r')).toBe('sk-first-0123456789')
  strict.clock.now_ms += 2
  await expect(strict.key('r')).rejects.toMatchObject({code: 'secret.unresolvable', status: 500})
  await strict.close()
})

test('SM5: a no to a fresh login too ends the value at once; it is read again after 30 s', async () => {
  await house.key('r')
  vault.state.denied.add('secret/app')
  later(4.9 * MINUTE_MS)
  await house.key('r')
  await settled(async () => (await refused()) !== 'a value')
  expect(await refused()).toMatchObject({code: 'secret.unresolvable', message: expect.stringContaining('HTTP 403')})
  const before = reads()
  later(29_000)
  await refused()
  expect(reads()).toBe(before)
  vault.state.denied.clear()
  later(2_000)
  expect(await house.key('r')).toBe('sk-first-0123456789')
})

test('SM5: what was deleted is not used either, however much grace is left', async () => {
  await house.key('r')
  vault.state.secrets['secret/app'] = {data: {}, deleted: true}
  later(6 * MINUTE_MS)
  expect(await refused()).toMatchObject({code: 'secret.unresolvable', message: expect.stringContaining('deleted')})
})

test('SM7: for a provider’s refusal a value is fetched once in 10 s', async () => {
  const mapped = house.mapped({target_field: 'key', secret_reference_id: 'r'})
  const used = await house.secrets.fields.valuesOf(mapped)
  for (let nth = 0; nth < 5; nth++) expect(await house.secrets.fields.refused(mapped, used)).toBeNull()
  expect(reads()).toBe(2)
  later(10_001)
  vault.state.secrets['secret/app'] = {data: {key: 'sk-second-012345678'}, version: 2}
  const other = await house.secrets.fields.refused(mapped, used)
  expect(other?.byField.get('key')).toBe('sk-second-012345678')
  expect(reads()).toBe(3)
})

test('Correction 24: the value before is tried for a minute', async () => {
  const mapped = house.mapped({target_field: 'key', secret_reference_id: 'r'})
  await house.secrets.fields.valuesOf(mapped)
  vault.state.secrets['secret/app'] = {data: {key: 'sk-second-012345678'}, version: 2}
  later(4.9 * MINUTE_MS)
  await house.secrets.fields.valuesOf(mapped)
  await settled(async () => (await house.key('r')) === 'sk-second-012345678')
  const used = await house.secrets.fields.valuesOf(mapped)
  expect(used.byField.get('key')).toBe('sk-second-012345678')
  expect((await house.secrets.fields.refused(mapped, used))?.byField.get('key')).toBe('sk-first-0123456789')
  later(MINUTE_MS)
  expect(await house.secrets.fields.refused(mapped, used)).toBeNull()
})

test('SM9: two references with the same role and other secret ids never share a token', async () => {
  vault.state.approles.add('role/other')
  await house.reference('s', 'hashicorp_vault', {...APPROLE, vault_secret_id: 'other'}, 'secret/app')
  await Promise.all([house.key('r'), house.key('s')])
  const tokens = vault.received
    .filter(({path}) => path.startsWith('/v1/secret/'))
    .map(each => each.headers['x-vault-token'])
  expect(new Set(tokens).size).toBe(2)
})

test('SM20: a key that is missing is named, the value is not; nor is that of a text which is no JSON', async () => {
  const fault = await refused({secret_key: 'api_key'})
  expect(fault).toMatchObject({code: 'secret.unresolvable', message: expect.stringContaining('"api_key"')})
  vault.state.secrets['secret/short'] = {data: {key: 'pw42'}}
  await house.reference('short', 'hashicorp_vault', APPROLE, 'secret/short')
  const shown = await house.key('short', {value_format: 'json'}).catch(error => error.message)
  expect(shown).toContain('not JSON')
  expect(shown).not.toContain('pw42')
})

test('SM21: value_format json gives what the secret holds, numbers in a text keep their digits', async () => {
  vault.state.secrets['secret/app'] = {data: {meta: '{"client_id":"a"}', big: 12345678901234567000, other: {a: 1}}}
  const field = 'configurations.oauth_metadata'
  expect(await house.key('r', {target_field: field, secret_key: 'meta', value_format: 'json'})).toEqual({
    client_id: 'a',
  })
  expect(await house.key('r', {target_field: field, secret_key: 'other', value_format: 'json'})).toEqual({a: 1})
  expect(await house.key('r', {target_field: 'configurations.x', secret_key: 'other'})).toBe('{"a":1}')
})

test('Correction 21: white space is cut; a key that no header takes is refused', async () => {
  vault.state.secrets['secret/app'] = {data: {key: '\ufeff sk-first-0123456789\r\n'}}
  expect(await house.key('r')).toBe('sk-first-0123456789')
  vault.state.secrets['secret/bad'] = {data: {key: 'Bearer sk-secret\nx'}}
  await house.reference('bad', 'hashicorp_vault', APPROLE, 'secret/bad')
  const fault = await house.key('bad').catch(error => error.message)
  expect(fault).toContain('visible ASCII')
  expect(fault).not.toContain('sk-secret')
})

test('Correction 13: a cold reference whose manager hangs is 503 with a time to come back', async () => {
  vault.state.always = 'hang'
  const hasty = await secretHouse(meantFetch({'vault.test': vault}), {
    after: (_, run) => {
      const timer = setTimeout(run, 0)
      return () => clearTimeout(timer)
    },
  })
  await hasty.reference('r', 'hashicorp_vault', APPROLE, 'secret/app')
  await expect(hasty.key('r')).rejects.toMatchObject({code: 'secret.late', status: 503, retry_after_s: 2})
  await hasty.close()
})

test('Correction 13: Retry-After bars the manager for all; its callers are 503 with that time', async () => {
  vault.state.always = {status: 429, headers: {'retry-after': '30'}, body: {errors: ['slow down']}}
  await expect(house.key('r')).rejects.toMatchObject({code: 'secret.late', retry_after_s: 30})
  const before = vault.received.length
  later(5_000)
  await house.key('r').catch(() => undefined)
  expect(vault.received.length).toBe(before)
})

test('SM28: the audit log has the first use of a version, and each change of state, never a value', async () => {
  await house.key('r')
  vault.state.sealed = true
  later(6 * MINUTE_MS)
  await house.key('r')
  later(MINUTE_MS)
  await house.key('r')
  await settled(() => house.counts.get('unreachable') === 2)
  vault.state.sealed = false
  vault.state.secrets['secret/app'] = {data: {key: 'sk-second-012345678'}, version: 2}
  later(MINUTE_MS)
  await house.key('r')
  await settled(async () => (await house.audits()).length === 3)
  const audits = await house.audits()
  expect(audits.map(({action, body}) => [action, body.version ?? body.state])).toEqual([
    ['secret-reference-fetched', '1'],
    ['secret-reference-fetch-failed', '1'],
    ['secret-reference-fetched', '2'],
  ])
  expect(JSON.stringify(audits)).not.toMatch(/sk-/)
  expect(audits[0]).toMatchObject({resource_id: 'r', body: {manager: 'hashicorp_vault'}})
})

test('a secret that is too long, or what is no Vault, is a fault that says so', async () => {
  vault.state.secrets['secret/app'] = {data: {key: 'x'.repeat(1_000_000)}}
  expect(await refused()).toMatchObject({message: expect.stringContaining('longer than 64 KB')})
  vault.state.always = {status: 404, body: '<html>not here</html>'}
  await house.reference('html', 'hashicorp_vault', APPROLE, 'secret/html')
  const fault = await house.key('html').catch(error => error.message)
  expect(fault).toContain('no Vault')
})

test('a reference that another workspace alone may use, and one that was deleted, is refused', async () => {
  const field = {target_field: 'key', secret_reference_id: 'r'}
  await house.reference('closed', 'hashicorp_vault', APPROLE, 'secret/app', {allow_all_workspaces: 0})
  const of = {...house.mapped({...field, secret_reference_id: 'closed'}), workspace_id: 'w'}
  await expect(async () => house.secrets.fields.valuesOf(of)).rejects.toMatchObject({code: 'secret.unresolvable'})
  const gone = {...house.mapped({...field, secret_reference_id: 'gone'}), workspace_id: 'w'}
  await expect(async () => house.secrets.fields.valuesOf(gone)).rejects.toMatchObject({
    message: expect.stringContaining('deleted'),
  })
})
