import {uriPart} from '../../base/uri-part.ts'
import type {OutgoingHeaders} from '../headers.ts'
import type {OptionName} from '../option-table.ts'
import {type Options, optionIn} from '../options.ts'
import type {EndpointRequest} from '../provider.ts'

/**
 * Anthropic's libraries write `/v1` themselves: with a base URL that ends in it, the path has it twice (docs/doors.md).
 */
export function onceV1({path, query}: EndpointRequest): string | undefined {
  return path.startsWith('/v1/') ? path.slice('/v1'.length) + query : undefined
}

/** Management is beside inference, below `/v1` (docs.fireworks.ai, REST API). */
export function fireworksPlace(_options: Options, reach?: EndpointRequest): string {
  return reach?.endpoint === 'proxy' && reach.path.startsWith('/accounts/')
    ? 'https://api.fireworks.ai/v1'
    : 'https://api.fireworks.ai/inference/v1'
}

/** Text to 3D is of the second version. */
export function meshyPlace(_options: Options, reach?: EndpointRequest): string {
  return reach?.path.includes('text-to-3d') ? 'https://api.meshy.ai/openapi/v2' : 'https://api.meshy.ai/openapi/v1'
}

/**
 * A dedicated endpoint, which serves OpenAI's routes below `/v1` (huggingface.co/docs, Inference Endpoints), or the
 * router.
 */
export function huggingfacePlace(options: Options): string {
  const own = optionIn(options, 'huggingface_base_url')?.replace(/\/$/, '')
  if (own === undefined) return 'https://router.huggingface.co/v1'
  return own.endsWith('/v1') ? own : `${own}/v1`
}

/** A serving endpoint by its own name (docs.databricks.com, query serving endpoints). */
export function databricksPath({endpoint, query}: EndpointRequest, options: Options): string | undefined {
  const name = optionIn(options, 'databricks_serving_endpoint_name')
  const of_a_model = endpoint === 'chatComplete' || endpoint === 'complete' || endpoint === 'embed'
  return name === undefined || !of_a_model ? undefined : `/${uriPart(name, 'The model')}/invocations${query}`
}

/**
 * Engines that serve OpenAI's routes below `/v1` and routes of their own beside it: a base URL with or without `/v1` is
 * meant alike.
 */
export function belowV1({endpoint, path, query, base_path = ''}: EndpointRequest): string | undefined {
  if (endpoint === 'proxy') return undefined
  return (base_path.endsWith('/v1') ? path : `/v1${path}`) + query
}

/**
 * The same for engines that may be below a path that their operator chose: a base URL that is a host alone means its
 * `/v1`.
 */
export function rootMeansV1(reach: EndpointRequest): string | undefined {
  return reach.base_path === '' || reach.base_path === '/' ? belowV1(reach) : undefined
}

/** Each of these options as a header of its own. */
export function headersFrom(
  rows: Readonly<Partial<Record<OptionName, string>>>,
): (options: Options) => OutgoingHeaders {
  return options => {
    const headers: OutgoingHeaders = {}
    for (const [name, header] of Object.entries(rows)) {
      const value = optionIn(options, name as OptionName)
      if (value !== undefined) headers[header] = value
    }
    return headers
  }
}
