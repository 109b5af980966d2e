import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openOAuth} from '../../src/app/oauth.ts'
import {createLog} from '../../src/base/log.ts'
import {createSeal} from '../../src/base/seal.ts'
import {clientOfRow} from '../../src/oauth/clients/client.ts'
import {isHostAllowed, readClientDocument} from '../../src/oauth/clients/documents.ts'
import {readAuthorization} from '../../src/oauth/consent/request.ts'
import type {DocumentReply} from '../../src/oauth/services.ts'
import {readSettings} from '../../src/settings/index.ts'
import {findOAuthClient} from '../../src/store/oauth-clients.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'
import {CALLBACK, CHALLENGE} from './house.ts'

const ID = 'https://apps.example.test/clients/one.json'
const GOOD = {client_id: ID, client_name: 'App with a document', redirect_uris: [CALLBACK]}
const START_MS = Date.parse('2026-11-02T08:00:00.000Z')

describe.each(KINDS)('clients that are their own document (CIMD), on %s', kind => {
  let opened: TestStore
  let oauth: ReturnType<typeof openOAuth>
  const clock = {ms: START_MS}
  const fetched: string[] = []
  let answer: Partial<DocumentReply> | Error = {}
  beforeAll(async () => {
    opened = await testStore(kind)
    const {settings} = readSettings({env: {MCP_CIMD_HOSTS: '*.example.test, 169.254.169.254, localhost, 127.0.0.1'}})
    oauth = openOAuth({
      ...{settings, store: opened.store, seal: createSeal(Buffer.alloc(32, 1)), now: () => clock.ms},
      log: createLog('silent', 'gateway', () => {}),
      sign_in_needs: {check() {}},
    })
  })
  afterAll(async () => {
    await oauth?.close()
    await opened?.close()
  })

  const services = () => ({
    ...oauth.services,
    async readDocument(url: string): Promise<DocumentReply> {
      fetched.push(url)
      if (answer instanceof Error) throw answer
      const headers = {'content-type': 'application/json'}
      return {status: 200, headers, text: JSON.stringify(GOOD), ...answer}
    },
  })
  const authorized = (client_id = ID, more: object = {}) =>
    readAuthorization(
      services(),
      {
        ...{response_type: 'code', client_id, redirect_uri: CALLBACK, code_challenge: CHALLENGE},
        ...{code_challenge_method: 'S256', ...more},
      },
      null,
    )
  const saying = (more: object) => ({text: JSON.stringify({...GOOD, ...more})})

  test('one is read, kept, and read again when its time is over', async () => {
    answer = {headers: {'content-type': 'application/json; charset=utf-8', 'cache-control': 'max-age=600', age: '100'}}
    const {client} = await authorized()
    expect(client).toMatchObject({id: ID, kind: 'document', name: 'App with a document', secret_hash: null})
    expect(clientOfRow((await findOAuthClient(opened.store.db, ID))!).redirect_uris).toEqual([CALLBACK])
    clock.ms += 499_000
    await authorized()
    expect(fetched).toEqual([ID])
    clock.ms += 2_000
    answer = saying({client_name: 'Renamed'})
    expect((await authorized()).client.name).toBe('Renamed')
    expect(fetched.length).toBe(2)
    clock.ms += 61_000
    answer = {...saying({redirect_uris: ['https://apps.example.test/other']})}
    await expect(authorized()).rejects.toMatchObject({status: 400})
  })

  test.each<readonly [string, Partial<DocumentReply> | Error, number, RegExp]>([
    ['its client_id is another', saying({client_id: `${ID}?`}), 400, /not its own address/],
    ['its client_id differs in case', saying({client_id: ID.toUpperCase()}), 400, /not its own address/],
    ['it has none', saying({client_id: undefined}), 400, /not its own address/],
    ['it has no name', saying({client_name: ' '}), 400, /client_name/],
    ['it has no redirect URIs', saying({redirect_uris: undefined}), 400, /redirect_uris/],
    ['its redirect URIs are scripts', saying({redirect_uris: ['javascript:alert(1)']}), 400, /redirect_uris/],
    ['it says a secret', saying({client_secret: 'x'}), 400, /secret/],
    ['it wants one', saying({token_endpoint_auth_method: 'client_secret_post'}), 400, /secret/],
    ['it is a page', {headers: {'content-type': 'text/html'}}, 400, /not JSON/],
    ['it is cut', {text: '{"client_id":'}, 400, /not a JSON object/],
    ['it is a list', {text: '[]'}, 400, /not a JSON object/],
    ['it is nested deep', {text: '['.repeat(10_000)}, 400, /not a JSON object/],
    ['it is elsewhere', {status: 302, headers: {location: 'http://169.254.169.254/'}}, 400, /status 302/],
    ['it is gone', {status: 404}, 400, /status 404/],
    ['it is not reached', new Error('https://secret.internal refused'), 502, /cannot be read now/],
  ])('none is taken where %s', async (_, given, status, message) => {
    clock.ms += 86_400_001
    answer = given
    const fault = await authorized().catch((thrown: Error) => thrown)
    expect(fault).toMatchObject({status, message: expect.stringMatching(message)})
    expect((fault as Error).message).not.toContain('internal')
  })

  test.each([
    'https://apps.example.test',
    'https://apps.example.test/',
    'https://apps.example.test/a#b',
    'https://user@apps.example.test/a',
    'https://apps.example.test/a/../b',
    'https://APPS.example.test/a',
    'https://apps.example.test:443/a',
    'https://apps.example.test/a b',
    `https://apps.example.test/${'a'.repeat(1024)}`,
  ])('%s is no address of a document: nothing is fetched', async client_id => {
    const before = fetched.length
    await expect(authorized(client_id)).rejects.toMatchObject({status: 400})
    expect(fetched.length).toBe(before)
  })

  test.each([
    'https://evil.test/a.json',
    'http://apps.example.test/a.json',
    'https://apps.example.test.evil.test/a.json',
  ])('a document at %s is not fetched: MCP_CIMD_HOSTS does not name it', async client_id => {
    const before = fetched.length
    await expect(authorized(client_id)).rejects.toMatchObject({status: 400})
    expect(fetched.length).toBe(before)
  })

  test.each(['https://169.254.169.254/a', 'https://localhost/a', 'https://127.0.0.1/a'])(
    'fact 49: the wall lets no document at %s through, even where the setting names its host',
    async url => {
      await expect(readClientDocument(oauth.services, url)).rejects.toMatchObject({status: 502})
      await expect(oauth.services.readDocument(url)).rejects.toThrow(/cloud metadata|private|not|blocked/i)
    },
  )

  test('a host is named by itself, by its domain, or as any', () => {
    expect(isHostAllowed(ID, ['apps.example.test'])).toBe(true)
    expect(isHostAllowed(ID, ['*.example.test'])).toBe(true)
    expect(isHostAllowed(ID, ['*'])).toBe(true)
    expect(isHostAllowed(ID, ['example.test'])).toBe(false)
    expect(isHostAllowed(ID, [])).toBe(false)
  })
})
