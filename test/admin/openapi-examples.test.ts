import {Validator} from '@seriousme/openapi-schema-validator'
import {describe, expect, test} from 'vitest'
import {z} from 'zod'
import {BODIES} from '../../src/admin/openapi/bodies.ts'
import {openapi} from '../../src/admin/openapi.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {readConfig} from '../../src/schema/configs.ts'
import {ENDPOINTS} from '../../src/schema/endpoints.ts'
import {encodingOfType, faultAnswer} from '../../src/telemetry/ingest/answers.ts'
import {INGEST_PATHS} from '../../src/telemetry/ingest/http.ts'

interface Media {
  readonly schema: {readonly $ref?: string}
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, {value: unknown}>>
}
interface Reply {
  readonly $ref?: string
  readonly description: string
  readonly headers?: object
  readonly content?: Readonly<Record<string, Media>>
}
interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly parameters: readonly {$ref?: string; name?: string; description?: string; in?: string; example?: unknown}[]
  readonly requestBody?: {content: Readonly<Record<string, Media>>}
  readonly responses: Readonly<Record<string, Reply>>
}

const document = JSON.parse(JSON.stringify(await openapi(OPERATIONS)))
const described = Object.entries<Record<string, Described>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({name: `${method.toUpperCase()} ${path}`, ...operation})),
)
const byId = new Map(described.map(each => [each.operationId, each]))

test('the document is valid OpenAPI', async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({valid: true})
})

test('it knows every operation and every endpoint once', () => {
  const wanted = [...OPERATIONS.map(({id}) => id), ...ENDPOINTS.filter(({later}) => !later).map(({name}) => name)]
  const passing = ['get', 'post', 'put', 'patch', 'delete'].map(method => `proxy_${method}`)
  const ingesting = ['otlp.traces', 'otlp.logs']
  expect(described.map(each => each.operationId).toSorted()).toEqual([...wanted, ...passing, ...ingesting].toSorted())
})

test('spans and log records are described where they are taken, with the statuses and codes that are answered', () => {
  for (const signal of ['traces', 'logs'] as const) {
    const path = INGEST_PATHS[signal].find(each => !each.startsWith('/v1/'))!
    const {post} = document.paths[path] as {post: Described}
    expect(Object.keys(post.requestBody!.content)).toEqual(['application/json', 'application/x-protobuf'])
    for (const type of Object.keys(post.requestBody!.content)) expect(encodingOfType(type)).toBeDefined()
    for (const [status, {content}] of Object.entries(post.responses).filter(([status]) => status !== '200')) {
      const {example} = content!['application/json']! as {example: {message: string}}
      const {body} = faultAnswer({status: Number(status), message: example.message}, 'json')
      expect(JSON.parse(body.toString())).toEqual(example)
    }
  }
})

test('every operation says what it does, what it takes and which refusals it can meet', () => {
  const tags = document.tags.map(({name}: {name: string}) => name)
  for (const {name, summary, description, parameters, responses, ...operation} of described) {
    expect(summary, name).not.toBe('')
    expect(description, name).not.toBe('')
    expect(tags, name).toEqual(expect.arrayContaining([...operation.tags]))
    for (const parameter of parameters.map(resolved)) {
      expect(parameter.description, `${name}: ${parameter.name}`).toBeTruthy()
      if (parameter.in === 'path') expect(parameter.example, `${name}: ${parameter.name}`).toBeDefined()
    }
    expect(Object.keys(responses), name).toEqual(expect.arrayContaining(['403', '500']))
    for (const [status, reply] of Object.entries(responses)) {
      const {description: meaning, headers, content} = resolved(reply) as Reply
      expect(meaning, `${name}: ${status}`).toBeTruthy()
      expect(headers, `${name}: ${status}`).toMatchObject({'x-gateway-trace-id': expect.anything()})
      if (status !== '101') expect(content, `${name}: ${status}`).toBeDefined()
    }
  }
})

test.each(described.map(each => [each.name, each] as const))(
  '%s: its examples are what its schemas say',
  (_, operation) => {
    const bodies = [
      operation.requestBody?.content,
      ...Object.values(operation.responses).map(reply => (resolved(reply) as Reply).content),
    ]
    for (const [type, media] of bodies.flatMap(content => Object.entries(content ?? {}))) {
      const examples = media.examples ? Object.values(media.examples).map(({value}) => value) : [media.example]
      expect(examples.length).toBeGreaterThan(0)
      for (const example of examples) {
        expect(example, type).toBeDefined()
        if (type.endsWith('json'))
          expect(
            z.fromJSONSchema(resolved(media.schema) as never, {defaultTarget: 'openapi-3.0'}).safeParse(example),
          ).toMatchObject({
            success: true,
          })
      }
    }
  },
)

describe('of the administration', () => {
  test.each(OPERATIONS.filter(({body}) => body).map(each => [each.id, each] as const))(
    '%s takes its example',
    (id, {body}) => {
      expect(body!.safeParse(BODIES[id])).toMatchObject({success: true})
    },
  )

  test.each(OPERATIONS.filter(each => !each.file_type).map(each => [each.id, each] as const))(
    '%s could answer its example',
    (id, {reply}) => {
      const {example} = byId.get(id)!.responses[200]!.content!['application/json']!
      expect(reply.safeParse(example)).toMatchObject({success: true})
    },
  )

  test('examples are of operations that take a body, and configs in them can be saved', () => {
    const taking = OPERATIONS.filter(({body}) => body).map(({id}) => id)
    expect(Object.keys(BODIES).filter(id => !taking.includes(id))).toEqual([])
    for (const body of Object.values(BODIES) as {config?: object}[]) {
      if (body.config && 'targets' in body.config)
        expect(readConfig(body.config, {saved: true})).toHaveProperty('config')
    }
  })
})

/** What is meant by a reference into the components. */
function resolved<T extends {readonly $ref?: string}>(node: T): T {
  if (!node.$ref) return node
  return node.$ref
    .slice(2)
    .split('/')
    .reduce((at, key) => at[key], document)
}
