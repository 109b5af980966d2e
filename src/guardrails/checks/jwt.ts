import {createHash} from 'node:crypto'
import {z} from 'zod'
import {keysNamed, readKeySet} from '../../base/jwt/key-set.ts'
import {readAge, timeClaimError} from '../../base/jwt/times.ts'
import {ALGORITHMS, type Algorithm, isSigned, readKey, readToken} from '../../base/jwt/token.ts'
import {perObject} from '../../base/memo.ts'
import {type CheckContext, check, failed, judged, type Verdict} from '../check.ts'
import {CheckFault} from '../fault.ts'
import {urlParameter} from '../headers.ts'
import {type JsonObject, type JsonValue, own} from '../json.ts'
import {quoted} from '../lists.ts'
import {matcher, matchType, refusePatterns, valueList} from '../matcher.ts'
import {introspected, keysFor} from '../token-keys.ts'

const TEXT_TYPES = ['application/x-www-form-urlencoded', 'application/json'] as const
const MAX_HEADER = 4096
const claims = (what: string) => z.array(z.string().min(1)).default([]).describe(what)

const shape = {
  jwksUri: urlParameter('Where the keys are that sign tokens.').optional(),
  jwks: z.unknown().optional().describe('The keys themselves: a JWKS, or its JSON.'),
  introspectEndpoint: urlParameter('Whom to ask instead whether a token is active (RFC 7662).').optional(),
  headerKey: z
    .string()
    .min(1)
    .max(100)
    .default('Authorization')
    .describe('The header that carries the token, `Bearer` before it or not.'),
  algorithms: z
    .array(z.enum(ALGORITHMS))
    .min(1)
    .default(['RS256'])
    .describe('Algorithms that a token may be signed with.'),
  cacheMaxAge: z.number().min(0).default(86_400).describe('Seconds that keys are kept.'),
  clockTolerance: z.number().min(0).max(600).default(5).describe('Seconds that clocks may differ by.'),
  maxTokenAge: z
    .union([z.string(), z.int().min(1).transform(String)])
    .transform((text, refused) => {
      const age_s = readAge(text)
      if (age_s === undefined) refused.addIssue({code: 'custom', message: 'must be a time such as 1d, 12h, 30m or 45s'})
      return age_s ?? z.NEVER
    })
    .prefault('1d')
    .describe('The oldest token, from its `iat`.'),
  introspectContentType: z.enum(TEXT_TYPES).default(TEXT_TYPES[0]).describe('How the token is sent.'),
  introspectCacheMaxAge: z
    .number()
    .min(0)
    .max(86_400)
    .default(0)
    .describe('Seconds that an introspection’s answer is kept; 0: not at all.'),
  requiredClaims: claims('Claims that a token must have.'),
  claimValues: z
    .record(z.string(), z.strictObject({values: valueList, matchType}))
    .default({})
    .describe('Claim → the values it must have.'),
  headerPayloadMatch: claims('Names that must be both a header of the call and a claim, with one value.'),
  extractClaims: claims('Claims to hand on as headers.'),
  claimPrefix: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,60}$/i)
    .default('x-jwt-')
    .describe('Goes before the names of such headers.'),
}
type Options = z.output<z.ZodObject<typeof shape>>

export const jwt = check({
  id: 'default.jwt',
  title: 'JWT',
  about:
    'Passes if the call has a token with valid claims. The token must be signed with one of the keys, or be active by an introspection endpoint.',
  sides: ['input'],
  shape,
  refuse({jwksUri, jwks, introspectEndpoint, claimValues, claimPrefix}) {
    const sources = [jwksUri, jwks, introspectEndpoint].filter(source => source !== undefined)
    if (sources.length !== 1) return 'one of jwksUri, jwks and introspectEndpoint is required.'
    if (jwks !== undefined && !readKeySet(jwks)) return 'jwks must be an object with a list of keys, or its JSON.'
    if (/^x-(gateway|portkey)-/i.test(claimPrefix))
      return 'claimPrefix cannot be the prefix of the gateway’s own headers.'
    return Object.values(claimValues)
      .map(({matchType, values}) => refusePatterns(matchType, values))
      .find(Boolean)
  },
  async run(_, options, context) {
    const header = options.headerKey.toLowerCase()
    const carried = Object.hasOwn(context.headers, header) ? context.headers[header]!.trim() : ''
    if (!carried) return refused(`The header ${options.headerKey} is missing.`)
    const token = carried.replace(/^bearer\s+/i, '')
    try {
      const payload = options.introspectEndpoint
        ? await format(token, options, context)
        : await verified(token, options, context)
      if (typeof payload === 'string') return refused(payload)
      const complaint = claimsComplaint(payload, options, context)
      return complaint ? refused(complaint) : accepted(payload, options)
    } catch (error) {
      return failed(error instanceof Error ? error : new CheckFault(String(error)))
    }
  },
})

