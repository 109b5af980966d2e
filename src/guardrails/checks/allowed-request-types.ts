import {nearest} from '../../base/nearest.ts'
import {ENDPOINTS} from '../../schema/endpoints.ts'
import {check, failed, judged} from '../check.ts'
import {CheckFault} from '../fault.ts'
import {quoted, shared, split, texts} from '../lists.ts'

/** The routes' names (docs/doors.md, Unified routes). */
export const REQUEST_TYPES: readonly string[] = [...ENDPOINTS.map(({name}) => name), 'proxy']

const types = (what: string) =>
  texts()
    .transform((text, refused) =>
      text.map(each => {
        const known = REQUEST_TYPES.find(type => type.toLowerCase() === each.toLowerCase())
        if (known) return known
        const like = nearest(each, REQUEST_TYPES)
        const hint = like ? `: did you mean ${like}?` : ''
        refused.addIssue({
          code: 'custom',
          message: `has ${JSON.stringify(each.slice(0, 100))}, which is no type of request${hint}`,
        })
        return each
      }),
    )
    .default([])
    .describe(what)

export const allowedRequestTypes = check({
  id: 'default.allowedRequestTypes',
  title: 'Allowed request types',
  about:
    'Passes if the type of request is allowed and not blocked. Without either list the metadata `supported_endpoints` and `blocked_endpoints` apply. Without these everything passes.',
  sides: ['input'],
  everywhere: true,
  shape: {
    allowedTypes: types('Types that may be; empty: all. A list, or a text with commas.'),
    blockedTypes: types('Types that may not be, whatever is allowed.'),
  },
  refuse: ({allowedTypes, blockedTypes}) => {
    const both = shared(allowedTypes, blockedTypes)
    return both.length ? `allowedTypes and blockedTypes both have ${quoted(both)}.` : undefined
  },
  run(_, {allowedTypes, blockedTypes}, {endpoint, metadata}) {
    const is_said = allowedTypes.length > 0 || blockedTypes.length > 0
    const of = (key: string) => (Object.hasOwn(metadata, key) ? split(metadata[key]!) : [])
    const allowed = is_said ? allowedTypes : of('supported_endpoints')
    const blocked = is_said ? blockedTypes : of('blocked_endpoints')
    const both = shared(allowed, blocked)
    if (both.length) return failed(new CheckFault(`Both lists have ${quoted(both)}.`, 'ConfigurationError'))
    const is = (type: string) => type.toLowerCase() === endpoint.toLowerCase()
    const is_blocked = blocked.some(is)
    const passes = !is_blocked && (allowed.length === 0 || allowed.some(is))
    const explanation = passes
      ? `Requests of type ${endpoint} are allowed.`
      : `Requests of type ${endpoint} are ${is_blocked ? 'blocked' : 'not allowed'}.`
    return judged(passes, {
      explanation,
      requestType: endpoint,
      allowedTypes: allowed.slice(0, 100),
      blockedTypes: blocked.slice(0, 100),
    })
  },
})
