import {get, type IncomingMessage} from 'node:http'
import {gunzipSync} from 'node:zlib'
import {describe, expect, test} from 'vitest'
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
  for (const [path, methods] of Object.entries<Record<string, {parameters: {name: string; in: string}[]}>>(
    document.paths,
  )) {
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
    const forms: {
      properties: {id: {enum: string[]}; parameters: {properties: Record<string, object>}}
      required: string[]
    }[] = items.anyOf
    expect(forms.map(({properties}) => properties.id.enum[0])).toEqual(ALL_CHECKS.map(({id}) => id))
    const [regex, webhook] = ['default.regexMatch', 'default.webhook'].map(id =>
      forms.find(({properties}) => properties.id.enum[0] === id),
    )
    expect(Object.keys(regex!.properties.parameters.properties)).toEqual(
      expect.arrayContaining(['rule', 'not', 'failOnError']),
    )
    expect(regex!.required).toEqual(['id', 'parameters'])
    expect(webhook!.properties.parameters.properties).toMatchObject({
      headers: {writeOnly: true},
      webhookURL: {format: 'uri'},
    })
  }
})

test('every write is recorded, and no read is', () => {
  const reads = ({method, only_reads}: (typeof OPERATIONS)[number]) => method === 'GET' || only_reads === true
  expect(OPERATIONS.filter(each => reads(each) === (each.audit !== undefined)).map(({id}) => id)).toEqual([])
  expect(OPERATIONS.filter(({only_reads}) => only_reads).map(({id}) => id)).toEqual([
    ...['organisation_auth.test', 'configs.explain', 'configs.replay'],
    ...['guardrails.test', 'guardrails.evaluate', 'guardrails.coverage'],
    ...['prompts.render'],
    // what calls leave behind is no administration
    'logs.insert',
    ...['cache.questions', 'cache.pairs'],
    ...['feedback.create', 'feedback.update'],
    ...['pricing.diff', 'bundles.verify'],
  ])
})

test('the document is made once, and served compressed to who takes that, and not at all to who has it', async () => {
  const admin = await startAdmin()
  const fetched = async (headers: Record<string, string>) => {
    const reply = await new Promise<IncomingMessage>(resolve => get(`${admin.url}/v1/openapi.json`, {headers}, resolve))
    const bytes = Buffer.concat((await reply.toArray()) as Buffer[])
    return {
      status: reply.statusCode,
      encoding: reply.headers['content-encoding'],
      bytes,
      etag: String(reply.headers.etag),
    }
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

describe('what generators of clients stumble over is not in the document', () => {
  interface Node {
    readonly nullable?: unknown
    readonly type?: unknown
    readonly enum?: readonly unknown[]
    readonly default?: unknown
    readonly properties?: Readonly<Record<string, unknown>>
  }
  const nodes: {readonly node: Node; readonly at: string}[] = []
  const walk = (node: unknown, at: string) => {
    if (typeof node !== 'object' || node === null) return
    if (!Array.isArray(node)) nodes.push({node, at})
    for (const [key, value] of Object.entries(node)) if (!/^examples?$/.test(key)) walk(value, `${at}/${key}`)
  }
  walk(document, '')
  const found = (is_wrong: (node: Node) => unknown) => nodes.filter(({node}) => is_wrong(node)).map(({at}) => at)

  test('two names in one schema that differ in case and underscores alone', () => {
    const plain = (name: string) => name.replaceAll('_', '').toLowerCase()
    expect(
      found(
        ({properties}) =>
          properties && new Set(Object.keys(properties).map(plain)).size < Object.keys(properties).length,
      ),
    ).toEqual([])
  })

  test('null that no type stands beside, or that an enum does not list', () => {
    expect(nodes.filter(({node}) => node.nullable === true).length).toBeGreaterThan(100)
    expect(found(({nullable, type}) => nullable === true && type === undefined)).toEqual([])
    expect(
      found(({nullable, enum: values}) => nullable === true && Array.isArray(values) && !values.includes(null)),
    ).toEqual([])
  })

  test('a default that is none of the values', () => {
    expect(found(node => Array.isArray(node.enum) && 'default' in node && !node.enum.includes(node.default))).toEqual(
      [],
    )
    expect(found(node => node.default === null && node.nullable !== true && node.type !== undefined)).toEqual([])
  })
})

test('filters say what they take: lists by commas, addresses, words, JSON', () => {
  const schemaOf = (path: string, name: string): {pattern?: string; format?: string} =>
    document.paths[path].get.parameters.find((each: {name: string}) => each.name === name).schema
  const takes = (path: string, name: string, value: string) => new RegExp(schemaOf(path, name).pattern!).test(value)
  const long = 'x'.repeat(256)
  expect([
    takes('/logs', 'ai_model', 'gpt-4o, o3'),
    takes('/logs', 'ai_model', `a,${long}`),
    takes('/logs', 'ai_model', 'a,,b'),
  ]).toEqual([true, false, false])
  expect(takes('/logs', 'ai_model', Array(101).fill('a').join())).toBe(false)
  expect([takes('/logs', 'status_code', '200,404'), takes('/logs', 'status_code', '20')]).toEqual([true, false])
  expect([takes('/admin/usage', 'by', 'key,day'), takes('/admin/usage', 'by', 'color')]).toEqual([true, false])
  expect([
    takes('/admin/workspaces', 'status', 'active,archived'),
    takes('/admin/workspaces', 'status', 'gone'),
  ]).toEqual([true, false])
  expect([takes('/integrations', 'tags', '{"team":"search"}'), takes('/integrations', 'tags', 'team')]).toEqual([
    true,
    false,
  ])
  expect(schemaOf('/admin/users', 'email').format).toBe('email')
})
