import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {ADMIN_KEY, startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'
import {run} from './support.ts'

let folder: string
let gateway: TestGateway
let one: FakeProvider
let two: FakeProvider
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-moved-'))
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  one = await fakeProvider()
  two = await fakeProvider()
})
afterAll(async () => {
  await gateway.close()
  await Promise.all([one.close(), two.close()])
  rmSync(folder, {recursive: true, force: true})
})

const SECRETS = {KEY: 'sk-of-a-file-0123456789', HEADER: 'header-of-a-file-0123456789'}
function apply(env: Record<string, string>, kind: string, spec: object) {
  writeFileSync(
    join(folder, 'one.json'),
    JSON.stringify({kind, slug: 'moving', spec, ...(kind !== 'integration' && {workspace: 'default'})}),
  )
  const argv = ['apply', '-f', 'one.json']
  return run(argv, {env: {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: ADMIN_KEY, ...env}, folder, now_ms: Date.now()})
}
const key = `\${env:KEY}`
const headers = {'x-secret': `\${env:HEADER}`}

test('an integration of a file moves with the secrets that its references lead to, and never without', async () => {
  const spec = (at: FakeProvider, more: object = {}) => ({
    name: 'Moving',
    ai_provider_id: 'openai',
    key,
    configurations: {custom_host: at.url, custom_headers: headers, ...more},
    global_workspace_access: {enabled: true},
  })
  expect(await apply(SECRETS, 'integration', spec(one))).toMatchObject({code: 0})
  // the file's values are not at hand, which is well as long as nothing moves
  expect(await apply({}, 'integration', spec(one, {openai_project: 'p'}))).toMatchObject({code: 0})
  const refused = await apply({}, 'integration', spec(two, {openai_project: 'p'}))
  expect(refused).toMatchObject({code: 2, stderr: expect.stringContaining('what stands beside it has changed')})
  const half = await apply({KEY: SECRETS.KEY}, 'integration', spec(two, {openai_project: 'p'}))
  expect(half).toMatchObject({code: 2, stderr: expect.stringContaining('custom_headers')})
  expect(await apply(SECRETS, 'integration', spec(two))).toMatchObject({
    code: 0,
    stdout: expect.not.stringContaining('of-a-file'),
  })
  await run(['providers', 'create', 'moving', '--integration', 'moving'], {
    env: {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: ADMIN_KEY},
  })
  await gateway.chat({model: 'm', messages: [{role: 'user', content: 'hi'}]}, {'x-gateway-provider': '@moving'})
  expect(one.received).toEqual([])
  expect(two.received[0]!.headers).toMatchObject({authorization: `Bearer ${SECRETS.KEY}`, 'x-secret': SECRETS.HEADER})
  expect(await apply(SECRETS, 'integration', spec(two))).toMatchObject({
    stdout: expect.stringContaining('nothing differs'),
  })
})

test('so do a model of it and a provider with places of their own', async () => {
  const spec = (at: FakeProvider) => ({
    name: 'Moving',
    ai_provider_id: 'openai',
    key,
    configurations: {custom_host: one.url},
    models: [{slug: 'm', enabled: true, configurations: {custom_host: at.url, custom_headers: headers}}],
    global_workspace_access: {enabled: true},
  })
  expect(await apply(SECRETS, 'integration', spec(one))).toMatchObject({code: 0})
  expect(await apply({}, 'integration', spec(one))).toMatchObject({stdout: expect.stringContaining('nothing differs')})
  expect(await apply({}, 'integration', spec(two))).toMatchObject({code: 2})
  expect(await apply(SECRETS, 'integration', spec(two))).toMatchObject({code: 0})
  const provider = (at: FakeProvider) => ({
    name: 'Moving',
    integration_id: 'moving',
    model_config: {custom_host: at.url, custom_headers: headers},
  })
  expect(await apply(SECRETS, 'provider', provider(one))).toMatchObject({code: 0})
  expect(await apply({}, 'provider', provider(one))).toMatchObject({stdout: expect.stringContaining('nothing differs')})
  expect(await apply({}, 'provider', provider(two))).toMatchObject({code: 2})
  expect(await apply(SECRETS, 'provider', provider(two))).toMatchObject({code: 0})
  const exported = await run(['export', '--dir', 'out'], {
    env: {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: ADMIN_KEY},
    folder,
  })
  expect(exported).toMatchObject({code: 0})
  const files = readdirSync(join(folder, 'out'), {recursive: true, withFileTypes: true}).filter(entry => entry.isFile())
  const texts = files.map(entry => readFileSync(join(entry.parentPath, entry.name), 'utf8')).join('\n')
  expect(texts).toContain('custom_headers')
  expect(texts).not.toMatch(/of-a-file|•/)
})

test('a virtual key of a file does, too', async () => {
  const spec = (at: FakeProvider) => ({name: 'Moving', provider: 'openai', key, model_config: {custom_host: at.url}})
  await run(['providers', 'delete', 'moving', '--yes'], {env: {GATEWAY_URL: gateway.url, GATEWAY_API_KEY: ADMIN_KEY}})
  expect(await apply(SECRETS, 'virtual-key', spec(one))).toMatchObject({code: 0})
  expect(await apply({}, 'virtual-key', spec(two))).toMatchObject({code: 2})
  expect(await apply(SECRETS, 'virtual-key', spec(two))).toMatchObject({code: 0})
})
