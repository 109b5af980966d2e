import type {Edits} from '../../../base/json.ts'
import {withUsage} from '../../../providers/openai/meter.ts'
import type {Provider} from '../../../providers/provider.ts'
import type {EndpointName} from '../../../schema/endpoints.ts'
import type {Call} from '../../call/call.ts'
import type {Uses} from '../../services.ts'

type Services = Uses<'settings'>

const STREAMS_USAGE: ReadonlySet<EndpointName> = new Set(['chatComplete', 'complete'])

/** Decides whether the usage of a stream is requested in the client's place. */
export interface Metering {
  /** The `stream_options` that leave; null: they stay as they are. */
  readonly stream_options: string | null
  /** The client did not request usage: the usage that its stream reports is removed again. */
  readonly is_hidden: boolean
}

export const NOT_METERED: Metering = {stream_options: null, is_hidden: false}

/**
 * Streams that limits count must report their usage: `include_usage` is merged into the `stream_options` of the client
 * or the config. That of a config is no request of the client's.
 */
export function meteringOf(
  {body, endpoint, admissions, target_admissions}: Call,
  provider: Provider,
  edits: Edits | null,
  services: Services,
): Metering {
  const {stream_usage} = services.settings
  if (stream_usage === 'exact' || body.kind !== 'json' || !provider.stream_usage || !STREAMS_USAGE.has(endpoint))
    return NOT_METERED
  if (edits?.has('stream') ? edits.get('stream') !== 'true' : !body.stream) return NOT_METERED
  const is_counted = (all: Call['admissions']) => all.some(each => each.counts_usage)
  if (stream_usage !== 'metered' && !is_counted(admissions) && !is_counted(target_admissions)) return NOT_METERED
  const span = body.members.get('stream_options')
  const given = span && body.bytes.toString('utf8', span.start, span.end)
  const leaving = edits?.has('stream_options') ? edits.get('stream_options') : given
  return {stream_options: withUsage(leaving), is_hidden: !body.asks_usage}
}
