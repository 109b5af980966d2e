import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {cacheTable, openCacheFile} from '../../src/store/cache.ts'
import type {Db} from '../../src/store/database.ts'
import {semanticTable} from '../../src/store/semantic-entries.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

const NOW_MS = Date.parse('2026-03-04T05:06:07.000Z')
const HOUR_MS = 3_600_000
const hex = (name: string) => Buffer.from(name).toString('hex').padEnd(64, '0')

describe.each(KINDS)('entries of the cache, on %s', kind => {
  let admin: Admin
  let other: {readonly id: string; readonly key: string}
  let foreign: Awaited<ReturnType<Admin['foreign']>>
  beforeAll(async () => {
    admin = await startAdmin({kind})
    const workspace = await admin.seedWorkspace(admin.organisation_id, {slug: 'other'})
    const {key} = await admin.seedKey({organisation_id: admin.organisation_id, workspace_id: workspace.id})
    other = {id: workspace.id, key}
    foreign = await admin.foreign()
  })
  afterAll(() => admin.close())

  /** Works on the tables as a gateway does, and closes them as it does. */
  async function within(work: (db: Db) => Promise<unknown>) {
    const file = kind === 'sqlite' ? openCacheFile({folder: admin.folder}) : null
    await work(file?.db ?? admin.store.db)
    await file?.close()
  }
  const answer = (name: string, workspace_id: string, model: string | null, namespace: string | null, at = 0) => ({
    ...{digest: hex(name), workspace_id, model, namespace, bytes: 1, body: Buffer.from('1')},
    ...{stored_at_ms: NOW_MS - HOUR_MS + at, expires_at_ms: NOW_MS + HOUR_MS},
  })
  const likeness = (name: string, workspace_id: string, model: string | null, namespace: string | null) => ({
    ...{partition: hex('p'), digest: hex(name), workspace_id, model, namespace, log_id: `log-${name}`},
    ...{created_at_ms: NOW_MS - HOUR_MS, expires_at_ms: NOW_MS + HOUR_MS},
    ...{features: '{}', signs: Buffer.alloc(4), vector: Buffer.alloc(8)},
  })
  beforeEach(() =>
    within(async db => {
      const [answers, likenesses] = [cacheTable(db), semanticTable(db)]
      await answers.put(answer('a', admin.workspace_id, 'm1', 'n1', 1))
      await answers.put(answer('b', admin.workspace_id, 'm2', null, 2))
      await answers.put(answer('c', other.id, 'm1', 'n1', 3))
      await answers.put(answer('f', foreign.workspace.id, 'm1', 'n1', 4))
      await likenesses.put(likeness('a', admin.workspace_id, 'm1', 'n1'))
      await likenesses.put(likeness('f', foreign.workspace.id, 'm1', 'n1'))
    }),
  )
  afterEach(() =>
    within(async db => {
      await db.deleteFrom('traffic.cache_entries').execute()
      await db.deleteFrom('traffic.semantic_entries').execute()
    }),
  )

  const PATH = '/v1/cache/entries'
  const shown = async (key: string, query = '') => {
    const reply = await admin.send(key, 'GET', `${PATH}${query}`)
    expect(reply.status, reply.text).toBe(200)
    return reply.body as {total: number; data: {kind: string; digest: string}[]}
  }
  const names = async (key: string, query = '') =>
    (await shown(key, query)).data.map(({kind: of, digest}) => `${of} ${Buffer.from(digest, 'hex').toString()[0]}`)
  const cleared = async (key: string, body: object) => {
    const reply = await admin.send(key, 'POST', '/v1/cache/clear', body)
    expect(reply.status, reply.text).toBe(200)
    const {simple, semantic} = reply.body as {simple: number; semantic: number}
    return [simple, semantic]
  }

  test('are listed with their marks and times, and no text', async () => {
    const {data, total} = await shown(admin.workspace_key)
    expect(total).toBe(3)
    expect(data.at(-1)).toEqual({
      ...{kind: 'semantic', digest: hex('a'), workspace_id: admin.workspace_id, model: 'm1', namespace: 'n1'},
      ...{bytes: 10, log_id: 'log-a', object: 'cache_entry'},
      ...{stored_at: '2026-03-04T04:06:07.000Z', expires_at: '2026-03-04T06:06:07.000Z'},
    })
    expect(data[0]).toMatchObject({kind: 'simple', digest: hex('b'), namespace: null, log_id: null})
  })

  test('a caller sees those of its workspace, an admin those of its organisation and of no other', async () => {
    expect(await names(admin.workspace_key)).toEqual(['simple b', 'simple a', 'semantic a'])
    expect(await names(other.key)).toEqual(['simple c'])
    expect(await names(admin.admin_key)).toEqual(['simple c', 'simple b', 'simple a', 'semantic a'])
    expect(await names(admin.admin_key, '?workspace_id=other')).toEqual(['simple c'])
    expect(await names(foreign.admin.key)).toEqual(['simple f', 'semantic f'])
    expect((await admin.send(other.key, 'GET', `${PATH}?workspace_id=${admin.workspace_id}`)).status).toBe(404)
  })

  test('pages go through both kinds', async () => {
    const pages = []
    for (let page = 0; page < 4; page++) pages.push(await names(admin.admin_key, `?page_size=3&current_page=${page}`))
    expect(pages).toEqual([['simple c', 'simple b', 'simple a'], ['semantic a'], [], []])
    expect(await names(admin.workspace_key, '?page_size=2&current_page=1')).toEqual(['semantic a'])
    expect((await shown(admin.admin_key, '?page_size=1&current_page=0')).total).toBe(4)
  })

  test.each([
    ['kind=semantic', ['semantic a']],
    ['model=m2', ['simple b']],
    ['namespace=n1', ['simple a', 'semantic a']],
    [`digest=${hex('a')}`, ['simple a', 'semantic a']],
    [`digest=${hex('c')}`, []],
    ['kind=simple&model=m1', ['simple a']],
  ])('%s narrows', async (query, found) => expect(await names(admin.workspace_key, `?${query}`)).toEqual(found))

  test.each([
    ['a model', {model: 'm1'}, [1, 1], ['simple b']],
    ['a namespace', {namespace: 'n1'}, [1, 1], ['simple b']],
    ['a digest', {digest: hex('b')}, [1, 0], ['simple a', 'semantic a']],
    ['a kind', {kind: 'semantic'}, [0, 1], ['simple b', 'simple a']],
    ['nothing', {}, [2, 1], []],
    ['another workspace', {digest: hex('c')}, [0, 0], ['simple b', 'simple a', 'semantic a']],
  ])('are cleared by %s, of the own workspace alone', async (_, body, gone, left) => {
    expect(await cleared(admin.workspace_key, body)).toEqual(gone)
    expect(await names(admin.workspace_key)).toEqual(left)
    expect([await names(other.key), await names(foreign.admin.key)]).toEqual([['simple c'], ['simple f', 'semantic f']])
  })

  test('an admin clears those of its organisation; each clearing is audited with its numbers', async () => {
    expect(await cleared(admin.admin_key, {namespace: 'n1'})).toEqual([2, 1])
    const row = (await admin.auditLog()).at(-1)!
    expect(row).toMatchObject({resource_type: 'cache', action: 'delete', status: 200, method: 'POST'})
    expect(row.request_body).toContain('"simple":"2"')
    expect(row.request_body).toContain('"semantic":"1"')
    expect(await names(foreign.admin.key)).toEqual(['simple f', 'semantic f'])
  })

  test('a clearing moves the revision by which other processes drop their copies', async () => {
    const revision = async () => (await admin.store.revisions()).get('answers') ?? 0
    const before = await revision()
    await cleared(admin.workspace_key, {})
    expect(await revision()).toBe(before + 1)
  })

  test.each([
    ['GET', `${PATH}?digest=short`],
    ['GET', `${PATH}?kind=both`],
    ['POST', '/v1/cache/clear', {modle: 'm1'}],
    ['POST', '/v1/cache/clear', {workspace_id: 'nowhere'}],
  ])('%s %s %s is refused', async (method, path, body?: object) => {
    const reply = await admin.send(admin.admin_key, method, path, body)
    expect([400, 404]).toContain(reply.status)
  })
})
