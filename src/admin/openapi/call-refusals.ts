import {Refusal, type RefusalCode} from '../../base/errors.ts'
import {REQUEST_ENCODINGS} from '../../base/request-encoding.ts'
import {EXAMPLE_KIND} from '../../providers/example.ts'
import {REFUSAL_IDS} from './refusals.ts'

/** The refusals of a call: by the gateway in its own format, by the provider in that of the endpoint. */
const REFUSED: readonly (readonly [string, string, RefusalCode, Readonly<Record<string, string | number>>])[] = [
  [
    'CallInvalid',
    'The call or its config is not as it must be, or no provider is named.',
    'provider.missing',
    {prefix: 'x-gateway'},
  ],
  ['CallUnauthorized', 'No key was sent, or it is not known or has expired.', 'key.unknown', {}],
  ['CallForbidden', 'The key may not call models.', 'key.admin_inference', {}],
  [
    'CallNotFound',
    'The prompt, or what is asked of the provider, is not there.',
    'prompt.unknown',
    {prompt: 'pp-answer-3f9a1c'},
  ],
  [
    'CallEncoded',
    'The body has an encoding that is not decoded here; `accept-encoding` names those that are.',
    'body.encoding',
    {encoding: 'compress', expected: REQUEST_ENCODINGS},
  ],
  [
    'CallTimeout',
    'The provider did not answer in time.',
    'upstream.timeout',
    {provider: EXAMPLE_KIND, limit_ms: 10_000},
  ],
  [
    'CallExhausted',
    'A budget is used up, or the model is not allowed.',
    'key.exhausted',
    {key: 'blue', standing: ' 25.02 of 25 US dollars per month are used; it resets at 2026-12-01T00:00:00Z.'},
  ],
  [
    'CallLimited',
    'A rate limit is reached; `retry-after` and `x-gateway-ratelimit-reset` say when to come again.',
    'key.rate_reached',
    {limit: '500 requests a minute', retry_after_s: 12},
  ],
  ['CallDenied', 'A guardrail denied it; `hook_results` says which.', 'guardrail.denied', {}],
  ['CallFailed', 'A fault of the gateway; its log has the cause under the trace id.', 'internal', {}],
  [
    'CallBroken',
    'The provider broke off, or answered what cannot be read.',
    'upstream.broken',
    {provider: EXAMPLE_KIND},
  ],
  [
    'CallUnavailable',
    'The provider cannot be reached, or the gateway takes no calls now.',
    'upstream.unreachable',
    {provider: EXAMPLE_KIND, reason: 'it refused the connection'},
  ],
]

/** By status, where each is described. */
export const CALL_REFUSALS = Object.fromEntries(
  REFUSED.map(([name, , code, details]) => [
    new Refusal(code, {...details}).status,
    {$ref: `#/components/responses/${name}`},
  ]),
)

const LIMITED = Object.fromEntries(
  ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map(name => [
    `x-gateway-${name}`,
    {$ref: `#/components/headers/${name}`},
  ]),
)

export const CALL_REFUSAL_REPLIES = Object.fromEntries(
  REFUSED.map(([name, description, code, details]) => {
    const {status, message, codes} = new Refusal(code, {...details})
    const example = {error: {message, type: codes.type, param: null, code: codes.code}}
    const headers = {...REFUSAL_IDS, ...(status === 429 && LIMITED)}
    return [
      name,
      {
        description,
        headers,
        content: {'application/json': {schema: {$ref: '#/components/schemas/CallError'}, example}},
      },
    ]
  }),
)

/** The envelope of OpenAI; calls in Anthropic's words get Anthropic's, `{"type": "error", "error": {...}}`. */
export const CallError = {
  type: 'object',
  required: ['error'],
  properties: {
    status: {type: 'string', enum: ['failure']},
    message: {type: 'string'},
    error: {
      type: 'object',
      required: ['message', 'type'],
      properties: {
        message: {type: 'string'},
        type: {type: 'string'},
        param: {type: 'string', nullable: true},
        code: {type: 'string', nullable: true},
      },
    },
  },
  additionalProperties: true,
}
