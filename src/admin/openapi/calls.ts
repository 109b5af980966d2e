import {ENDPOINTS, type Endpoint} from '../../schema/endpoints.ts'
import {type OwnHeader, REQUEST_HEADERS, RESPONSE_HEADERS} from '../../schema/headers.ts'
import {CALL_REFUSALS} from './call-refusals.ts'
import {CALL_DOCS, type CallDoc, type Documented, FILE} from './call-table.ts'
import {json} from './schemas.ts'

const TYPES: Readonly<Record<string, object>> = {
  boolean: {type: 'string', enum: ['true', 'false']},
  milliseconds: {type: 'integer', minimum: 1},
  url: {type: 'string', format: 'uri'},
}

/** Every endpoint of the data plane, and the way to all others, as paths of the document. */
export function callPaths(): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const endpoint of ENDPOINTS) {
    if (endpoint.later) continue
    const [path, parameters] = template(endpoint)
    paths[path] = {
      ...paths[path],
      [endpoint.method.toLowerCase()]: described(endpoint, CALL_DOCS[endpoint.name as Documented], parameters),
    }
  }
  paths['/proxy/{path}'] = Object.fromEntries(
    ['get', 'post', 'put', 'patch', 'delete'].map(method => [method, passed(method)]),
  )
  return paths
}

/** The tags of calls, in the order in which they are read. */
export const CALL_TAGS = [...new Set(Object.values(CALL_DOCS).map(({tag}) => tag)), 'Anything else of a provider']

function template({path, name}: Endpoint): [string, object[]] {
  const words = path.replace(/:id|\*/, `{${ID_NAMES.find(([start]) => path.startsWith(start))?.[1] ?? 'id'}}`)
  const id = /\{(\w+)\}/.exec(words)?.[1]
  if (id === undefined) return [words, []]
  const description =
    name === 'promptComplete'
      ? 'Id or slug of the prompt; `slug@3`, `slug@latest` or `slug@label` is one of its versions.'
      : 'The id that the provider gave it.'
  return [words, [{name: id, in: 'path', required: true, description, schema: {type: 'string'}, example: IDS[id]}]]
}

const ID_NAMES = [
  ['/prompts', 'promptId'],
  ['/files', 'fileId'],
  ['/batches', 'batchId'],
  ['/fine_tuning', 'jobId'],
  ['/responses', 'responseId'],
] as const
const IDS: Readonly<Record<string, string>> = {
  promptId: 'pp-answer-3f9a1c',
  fileId: 'file-EXAMPLE',
  batchId: 'batch_EXAMPLE',
  jobId: 'ftjob-EXAMPLE',
  responseId: 'resp_EXAMPLE',
}

function described(endpoint: Endpoint, details: CallDoc, parameters: object[]) {
  const files = details.tag === 'Files and jobs'
  return {
    operationId: endpoint.name,
    tags: [details.tag],
    summary: details.summary,
    description: details.description ?? WHERE_IT_GOES,
    parameters: [...parameters, ...headerParameters(files), ...(endpoint.name === 'listModels' ? MODEL_QUERY : [])],
    ...(details.body && {requestBody: {required: true, content: requested(endpoint, details.body)}}),
    responses: {
      ...(endpoint.name === 'realtime'
        ? {101: {description: 'The connection is a WebSocket now.', headers: ANSWERED}}
        : {200: answered(details)}),
      ...CALL_REFUSALS,
    },
  }
}

const WHERE_IT_GOES =
  'Where it goes, `x-gateway-provider`, `x-gateway-config` or the model’s `@slug/` says. Needs the key of a workspace.'

function requested(endpoint: Endpoint, {schema, example, demo}: NonNullable<CallDoc['body']>) {
  if (endpoint.body === 'multipart') return {'multipart/form-data': {schema, example}}
  if (demo === undefined) return json(schema, example)
  const examples = {
    demo: {summary: 'The demo provider of gateway serve --demo', value: demo},
    managed: {summary: 'A provider of the workspace', value: example},
  }
  return {'application/json': {schema, examples}}
}

