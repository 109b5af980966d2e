import {get, type IncomingMessage} from 'node:http'
import {gunzipSync} from 'node:zlib'
import {expect, test} from 'vitest'
import {openapi} from '../../src/admin/openapi.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {ALL_CHECKS} from '../../src/guardrails/registry.ts'
import {startAdmin} from '../support/admin.ts'

const document = JSON.parse(JSON.stringify(await openapi(OPERATIONS)))

test('the document is served without a key, at one address, and knows every operation', async () => {
  const admin = await startAdmin()
  const reply = await admin.send(undefined, 'GET', '/v1/openapi.json')
  expect(reply.status).toBe(200)
  expect(reply.body).toEqual(document)
  for (const secret of [admin.organisation_id, admin.workspace_id, admin.workspace_slug, admin.admin_key]) {
    expect(reply.text).not.toContain(secret)
  }
  await admin.close()
  for (const {id, method, path} of OPERATIONS) {
    expect(document.paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()].operationId).toBe(id)
  }
})

test('every id and every route is there once', () => {
  const once = (names: string[]) => expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  once(OPERATIONS.map(({id}) => id))
  once(OPERATIONS.map(({method, path}) => `${method} ${path.replace(/:\w+/g, ':')}`))
})

test('the whole is OpenAPI 3.0: parameters of paths are declared, references lead somewhere', () => {
  expect(document.openapi).toMatch(/^3\.0\./)
  expect(document.components.securitySchemes.ApiKey).toEqual({type: 'apiKey', in: 'header', name: 'x-gateway-api-key'})
  for (const [path, methods] of Object.entries<Record<string, {parameters: {name: string; in: string}[]}>>(document.paths)) {
    for (const {parameters} of Object.values(methods)) {
      const declared = parameters.filter(each => each.in === 'path').map(each => `{${each.name}}`)
      expect(declared).toEqual(path.match(/\{\w+\}/g) ?? [])
    }
  }
  for (const [, way] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    expect(way!.split('/').reduce((node, key) => node?.[key], document)).toBeDefined()
  }
  expect(JSON.stringify(document)).not.toContain('"$defs"')
})

test('an operation that needs a scope says which; one that needs no key says so', () => {
  expect(document.paths['/workspaces'].get.description).toBe('Needs the scope `workspaces.list`.')
  expect(document.paths['/api-keys/self/details'].get.description).toBe('Needs an API key, whatever its scopes.')
  expect(document.paths['/openapi.json'].get.security).toEqual([])
})

test('what is not found is described as it is said', () => {
  const missing = (path: string) => document.paths[path].get.responses[404].$ref
  expect(missing('/model-configs/pricing/{provider}/{model}')).toBe('#/components/responses/BareError')
  expect(missing('/logs/{logId}')).toBe('#/components/responses/NotFound')
})

test('a guardrail is described with every check and its parameters; secrets are only written', () => {
  for (const [path, method] of [
    ['/guardrails', 'post'],
    ['/guardrails/{guardrailId}', 'put'],
  ] as const) {
    const {items} = document.paths[path][method].requestBody.content['application/json'].schema.properties.checks
    const forms: {properties: {id: {enum: string[]}; parameters: {properties: Record<string, object>}}; required: string[]}[] = items.anyOf
    expect(forms.map(({properties}) => properties.id.enum[0])).toEqual(ALL_CHECKS.map(({id}) => id))
    const [regex, webhook] = ['default.regexMatch', 'default.webhook'].map(id => forms.find(({properties}) => properties.id.enum[0] === id))
    expect(Object.keys(regex!.properties.parameters.properties)).toEqual(expect.arrayContaining(['rule', 'not', 'failOnError']))
    expect(regex!.required).toEqual(['id', 'parameters'])
    expect(webhook!.properties.parameters.properties).toMatchObject({headers: {writeOnly: true}, webhookURL: {format: 'uri'}})
  }
})

test('every write is recorded, and no read is', () => {
  const reads = ({method, only_reads}: (typeof OPERATIONS)[number]) => method === 'GET' || only_reads === true
  expect(OPERATIONS.filter(each => reads(each) === (each.audit !== undefined)).map(({id}) => id)).toEqual([])
  expect(OPERATIONS.filter(({only_reads}) => only_reads).map(({id}) => id)).toEqual([
    ...['configs.explain', 'configs.replay'],
    ...['guardrails.test', 'guardrails.evaluate', 'guardrails.coverage'],
    ...['prompts.render'],
    // what calls leave behind is no administration
    'logs.insert',
    ...['feedback.create', 'feedback.update'],
    ...['pricing.diff', 'bundles.verify'],
  ])
})

test('the document is made once, and served compressed to who takes that, and not at all to who has it', async () => {
  const admin = await startAdmin()
  const fetched = async (headers: Record<string, string>) => {
    const reply = await new Promise<IncomingMessage>(resolve => get(`${admin.url}/v1/openapi.json`, {headers}, resolve))
    const bytes = Buffer.concat((await reply.toArray()) as Buffer[])
    return {status: reply.statusCode, encoding: reply.headers['content-encoding'], bytes, etag: String(reply.headers.etag)}
  }
  const plain = await fetched({})
  const zipped = await fetched({'accept-encoding': 'br, gzip'})
  const refused = await fetched({'accept-encoding': 'gzip;q=0, identity'})
  expect([plain.encoding, zipped.encoding, refused.encoding]).toEqual([undefined, 'gzip', undefined])
  expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true)
  expect(zipped.bytes.length).toBeLessThan(plain.bytes.length / 5)
  const known = await fetched({'if-none-match': plain.etag})
  expect([known.status, known.bytes.length, known.etag]).toEqual([304, 0, plain.etag])
  await admin.close()
})
