import {edited} from '../wire/edits.ts'
import {envelopeEdits} from '../wire/envelope.ts'
import {requestText} from '../wire/messages.ts'
import {standardHeaders} from '../wire/standard-headers.ts'
import {type EraVerdict, eraVerdict} from '../wire/upstream-era.ts'
import {MODERN_VERSIONS} from '../wire/versions.ts'
import {UnauthorisedFault, unreachable} from './faults.ts'
import {FIRST_ID, firstReply} from './first-reply.ts'
import {helloOf} from './hello.ts'
import type {UpstreamHttp} from './http.ts'
import type {Hello, UpstreamOptions} from './upstream.ts'

const DISCOVER = 'server/discover'

/** The outcome of a probe: the upstream's `Hello` where it is modern, else that `initialize` is to be tried. */
export type ProbeOutcome =
  | {readonly era: 'modern'; readonly hello: Hello}
  /** `is_refused`: with a status for a credential; a refusal of `initialize` is no verdict then. */
  | {readonly era: 'legacy'; readonly is_refused: boolean}

/** Asks an upstream for its era. Rejects without a verdict: `UnauthorisedFault`, or the fault of the way to it. */
export async function probe(http: UpstreamHttp, options: UpstreamOptions): Promise<ProbeOutcome> {
  const {server} = http.place
  const first = await discover(http, options, MODERN_VERSIONS[0])
  let {verdict, found} = first
  if (found.verdict === 'modern_version') ({verdict, found} = await discover(http, options, found.version))
  switch (found.verdict) {
    case 'modern':
      return {era: 'modern', hello: helloOf(found.answer, 'modern', found.version)}
    case 'legacy':
      return {era: 'legacy', is_refused: false}
    case 'legacy_if_let_in':
      return {era: 'legacy', is_refused: true}
    case 'sign_in':
      throw new UnauthorisedFault(verdict.reply.status, verdict.www_authenticate)
    case 'modern_fault':
      throw unreachable(server, `it refused ${DISCOVER}: ${found.answer.error?.message ?? ''}`)
    case 'modern_version':
      throw unreachable(server, 'it refused each version of the protocol that it names')
    case 'none':
      throw unreachable(server, found.reason)
  }
}

interface Discovered {
  readonly verdict: Awaited<ReturnType<typeof firstReply>>
  readonly found: EraVerdict
}

async function discover(http: UpstreamHttp, options: UpstreamOptions, version: string): Promise<Discovered> {
  const params = edited('{}', envelopeEdits({version, ...texts(options)}, []))
  const body = requestText(String(FIRST_ID), DISCOVER, params)
  const headers = standardHeaders({version, method: DISCOVER, params: undefined})
  const verdict = await firstReply(http, {headers, body}, options)
  return {verdict, found: eraVerdict(verdict.reply, options.credential)}
}

function texts({client_info, client_capabilities}: UpstreamOptions) {
  return {client_info, client_capabilities}
}
