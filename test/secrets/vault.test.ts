import {afterEach, beforeEach, expect, test} from 'vitest'
import type {ManagerFault} from '../../src/secrets/manager-fault.ts'
import {vaultManager} from '../../src/secrets/managers/vault/client.ts'
import type {ManagerServices} from '../../src/secrets/services.ts'
import {meantFetch} from '../support/secret-managers/house.ts'
import {type VaultDouble, vaultDouble} from '../support/secret-managers/vault.ts'

const APPROLE = {
  vault_auth_type: 'approle',
  vault_addr: 'https://vault.test',
  vault_role_id: 'role',
  vault_secret_id: 'hush',
}
let vault: VaultDouble
let now_ms: number
beforeEach(async () => {
  vault = await vaultDouble()
  now_ms = Date.parse('2026-01-02T03:04:05Z')
  vault.state.now_ms = () => now_ms
})
afterEach(() => vault.close())

function open(own: Partial<ManagerServices> = {}) {
  const read = vaultManager({
    ...{fetch: meantFetch({'vault.test': vault}), log: {warn: () => undefined}, wall: () => now_ms, random: () => 0},
    after(_, run) {
      const timer = setTimeout(run, 0)
      return () => clearTimeout(timer)
    },
    ...{identity: {}, aws_domain: 'amazonaws.com', aws_region: null, azure_authority: null},
    ...{pod_token: async () => 'pod-token', isNamedHost: () => false},
    ...own,
  })
  return (path: string, login: object = APPROLE) => read({manager_type: 'hashicorp_vault', path, login: {...login}})
}
const text = async (read: Promise<{content: {text: string}}>) => (await read).content.text
const kindOf = (read: Promise<unknown>) =>
  read.then(
    () => 'read',
    (fault: ManagerFault) => fault.kind,
  )

test('SM16: a path as people type it is found below the data/ of its mount', async () => {
  vault.state.mounts = {'team/': 2}
  vault.state.secrets['team/app'] = {data: {key: 'a'}}
  expect(await text(open()('team/app'))).toBe('{"key":"a"}')
})

test('SM17: a path typed with data/ works, so do a space, a plus and a version', async () => {
  vault.state.secrets['secret/a b+c'] = {data: {key: 'a'}, version: 3}
  const read = open()
  expect(await text(read('secret/data/a b+c'))).toBe('{"key":"a"}')
  expect(await text(read('/secret/a b+c?version=3'))).toBe('{"key":"a"}')
  expect(await kindOf(read('secret/a b+c?version=2'))).toBe('missing')
})

test('SM18: the engine of version 1 works, its lease counts, and a lease of 0 is none', async () => {
  vault.state.mounts = {'kv/': 1}
  vault.state.secrets['kv/app'] = {data: {key: 'a'}}
  const read = open()
  expect(await read('kv/app')).toMatchObject({content: {text: '{"key":"a"}'}, lease_ms: null, version: null})
  vault.state.secret_lease_s = 60
  expect(await read('kv/app')).toMatchObject({lease_ms: 60_000})
})

test('Correction 12: where mounts are not told, the second version is tried, then the first, also on 403', async () => {
  vault.state.tells_mounts = false
  vault.state.mounts = {'kv/': 1, 'a/b/': 2}
  vault.state.secrets['kv/app'] = {data: {key: 'one'}}
  vault.state.secrets['a/b/app'] = {data: {key: 'two'}}
  const read = open()
  expect(await text(read('kv/app'))).toBe('{"key":"one"}')
  expect(await text(read('a/b/app'))).toBe('{"key":"two"}')
  const fault: ManagerFault = await read('none/app').catch(error => error)
  expect(fault.message).toContain('none/data/app and none/app')
  const before = vault.received.length
  await read('kv/app')
  expect(vault.received.length - before).toBe(1)
})

test('SM19: a token is renewed at two thirds of its lease, and a revoked one is one new login', async () => {
  vault.state.secrets['secret/app'] = {data: {key: 'a'}}
  const read = open()
  await read('secret/app')
  now_ms += 2401_000
  await read('secret/app')
  await expect.poll(() => vault.count('auth/token/renew-self')).toBe(1)
  expect(vault.count('auth/approle/login')).toBe(1)
  vault.tokens.clear()
  expect(await text(read('secret/app'))).toBe('{"key":"a"}')
  expect(vault.count('auth/approle/login')).toBe(2)
  vault.tokens.clear()
  expect(await kindOf(read('secret/app'))).toBe('denied')
  expect(vault.count('auth/approle/login')).toBe(2)
})

test('Correction 16: a lease that no longer grows, and a token that is not renewable, are a new login', async () => {
  vault.state.secrets['secret/app'] = {data: {key: 'a'}}
  vault.state.renewed_lease_s = 600
  const read = open()
  await read('secret/app')
  now_ms += 2401_000
  await read('secret/app')
  await expect.poll(() => vault.count('auth/approle/login')).toBe(2)
  vault.state.renewable = false
  const other = open()
  await other('secret/app')
  now_ms += 2881_000
  await other('secret/app')
  await expect.poll(() => vault.count('auth/approle/login')).toBe(4)
})

test('Correction 11: a token as given that is refused is a definite no at once', async () => {
  const read = open()
  const login = {vault_auth_type: 'token', vault_addr: 'https://vault.test', vault_token: 'gone'}
  expect(await kindOf(read('secret/app', login))).toBe('denied')
  expect(vault.count('auth/approle/login')).toBe(0)
})

test('a pod logs in with its token, read anew each time, and only to a host that the operator named', async () => {
  vault.state.secrets['secret/app'] = {data: {key: 'a'}}
  vault.state.pods.add('pod-token')
  const login = {vault_auth_type: 'kubernetes', vault_addr: 'https://vault.test', vault_role: 'gateway'}
  expect(await kindOf(open()('secret/app', login))).toBe('unusable')
  expect(vault.received).toEqual([])
  expect(await text(open({isNamedHost: host => host === 'vault.test'})('secret/app', login))).toBe('{"key":"a"}')
})

test('a namespace is sent; sealed, standby and a redirect elsewhere are no answer', async () => {
  vault.state.namespace = 'admin/team'
  vault.state.secrets['secret/app'] = {data: {key: 'a'}}
  const read = open()
  expect(await text(read('secret/app', {...APPROLE, vault_namespace: 'admin/team'}))).toBe('{"key":"a"}')
  vault.state.sealed = true
  expect(await kindOf(read('secret/other'))).toBe('unreachable')
  vault.state.always = {status: 307, headers: {location: 'https://elsewhere.test/v1/secret'}, body: ''}
  const fault: ManagerFault = await read('secret/third').catch(error => error)
  expect(fault.message).toContain('redirect to another host')
  vault.state.always = {status: 473, body: ''}
  expect(await kindOf(read('secret/fourth'))).toBe('unreachable')
})
