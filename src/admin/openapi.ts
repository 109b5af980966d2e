import {setImmediate as turn} from 'node:timers/promises'
import {z} from 'zod'
import {version} from '../base/runtime.ts'
import {viewsOf} from './changes.ts'
import {KeptReply} from './kept-reply.ts'
import {BODIES} from './openapi/bodies.ts'
import {CALL_REFUSAL_REPLIES, CallError} from './openapi/call-refusals.ts'
import {CALL_HEADERS, CALL_PARAMETERS, CALL_TAGS, callPaths} from './openapi/calls.ts'
import {exampleOf} from './openapi/examples.ts'
import {ingestPaths} from './openapi/ingest.ts'
import {parameters, TELLING} from './openapi/parameters.ts'
import {ERROR_SCHEMAS, REFUSAL_REPLIES, refusals, TRACE_ID} from './openapi/refusals.ts'
import {json, schemaOf} from './openapi/schemas.ts'
import {type AnyOperation, operation} from './operation.ts'

/**
 * The description of the whole gateway in OpenAPI 3.0.3: the administration made from the operations themselves, then
 * the calls.
 */
export async function openapi(operations: readonly AnyOperation[]) {
  for (const each of operations) await each.ready?.()
  const views = viewsOf(operations)
  const paths = {...callPaths(), ...ingestPaths()}
  for (const each of operations) {
    // it is much work at once, and calls are in progress
    await turn()
    const path = each.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = {...paths[path], [each.method.toLowerCase()]: described(each, views.has(each))}
  }
  return {
    openapi: '3.0.3',
    info: {
      title: 'Gateway',
      version: INTERFACE_VERSION,
      'x-gateway-version': version,
      description: about(),
      license: {name: 'Apache-2.0', url: LICENCE},
    },
    servers: [{url: '/v1', description: 'This gateway'}],
    // where the explorer draws a line
    'x-administration-from': operations[0]?.tag,
    tags: [...CALL_TAGS, ...new Set(operations.map(each => each.tag))].map(name => ({name})),
    security: [{ApiKey: []}, {Bearer: []}],
    paths,
    components: {
      securitySchemes: {
        ApiKey: {type: 'apiKey', in: 'header', name: 'x-gateway-api-key'},
        Bearer: {type: 'http', scheme: 'bearer', description: 'The same key, or the token of a session.'},
      },
      parameters: CALL_PARAMETERS,
      headers: CALL_HEADERS,
      schemas: {...ERROR_SCHEMAS, CallError},
      responses: {...REFUSAL_REPLIES, ...CALL_REFUSAL_REPLIES},
    },
  }
}

/** The version of the interface that is served, which clients know; the explorer shows the gateway's own. */
const INTERFACE_VERSION = '2.0.0'
const LICENCE = 'https://www.apache.org/licenses/LICENSE-2.0'

function about(): string {
  return `Everything that this gateway (version ${version}) answers to: calls of models first, then its administration.

Calls need the key of a workspace, most of the administration one of the organisation. Send it as \`x-gateway-api-key\`, or as \`Authorization: Bearer\`. Headers that begin with \`x-gateway-\` may begin with \`x-portkey-\` as well.

- **Lists** take \`current_page\`, counted from 0, and \`page_size\`; \`total\` in the answer says how many rows there are in all pages.
- **Writes** take what is absent as unchanged, and null as cleared.
- **Refusals** of the administration are \`{"success": false, "data": {"message", "errorCode"}}\` with the codes AB01 to AB09; those of calls have the error format of the endpoint's own API.
- **Every answer** carries \`x-gateway-trace-id\`. A refusal repeats it as \`x-request-id\`,
  which SDKs show with the error.`
}

/** `operations`, and `GET /openapi.json`, open to everyone: it says nothing of a tenant. It describes itself too. */
export function withOpenapi<const List extends readonly AnyOperation[]>(operations: List) {
  const all: AnyOperation[] = [...operations]
  let document: Promise<KeptReply> | undefined
  const description = operation({
    id: 'openapi.get',
    tag: 'Description',
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description',
    scopes: null,
    reply: z.looseObject({openapi: z.string()}),
    // the bytes of what `reply` describes
    handle: () => {
      document ??= openapi(all).then(made => KeptReply.of(Buffer.from(JSON.stringify(made))))
      return document as Promise<never>
    },
  })
  all.push(description)
  return [...operations, description] as const
}

/** The answer of an update with `changes` or `dry_run` (src/admin/changes.ts, Shown). */
const ChangesBody = z.strictObject({
  before: z.looseObject({}),
  after: z.looseObject({}),
  changed: z.array(z.string()),
  dry_run: z.literal(true).optional(),
})
const CHANGES = schemaOf(ChangesBody, 'output')

/** An operation as the document shows it, with an example of everything that is sent and answered. */
function described(each: AnyOperation, tells_changes: boolean) {
  const noun = each.id.split('.', 1)[0]!
  const reply = schemaOf(each.reply, 'output')
  return {
    operationId: each.id,
    tags: [each.tag],
    summary: each.summary,
    description: each.scopes === null ? 'Needs no key.' : needs(each.scopes),
    ...(each.scopes === null && {security: []}),
    parameters: [
      ...parameters(each.params, 'path', noun),
      ...parameters(each.query, 'query', noun),
      ...(tells_changes ? TELLING : []),
    ],
    ...(each.body && {
      requestBody: {
        required: !each.body.safeParse({}).success,
        content: json(schemaOf(each.described_body?.() ?? each.body, 'input'), BODIES[each.id]),
      },
    }),
    responses: {
      200: {
        description: 'Done',
        headers: TRACE_ID,
        content: each.file_type
          ? file(each.file_type)
          : json(tells_changes ? {anyOf: [reply, CHANGES]} : reply, exampleOf(reply, '', noun)),
      },
      ...refusals(each),
    },
  }
}

function file(type: string) {
  return {[type]: {schema: {type: 'string', format: 'binary'}, example: 'the lines of the file'}}
}

function needs(scopes: readonly string[]): string {
  if (!scopes.length) return 'Needs an API key, whatever its scopes.'
  return `Needs the scope ${scopes.map(scope => `\`${scope}\``).join(' or ')}.`
}
