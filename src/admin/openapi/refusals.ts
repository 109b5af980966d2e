import {z} from 'zod'
import {Refusal, type RefusalCode} from '../../base/errors.ts'
import type {AnyOperation} from '../operation.ts'
import {schemaOf} from './schemas.ts'

const ErrorBody = z.strictObject({
  success: z.literal(false),
  data: z.strictObject({message: z.string(), errorCode: z.string().regex(/^AB0[1-9]$/)}),
})
/** See `bare_404`. */
const BareErrorBody = z.strictObject({error: z.string()})

export const ERROR_SCHEMAS = {
  Error: schemaOf(ErrorBody, 'output'),
  BareError: schemaOf(BareErrorBody, 'output'),
}

type RefusalExample = readonly [RefusalCode, Readonly<Record<string, string | number>>]

/** Each refusal that an operation can meet: what it means, and its examples. */
const REPLIES = {
  BadRequest: {
    description: 'AB01: something in the path, the query or the body is not as it must be; the sentence names it.',
    says: [
      ['body.invalid', {issues: 'name: is required (a text).'}],
      ['body.not_json', {reason: 'Unexpected end of JSON input'}],
    ],
  },
  Unauthorized: {
    description: 'AB05: no key was sent, or it is not known or has expired.',
    says: [
      ['key.missing', {header: 'x-gateway-api-key'}],
      ['key.unknown', {}],
    ],
  },
  Forbidden: {
    description: 'AB03: the key, the role or a setting forbids it.',
    says: [
      ['scope.missing', {scope: 'workspaces.list'}],
      ['flag.off', {variable: 'API_ACCESS_ENABLED'}],
    ],
  },
  NotFound: {
    description:
      'AB08: nothing is known by this id, or it is archived or another tenant’s. AB02: what the body refers to is not there.',
    says: [
      ['row.not_found', {object: 'config'}],
      ['parent.not_found', {field: 'workspace_id', object: 'workspace', value: 'search'}],
    ],
  },
  Conflict: {
    description: 'AB07: it does not go with what is there.',
    says: [
      ['row.exists', {field: 'slug', value: 'search', object: 'workspace'}],
      ['row.in_use', {object: 'integration', dependants: '2 providers', cure: 'Delete them first.'}],
    ],
  },
  UsedUp: {
    description: 'AB03: a budget that this would be charged to is used up.',
    says: [['workspace.exhausted', {workspace: 'research', standing: '', hint: ''}]],
  },
  TooLarge: {description: 'AB01: the body is too large.', says: [['body.too_large', {limit_mb: 64}]]},
  HeadTooLarge: {
    description: 'AB01: the request line and the headers are too large.',
    says: [['request.head_too_large', {limit_kb: 32}]],
  },
  TooMany: {
    description: 'AB06: too often; retry-after says when to come back.',
    says: [
      [
        'domain.too_many',
        {reason: '3 codes an hour are sent for example.com, and they were. Try again in 1800 seconds.'},
      ],
    ],
  },
  Internal: {
    description: 'AB04: a fault of the gateway; its log has the cause under the trace id.',
    says: [['internal', {}]],
  },
  Busy: {description: 'AB04: it takes longer than a read may.', says: [['read.too_long', {}]]},
} as const satisfies Record<string, {description: string; says: readonly RefusalExample[]}>

const BY_STATUS: Readonly<Record<number, keyof typeof REPLIES>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  412: 'UsedUp',
  413: 'TooLarge',
  429: 'TooMany',
  431: 'HeadTooLarge',
  500: 'Internal',
  503: 'Busy',
}

/** The reference to the replies of an operation that refuses. */
export function refusals(operation: AnyOperation) {
  return Object.fromEntries(
    statuses(operation).map(status => [
      status,
      to(status === 404 && operation.compatibility?.bare_404 ? 'BareError' : BY_STATUS[status]!),
    ]),
  )
}

/** The refusals that an operation can meet. */
function statuses({params, query, body, scopes, refuses = []}: AnyOperation): readonly number[] {
  const usual = [
    ...(params || query || body ? [400] : []),
    ...(scopes ? [401, 403] : [403]),
    ...(params || query || body ? [404] : []),
    ...(body ? [409, 413] : []),
    ...[431, 500, 503],
  ]
  return [...new Set([...usual, ...refuses])]
}

function to(name: string) {
  return {$ref: `#/components/responses/${name}`}
}

export const TRACE_ID = {'x-gateway-trace-id': {$ref: '#/components/headers/TraceId'}}
export const REFUSAL_IDS = {...TRACE_ID, 'x-request-id': {$ref: '#/components/headers/RequestId'}}

/** The shared replies, as the document's components hold them. */
export const REFUSAL_REPLIES = {
  ...Object.fromEntries(
    Object.entries(REPLIES).map(([name, {description, says}]) => [
      name,
      {
        description,
        headers: REFUSAL_IDS,
        content: {'application/json': {schema: {$ref: '#/components/schemas/Error'}, examples: examplesOf(says)}},
      },
    ]),
  ),
  BareError: {
    description: 'Nothing is known by this name.',
    headers: REFUSAL_IDS,
    content: {
      'application/json': {
        schema: {$ref: '#/components/schemas/BareError'},
        example: {error: new Refusal('pricing.unknown').message},
      },
    },
  },
}

function examplesOf(says: readonly RefusalExample[]) {
  return Object.fromEntries(
    says.map(([code, details]) => {
      const {message, codes} = new Refusal(code, {...details})
      return [code.replace('.', '_'), {summary: code, value: {success: false, data: {message, errorCode: codes.admin}}}]
    }),
  )
}
