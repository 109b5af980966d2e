import {z} from 'zod'
import {version} from '../base/runtime.ts'
import {type AnyOperation, operation} from './operation.ts'

/** The description of the administration in OpenAPI 3.0.3, made from the operations themselves. */
export async function openapi(operations: readonly AnyOperation[]) {
  for (const each of operations) await each.ready?.()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const each of operations) {
    const path = each.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = {...paths[path], [each.method.toLowerCase()]: described(each)}
  }
  return {
    openapi: '3.0.3',
    info: {
      title: 'Gateway administration',
      version,
      description: 'Administration of the gateway. Paths are below the base URL, which ends in /v1.',
    },
    servers: [{url: '/v1'}],
    tags: [...new Set(operations.map(each => each.tag))].map(name => ({name})),
    security: [{ApiKey: []}, {Bearer: []}],
    paths,
    components: {
      securitySchemes: {
        ApiKey: {type: 'apiKey', in: 'header', name: 'x-gateway-api-key'},
        Bearer: {type: 'http', scheme: 'bearer'},
      },
      schemas: {Error: schemaOf(ErrorBody, 'output'), BareError: schemaOf(BareErrorBody, 'output')},
      responses: {
        Error: {description: 'Declined', content: json({$ref: '#/components/schemas/Error'})},
        BareError: {description: 'Not found', content: json({$ref: '#/components/schemas/BareError'})},
      },
    },
  }
}

/** `GET /openapi.json`, open to everyone: it says nothing of a tenant. It describes itself too. */
export function withOpenapi(operations: readonly AnyOperation[]): readonly AnyOperation[] {
  let document: Awaited<ReturnType<typeof openapi>> | undefined
  const all: readonly AnyOperation[] = [
    ...operations,
    operation({
      id: 'openapi.get',
      tag: 'Description',
      method: 'GET',
      path: '/openapi.json',
      summary: 'This description',
      scopes: null,
      reply: z.looseObject({openapi: z.string()}),
      handle: async () => (document ??= await openapi(all)),
    }),
  ]
  return all
}

const ErrorBody = z.strictObject({
  success: z.literal(false),
  data: z.strictObject({message: z.string(), errorCode: z.string().regex(/^AB0[1-9]$/)}),
})

/** See `bare_404`. */
const BareErrorBody = z.strictObject({error: z.string()})

function described(each: AnyOperation) {
  return {
    operationId: each.id,
    tags: [each.tag],
    summary: each.summary,
    ...(each.scopes === null ? {security: []} : {description: needs(each.scopes)}),
    parameters: [...parameters(each.params, 'path'), ...parameters(each.query, 'query')],
    ...(each.body && {
      requestBody: {required: !each.body.safeParse({}).success, content: json(schemaOf(each.described_body?.() ?? each.body, 'input'))},
    }),
    responses: {
      200: {description: 'Done', content: json(schemaOf(each.reply, 'output'))},
      ...Object.fromEntries(
        statuses(each).map(status => [status, {$ref: `#/components/responses/${status === 404 && each.bare_404 ? 'BareError' : 'Error'}`}]),
      ),
    },
  }
}

function needs(scopes: readonly string[]): string {
  if (!scopes.length) return 'Needs an API key, whatever its scopes.'
  return `Needs the scope ${scopes.map(scope => `\`${scope}\``).join(' or ')}.`
}

/** The refusals that an operation can meet. */
function statuses({params, query, body, scopes}: AnyOperation): number[] {
  return [
    ...(params || query || body ? [400] : []),
    ...(scopes ? [401, 403] : [403]),
    ...(params || body ? [404] : []),
    ...(body ? [409] : []),
    500,
  ]
}

interface JsonObject {
  readonly properties?: Record<string, {readonly description?: string}>
  readonly required?: readonly string[]
}

function parameters(schema: z.ZodType | undefined, place: 'path' | 'query') {
  if (!schema) return []
  const {properties = {}, required = []} = schemaOf(schema, 'input') as JsonObject
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }))
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output') {
  return z.toJSONSchema(schema, {target: 'openapi-3.0', io, unrepresentable: 'any', override: ({jsonSchema}) => shorten(jsonSchema)})
}

/** Leaves out what a format says already, and the bounds of numbers that JSON readers have anyway. */
function shorten(schema: {format?: unknown; pattern?: unknown; minimum?: unknown; maximum?: unknown}) {
  if (schema.format) delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

function json(schema: unknown) {
  return {'application/json': {schema}}
}