function answered({reply, streams}: CallDoc) {
  const content =
    typeof reply === 'string'
      ? {[reply]: {schema: {type: 'string', format: 'binary'}, example: FILE}}
      : json(reply.schema, reply.example)
  const events = {
    'text/event-stream': {
      schema: {type: 'string'},
      example: 'data: {"choices":[{"index":0,"delta":{"content":"Hello!"}}]}\n\ndata: [DONE]\n\n',
    },
  }
  return {
    description: 'The answer, in the words of the endpoint whoever the provider is.',
    headers: ANSWERED,
    content: {...content, ...(streams && events)},
  }
}

function passed(method: string) {
  const has_body = method === 'post' || method === 'put' || method === 'patch'
  const body = {type: 'object', additionalProperties: true}
  return {
    operationId: `proxy_${method}`,
    tags: ['Anything else of a provider'],
    summary: `${method.toUpperCase()} any path of the provider`,
    description: 'Goes to the provider as it is, and comes back as it is. Needs the key of a workspace.',
    parameters: [
      {
        name: 'path',
        in: 'path',
        required: true,
        description: 'The path at the provider, after its base URL; its slashes too.',
        schema: {type: 'string'},
        example: 'models',
      },
      ...headerParameters(false),
    ],
    ...(has_body && {requestBody: {required: false, content: json(body, {input: 'Hello'})}}),
    responses: {
      200: {
        description: 'What the provider answers.',
        headers: ANSWERED,
        content: json(body, {object: 'list', data: []}),
      },
      ...CALL_REFUSALS,
    },
  }
}

const FILE_HEADERS: ReadonlySet<string> = new Set([
  'file-purpose',
  'file-upload-size',
  'provider-file-name',
  'provider-model',
  'provider-batch-endpoint',
])

function headerParameters(files: boolean): object[] {
  const names = (Object.keys(REQUEST_HEADERS) as OwnHeader[]).filter(name => {
    const {role} = REQUEST_HEADERS[name]
    return role !== 'credential' && (role !== 'provider' || (files && FILE_HEADERS.has(name)))
  })
  return names.map(name => ({$ref: `#/components/parameters/${name}`}))
}

const MODEL_QUERY = [
  ['provider', 'Only those of this provider: its slug.', {type: 'string'}],
  ['ai_service', 'Only those of this kind of provider.', {type: 'string'}],
  ['limit', 'Rows of a page.', {type: 'integer', minimum: 0, maximum: 10_000}],
  ['offset', 'Rows before the page.', {type: 'integer', minimum: 0}],
  ['sort', 'What to order by.', {type: 'string', enum: ['name', 'provider', 'ai_service']}],
  ['order', 'Upwards or downwards.', {type: 'string', enum: ['asc', 'desc']}],
].map(([name, description, schema]) => ({name, in: 'query', required: false, description, schema}))

/** Our headers, as the document's components hold them; `x-portkey-` stands for `x-gateway-` in each. */
export const CALL_PARAMETERS = Object.fromEntries(
  Object.entries(REQUEST_HEADERS)
    .filter(([, {role}]) => role !== 'credential')
    .map(([name, {takes, does}]) => [
      name,
      {
        name: `x-gateway-${name}`,
        in: 'header',
        required: false,
        description: does,
        schema: TYPES[takes] ?? {type: 'string'},
      },
    ]),
)

export const CALL_HEADERS = {
  ...Object.fromEntries(
    Object.entries(RESPONSE_HEADERS).map(([name, description]) => [
      name === 'trace-id' ? 'TraceId' : name,
      {description, schema: {type: 'string'}},
    ]),
  ),
  RequestId: {
    description: 'The same id, where SDKs show it with an error; or the provider’s own, with an error of the provider.',
    schema: {type: 'string'},
  },
}
const ANSWERED = Object.fromEntries(
  ['TraceId', 'provider', 'cache-status', 'retry-attempt-count', 'last-used-option-index', 'config-warning'].map(
    name => [`x-gateway-${name === 'TraceId' ? 'trace-id' : name}`, {$ref: `#/components/headers/${name}`}],
  ),
)