/** The claims of a token that was signed and holds now; else why not. */
async function verified(text: string, options: Options, context: CheckContext): Promise<JsonObject | string> {
  const token = readToken(text)
  if (!token) return 'The token is no JWT.'
  const algorithm = options.algorithms.find(each => each === own(token.header, 'alg'))
  if (!algorithm) return `The token’s algorithm is not among ${options.algorithms.join(', ')}.`
  if (Object.hasOwn(token.header, 'crit')) return 'The token asks for an extension that is not known (crit).'
  const kid = own(token.header, 'kid')
  const keys = options.jwksUri
    ? await keysFor(kid, options.jwksUri, options.cacheMaxAge, context)
    : keysNamed(setIn(options)!, kid)
  const usable = keys.map(key => readKey(key, algorithm)).filter(key => key !== undefined)
  if (!usable.length) return 'No key is known that the token could be signed with.'
  if (!usable.some(key => isSigned(token, key, algorithm satisfies Algorithm)))
    return 'The token’s signature does not hold.'
  const late = timeClaimError(token.payload, context.now_ms() / 1000, options.clockTolerance, options.maxTokenAge)
  return late ? `The token does not hold. ${late}` : token.payload
}

/** Read once: keys are remembered by the objects they are read from. */
const setIn = perObject(({jwks}: Options) => readKeySet(jwks))

async function format(token: string, options: Options, context: CheckContext): Promise<JsonObject | string> {
  const endpoint = options.introspectEndpoint!
  const kept_as = `introspection ${endpoint} ${createHash('sha256').update(token).digest('hex')}`
  const how = {endpoint, type: options.introspectContentType, kept_as, max_age_s: options.introspectCacheMaxAge}
  const payload = await introspected(token, how, context)
  if (!payload) return 'The token is not active.'
  const late = timeClaimError(payload, context.now_ms() / 1000, options.clockTolerance, null)
  return late ? `The token does not hold. ${late}` : payload
}

function claimsComplaint(payload: JsonObject, options: Options, {headers}: CheckContext): string | undefined {
  const missing = options.requiredClaims.filter(name => own(payload, name) === undefined || own(payload, name) === null)
  if (missing.length) return `The token lacks the claims ${quoted(missing)}.`
  for (const [name, fits] of claimMatchers(options)) {
    const value = own(payload, name)
    if (value === undefined || !fits(value))
      return `The token’s claim ${JSON.stringify(name)} does not have a value that is asked for.`
  }
  for (const name of options.headerPayloadMatch) {
    const header = name.toLowerCase()
    const value = own(payload, name)
    if (!Object.hasOwn(headers, header) || !isPlain(value) || headers[header] !== String(value))
      return `The header ${name} is not what the token says.`
  }
  return undefined
}

const claimMatchers = perObject(
  ({claimValues}: Options) =>
    new Map(Object.entries(claimValues).map(([name, {values, matchType}]) => [name, matcher(matchType, values)])),
)

function accepted(payload: JsonObject, {extractClaims, claimPrefix}: Options): Verdict {
  const handed = extractClaims.flatMap(name => {
    const value = own(payload, name)
    const text =
      value === undefined || value === null ? undefined : isPlain(value) ? String(value) : JSON.stringify(value)
    const header = `${claimPrefix}${name}`.toLowerCase().replace(/[^a-z0-9-]/g, '-')
    return text === undefined || text.length > MAX_HEADER || /[^\x20-\x7e]/.test(text) ? [] : [[header, text] as const]
  })
  const headers = Object.fromEntries(handed)
  return {...judged(true, {explanation: 'The token holds.', extractedClaims: Object.keys(headers)}), headers}
}

function isPlain(value: JsonValue | undefined): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function refused(explanation: string): Verdict {
  return judged(false, {explanation})
}
